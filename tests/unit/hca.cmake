anygin_test(unit_hca SOURCES emulated_ranks.cc verbs_face_test.cc profile_test.cc wire_test.cc mr_table_test.cc direct_fabric_test.cc
  malformed_message_test.cc)
