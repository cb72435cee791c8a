# The API's headers under every compiler there is. Each line is a ctest test that compiles one file; nothing is linked.
# Label `compile`: each names its compiler, so that one preset says it all.
find_program(ANYGIN_NVCC nvcc PATHS /usr/local/cuda/bin)
find_program(ANYGIN_GCC gcc)
find_program(ANYGIN_GXX g++)
find_program(ANYGIN_CLANG clang)
find_program(ANYGIN_CLANGXX clang++)

set(nccl_includes -I${CMAKE_SOURCE_DIR}/lib/include -I${ANYGIN_INCLUDE_DIR} -isystem ${CMAKE_SOURCE_DIR}/lib/simt/include)
set(nccl_strict -Wall -Wextra -Wpedantic -Werror -Wshadow -fsyntax-only)
# Kernels as the rewriter leaves them: the words are gone.
set(nccl_kernels -DANYGIN_TARGET_CPU=1 -DANYGIN_KERNEL_COMPILE=1 -D__global__= -D__device__= -x c++)

function(anygin_compile_test name)
  add_test(NAME compile_nccl.${name} COMMAND ${ARGN})
  set_tests_properties(compile_nccl.${name} PROPERTIES TIMEOUT 120 LABELS compile)
endfunction()

foreach(compiler ${ANYGIN_GCC} ${ANYGIN_CLANG})
  get_filename_component(label ${compiler} NAME)
  anygin_compile_test(host_c99.${label} ${compiler} -std=c99 ${nccl_strict} ${nccl_includes} ${CMAKE_CURRENT_LIST_DIR}/host_c99.c)
  foreach(release 23102 23203)
    anygin_compile_test(host_c99_${release}.${label} ${compiler} -std=c99 ${nccl_strict} ${nccl_includes} -DANYGIN_NCCL_VERSION=${release}
      ${CMAKE_CURRENT_LIST_DIR}/host_c99.c)
  endforeach()
endforeach()

foreach(compiler ${ANYGIN_GXX} ${ANYGIN_CLANGXX})
  get_filename_component(label ${compiler} NAME)
  set(cxx ${compiler} -std=c++17 ${nccl_strict} ${nccl_includes})
  anygin_compile_test(host_only.${label} ${cxx} -DHEADER=<nccl_device.h> ${CMAKE_CURRENT_LIST_DIR}/header_alone.cc)
  anygin_compile_test(device_all.${label} ${cxx} ${nccl_kernels} ${CMAKE_CURRENT_LIST_DIR}/device_all.cu)
  anygin_compile_test(device_all_2_31.${label} ${cxx} ${nccl_kernels} -DANYGIN_NCCL_VERSION=23102
    ${CMAKE_CURRENT_LIST_DIR}/device_all.cu)
  anygin_compile_test(device_all_2_32.${label} ${cxx} ${nccl_kernels} -DANYGIN_NCCL_VERSION=23203
    ${CMAKE_CURRENT_LIST_DIR}/device_all.cu)
  anygin_compile_test(not_yet_alone.${label} ${cxx} ${nccl_kernels} ${CMAKE_CURRENT_LIST_DIR}/not_yet.cu)
  anygin_compile_test(span_15.${label} ${cxx} ${nccl_kernels} -DUSE_SPAN_15 ${CMAKE_CURRENT_LIST_DIR}/not_yet.cu)
  set_tests_properties(compile_nccl.span_15.${label} PROPERTIES PASS_REGULAR_EXPRESSION "id_beyond_the_last_span")
  foreach(use GDAKI)
    anygin_compile_test(not_yet_${use}.${label} ${cxx} ${nccl_kernels} -DUSE_${use} ${CMAKE_CURRENT_LIST_DIR}/not_yet.cu)
    set_tests_properties(compile_nccl.not_yet_${use}.${label} PROPERTIES PASS_REGULAR_EXPRESSION "not yet: .*docs/api-coverage.md")
  endforeach()
endforeach()

file(GLOB_RECURSE nccl_headers RELATIVE ${CMAKE_SOURCE_DIR}/lib/include CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lib/include/*.h)
foreach(header ${nccl_headers})
  string(MAKE_C_IDENTIFIER ${header} label)
  anygin_compile_test(alone.${label} ${ANYGIN_GXX} -std=c++17 ${nccl_strict} ${nccl_includes} ${nccl_kernels} -DHEADER=<${header}>
    ${CMAKE_CURRENT_LIST_DIR}/header_alone.cc)
endforeach()

# The same kernels under the real compiler and CUDA's own headers; said to be skipped where there is none.
if(ANYGIN_NVCC)
  anygin_compile_test(device_all.nvcc ${ANYGIN_NVCC} -std=c++17 -c -arch=sm_90 -I${CMAKE_SOURCE_DIR}/lib/include
    -I${ANYGIN_INCLUDE_DIR} -o ${CMAKE_BINARY_DIR}/tests/device_all_nvcc.o ${CMAKE_CURRENT_LIST_DIR}/device_all.cu)
  set_tests_properties(compile_nccl.device_all.nvcc PROPERTIES TIMEOUT 300)  # a minute on two idle cores
else()
  anygin_compile_test(device_all.nvcc ${CMAKE_COMMAND} -E echo "skipped: no nvcc here")
  set_tests_properties(compile_nccl.device_all.nvcc PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no nvcc")
endif()

# The conformance bodies against NCCL's own headers, of whatever release since 2.28.7 lies beside nvcc: public API only.
file(GLOB nccl_bodies CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/conformance/*.cu)
list(FILTER nccl_bodies EXCLUDE REGEX "slow_kernels")
get_filename_component(nccl_toolkit "${ANYGIN_NVCC}" DIRECTORY)
find_path(ANYGIN_NCCL_HEADERS nccl_device.h PATHS ${nccl_toolkit}/../include ENV NCCL_HOME PATH_SUFFIXES include)
foreach(body ${nccl_bodies})
  get_filename_component(label ${body} NAME_WE)
  if(ANYGIN_NVCC AND ANYGIN_NCCL_HEADERS)
    anygin_compile_test(conformance_${label}.nccl ${ANYGIN_NVCC} -std=c++17 -c -arch=sm_90 -I${ANYGIN_NCCL_HEADERS}
      -o ${CMAKE_BINARY_DIR}/tests/conformance_${label}_nccl.o ${body})
  else()
    anygin_compile_test(conformance_${label}.nccl ${CMAKE_COMMAND} -E echo "skipped: no nvcc with NCCL's headers here")
    set_tests_properties(compile_nccl.conformance_${label}.nccl PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no nvcc")
  endif()
endforeach()
