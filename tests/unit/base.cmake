anygin_test(unit_base SOURCES
  world_fixture_test.cc)
