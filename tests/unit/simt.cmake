anygin_test(unit_simt SOURCES simt_launch_test.cc)
