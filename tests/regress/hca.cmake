anygin_test(regress_hca SOURCES ${CMAKE_CURRENT_LIST_DIR}/accepted_then_deregistered_test.cc
  ${CMAKE_SOURCE_DIR}/tests/unit/emulated_ranks.cc)
