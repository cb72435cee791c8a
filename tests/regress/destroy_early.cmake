anygin_add_program(destroy_early ${CMAKE_CURRENT_LIST_DIR}/programs/destroy_early.cu ${CMAKE_BINARY_DIR}/tests/destroy_early
  DEPENDS ${CMAKE_SOURCE_DIR}/examples/common.h)
anygin_test(regress_destroy_early SOURCES ${CMAKE_CURRENT_LIST_DIR}/destroy_early_test.cc)
target_compile_definitions(regress_destroy_early PRIVATE ANYGIN_DESTROY_EARLY="${CMAKE_BINARY_DIR}/tests/destroy_early")
add_dependencies(regress_destroy_early program_destroy_early)
