anygin_test(regress_simt SOURCES ${CMAKE_CURRENT_LIST_DIR}/simt_workers_world_test.cc ${CMAKE_CURRENT_LIST_DIR}/polling_blocks_test.cc)
