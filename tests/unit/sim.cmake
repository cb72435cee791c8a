anygin_test(unit_sim SOURCES sim_choices_test.cc sim_fabric_test.cc flow_checker_test.cc queue_checker_test.cc sim_scheduler_test.cc sim_strategy_test.cc sim_texts_test.cc sim_world_test.cc wait_graph_test.cc
  LIBS anygin_sim_core)
