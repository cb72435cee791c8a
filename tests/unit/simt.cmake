anygin_test(unit_simt SOURCES
  fiber_switch_test.cc simt_engine_test.cc simt_failure_test.cc simt_launch_test.cc simt_memory_test.cc simt_process_test.cc
  simt_stack_test.cc simt_stream_test.cc simt_trace_test.cc simt_wait_test.cc simt_warp_test.cc
  PROPERTIES ENVIRONMENT "EXPECTED_FIBER_SWITCH=${ANYGIN_FIBER_SWITCH}")
# The same program with the other libanygin.so.
if(TARGET anygin_portable)
  add_dependencies(unit_simt anygin_portable)
  gtest_discover_tests(unit_simt TEST_PREFIX unit_simt_portable. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 20 LABELS ci
    ENVIRONMENT EXPECTED_FIBER_SWITCH=boost ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=set:${CMAKE_BINARY_DIR}/portable/lib)
  set(portable_ranks 4)
  if(ANYGIN_SANITIZE STREQUAL "thread")
    set(portable_ranks 1)  # 16 blocks of 512 fibers; ThreadSanitizer follows every switch and has room for 8,128 fibers
  endif()
  add_test(NAME portable.alltoall_gin COMMAND ${CMAKE_BINARY_DIR}/examples/alltoall_gin -r ${portable_ranks})
  set_tests_properties(portable.alltoall_gin PROPERTIES TIMEOUT 20 LABELS ci PASS_REGULAR_EXPRESSION PASSED
    ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/portable/lib")
endif()
