# A program a row of the contract's Appendix A (appendix_a/appendix_a.md says what each shows), ranks as threads and as processes.
set(ANYGIN_APPENDIX_A_DIR ${CMAKE_BINARY_DIR}/tests/appendix_a)
file(MAKE_DIRECTORY ${ANYGIN_APPENDIX_A_DIR})
foreach(row 01_resource_nodes_get_signals 02_host_puts_add_the_windows_offset 03_reset_of_a_signal_by_address
    04_scratch_is_64_bytes 05_operations_of_any_mask 06_all_threads_follow_one_shadow 07_no_pointer_to_another_node
    08_no_window_is_found 09_host_waits_check_their_peers 10_host_puts_check_their_bounds 11_without_host_rma
    12_without_symmetric_memory 13_a_later_communicator_without_gin 14_gets_without_signals 15_counters_beyond_65535
    16_the_last_span_is_14 20_an_increment_adds_one 22_the_first_host_call_is_local 23_host_errors_are_reported
    24_captured_waits_sum 25_no_bytes_of_host_memory 27_least_blocks_alone 28_children_that_share_reach_their_ranks)
  set(name appendix_a_${row})
  set(source ${CMAKE_CURRENT_LIST_DIR}/appendix_a/${name}.cu)
  set(program ${ANYGIN_APPENDIX_A_DIR}/${name})
  set(flags)
  if(row MATCHES "^25")  # maps memory of the driver API's kind
    set(flags -Xlinker --no-as-needed -lcuda)
  endif()
  anygin_add_program(${name} ${source} ${program} DEPENDS ${CMAKE_SOURCE_DIR}/tests/conformance/conformance.h FLAGS ${flags})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} lines REGEX "^CONFORMANCE_CASE")
  foreach(line ${lines})
    string(REGEX REPLACE "^CONFORMANCE_CASE[_A-Z]*\\(([A-Za-z0-9_]+),.*" "\\1" case "${line}")
    add_test(NAME regress.${case}.threads COMMAND ${program} ${case})
    add_test(NAME regress.${case}.procs COMMAND ${program} --procs ${case})
    set_tests_properties(regress.${case}.threads PROPERTIES TIMEOUT 20 LABELS ci)
    set_tests_properties(regress.${case}.procs PROPERTIES TIMEOUT 20 LABELS conformance)
  endforeach()
endforeach()
add_dependencies(program_appendix_a_25_no_bytes_of_host_memory cuda)

anygin_test(regress_appendix_a LIBS cudart SOURCES ${CMAKE_CURRENT_LIST_DIR}/appendix_a/appendix_a_signals_test.cc)
target_include_directories(regress_appendix_a BEFORE PRIVATE ${CMAKE_SOURCE_DIR}/lib/include ${CMAKE_SOURCE_DIR}/lib/simt/include)
target_compile_definitions(regress_appendix_a PRIVATE ANYGIN_KERNEL_COMPILE=1)
