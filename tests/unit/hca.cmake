anygin_test(unit_hca SOURCES emulated_ranks.cc verbs_face_test.cc)
