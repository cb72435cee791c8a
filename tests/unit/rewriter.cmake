anygin_test(unit_rewriter SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/cu_lexer_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/cu_emitter_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_launches_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_kernels_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_shared_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_loops_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_asm_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_attributes_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pass_device_variables_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/rewriter_fuzz_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/ptx_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/ptx_registers_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/driver_options_test.cc
  LIBS anygin_driver_steps)
