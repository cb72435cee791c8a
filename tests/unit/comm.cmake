anygin_test(unit_comm
  SOURCES unique_id_test.cc layout_test.cc resource_layout_test.cc link_test.cc
    control_plane_test.cc host_threads_test.cc)
