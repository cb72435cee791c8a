anygin_test(unit_tools SOURCES ${CMAKE_CURRENT_LIST_DIR}/run_command_test.cc LIBS anygin_run)
