anygin_test(unit_nccl_device LIBS cudart SOURCES
  nccl_layout_test.cc nccl_constants_test.cc nccl_team_test.cc nccl_utility_test.cc nccl_ptr_test.cc nccl_coop_test.cc
  nccl_gin_test.cc nccl_gin_waits_test.cc nccl_gin_barrier_test.cc nccl_lsa_barrier_test.cc nccl_misuse_test.cc)
target_include_directories(unit_nccl_device BEFORE PRIVATE ${CMAKE_SOURCE_DIR}/lib/include ${CMAKE_SOURCE_DIR}/lib/simt/include)
# Device code as the driver's translation units have it. Assertions of the contract's C++17 hold in C++20, too.
target_compile_definitions(unit_nccl_device PRIVATE ANYGIN_KERNEL_COMPILE=1)
