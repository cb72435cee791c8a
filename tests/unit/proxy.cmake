anygin_test(unit_proxy SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/proxy_backend_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/proxy_engine_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/proxy_gfd_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/proxy_stack_test.cc)
