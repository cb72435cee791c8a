anygin_test(model_proxy SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/proxy_producers_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/proxy_ring_model_test.cc)
