anygin_add_program(ranks_apart ${CMAKE_CURRENT_LIST_DIR}/programs/ranks_apart.cu ${CMAKE_BINARY_DIR}/tests/ranks_apart)
anygin_test(regress_ranks_apart SOURCES ${CMAKE_CURRENT_LIST_DIR}/ranks_apart_test.cc)
target_compile_definitions(regress_ranks_apart PRIVATE ANYGIN_RANKS_APART="${CMAKE_BINARY_DIR}/tests/ranks_apart"
  ANYGIN_TOOL="${ANYGIN_PREFIX}/bin/anygin")
add_dependencies(regress_ranks_apart program_ranks_apart anygin_tool)
