anygin_test(unit_comm
  SOURCES unique_id_test.cc layout_test.cc resource_layout_test.cc link_test.cc control_plane_test.cc host_threads_test.cc
    hang_test.cc joining_faults_test.cc)

anygin_test(unit_nccl
  SOURCES c_api_children_test.cc c_api_non_blocking_test.cc c_api_comm_test.cc c_api_memory_test.cc c_api_param_test.cc c_api_fields_test.cc c_api_config_test.cc c_api_window_test.cc window_memory_test.cc c_api_dev_comm_test.cc
    c_api_exchange_test.cc c_api_group_test.cc c_api_collectives_test.cc c_api_host_rma_test.cc c_api_host_rma_checks_test.cc
    c_api_host_rma_streams_test.cc c_api_host_rma_rows_test.cc error_causes_test.cc c_api_newer_test.cc
  LIBS nccl cudart)
target_include_directories(unit_nccl PRIVATE ${CMAKE_SOURCE_DIR}/lib/include ${CMAKE_SOURCE_DIR}/lib/simt/include)
target_compile_definitions(unit_nccl PRIVATE ANYGIN_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
set_source_files_properties(c_api_newer_test.cc PROPERTIES COMPILE_DEFINITIONS ANYGIN_NCCL_VERSION=23203)
