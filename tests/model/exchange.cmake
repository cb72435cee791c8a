anygin_test(model_exchange SOURCES ${CMAKE_CURRENT_LIST_DIR} / exchange_model.cc ${CMAKE_CURRENT_LIST_DIR} /
            exchange_model_test.cc)
