anygin_test(unit_base SOURCES
  choices_seeded_test.cc engine_test.cc seq_test.cc thread_executor_test.cc wake_test.cc world_fixture_test.cc)
