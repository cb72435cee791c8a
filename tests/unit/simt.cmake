anygin_test(unit_simt SOURCES
  simt_engine_test.cc simt_failure_test.cc simt_launch_test.cc simt_memory_test.cc simt_process_test.cc
  simt_stream_test.cc simt_trace_test.cc simt_wait_test.cc simt_warp_test.cc)
