anygin_test(unit_verbs SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/fake_verbs.cc
  ${CMAKE_CURRENT_LIST_DIR}/verbs_transport_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/verbs_work_test.cc)
