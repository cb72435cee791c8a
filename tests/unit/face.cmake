anygin_test(unit_face LIBS cudart cuda SOURCES
  small_float_test.cc small_float_functions_test.cc fp8_test.cc vector_types_test.cc cuda_conversions_test.cc
  cuda_atomic_test.cc cudart_device_test.cc cudart_memory_test.cc cudart_symbol_test.cc cuda_barrier_test.cc virtual_memory_test.cc cudart_graph_test.cc cooperative_groups_test.cc cudart_stream_test.cc cudart_kernel_test.cc
  lane_warp_builtins_test.cc lane_atomics_test.cc cuda_driver_test.cc)
target_include_directories(unit_face BEFORE PRIVATE ${CMAKE_SOURCE_DIR}/lib/simt/include)
# Device code: builtins, as the driver's translation units have them.
set_source_files_properties(cuda_barrier_test.cc cudart_graph_test.cc cooperative_groups_test.cc cuda_conversions_test.cc cudart_symbol_test.cc cuda_atomic_test.cc cudart_stream_test.cc cudart_kernel_test.cc
  lane_warp_builtins_test.cc lane_atomics_test.cc cuda_driver_test.cc
  PROPERTIES COMPILE_DEFINITIONS ANYGIN_KERNEL_COMPILE=1)
