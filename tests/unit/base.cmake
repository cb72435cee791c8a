anygin_test(unit_base SOURCES
  choices_seeded_test.cc engine_test.cc env_real_test.cc executor_keeper_test.cc heap_test.cc hmac_sha256_test.cc memory_agent_test.cc
  memory_map_test.cc options_test.cc process_page_test.cc seq_test.cc thread_executor_test.cc trace_file_test.cc
  wake_test.cc whole_file_test.cc world_fixture_test.cc world_real_test.cc)
