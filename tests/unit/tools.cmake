anygin_test(unit_tools SOURCES ${CMAKE_CURRENT_LIST_DIR}/run_command_test.cc ${CMAKE_CURRENT_LIST_DIR}/minimise_test.cc ${CMAKE_CURRENT_LIST_DIR}/replay_line_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/perf_charts_test.cc ${CMAKE_CURRENT_LIST_DIR}/perfetto_test.cc LIBS anygin_run anygin_sim_core)
