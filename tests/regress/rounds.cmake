if(NOT ANYGIN_SANITIZE)  # their runtimes keep memory of their own
  anygin_add_program(rounds ${CMAKE_CURRENT_LIST_DIR}/programs/rounds.cu ${CMAKE_BINARY_DIR}/tests/rounds
    DEPENDS ${CMAKE_SOURCE_DIR}/examples/common.h)
  anygin_test(regress_rounds SOURCES ${CMAKE_CURRENT_LIST_DIR}/rounds_test.cc)
  target_compile_definitions(regress_rounds PRIVATE ANYGIN_ROUNDS="${CMAKE_BINARY_DIR}/tests/rounds")
  add_dependencies(regress_rounds program_rounds)
endif()
