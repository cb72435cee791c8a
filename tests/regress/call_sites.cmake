anygin_add_program(call_sites ${CMAKE_CURRENT_LIST_DIR}/programs/call_sites.cu ${CMAKE_BINARY_DIR}/tests/call_sites)
# The same program where our own files might lie, by the names of the folders.
configure_file(${CMAKE_CURRENT_LIST_DIR}/programs/call_sites.cu ${CMAKE_BINARY_DIR}/tests/anygin/include/cuda/call_sites.cu COPYONLY)
anygin_add_program(call_sites_nested ${CMAKE_BINARY_DIR}/tests/anygin/include/cuda/call_sites.cu
  ${CMAKE_BINARY_DIR}/tests/call_sites_nested)
anygin_test(regress_call_sites SOURCES ${CMAKE_CURRENT_LIST_DIR}/call_sites_test.cc)
target_compile_definitions(regress_call_sites PRIVATE ANYGIN_CALL_SITES_PROGRAM="${CMAKE_BINARY_DIR}/tests/call_sites"
  ANYGIN_CALL_SITES_SOURCE="${CMAKE_CURRENT_LIST_DIR}/programs/call_sites.cu")
add_dependencies(regress_call_sites program_call_sites program_call_sites_nested)
