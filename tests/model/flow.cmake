anygin_test(model_flow SOURCES flow_pair.cc flow_script.cc flow_model_test.cc flow_error_test.cc shortcut_twin_test.cc)
