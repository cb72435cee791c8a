# The staged prefix as a CUDA and NCCL installation for build systems: projects/ is built as from outside this tree, and
# what it makes is run. Label `compile`: each names its compiler, so that one preset says it all.
if(NOT ANYGIN_SANITIZE)  # what others build cannot load a libanygin that is instrumented
  find_program(ANYGIN_MAKE make)
  set(build_projects ${CMAKE_CURRENT_LIST_DIR}/projects CACHE INTERNAL "")

  # anygin_build_test(NAME PROJECT [OPTIONS a|b] [RUN "program arguments|program"] [MOVE])
  function(anygin_build_test name project)
    cmake_parse_arguments(ARG "MOVE" "OPTIONS;RUN" "" ${ARGN})
    get_filename_component(source ${project} ABSOLUTE BASE_DIR ${build_projects})
    add_test(NAME compile_build.${name} COMMAND ${CMAKE_COMMAND} -DSOURCE=${source}
      -DWORK=${CMAKE_BINARY_DIR}/tests/build_${name} -DPREFIX=${ANYGIN_PREFIX} -DBUILD=${CMAKE_BINARY_DIR} "-DOPTIONS=${ARG_OPTIONS}" "-DRUN=${ARG_RUN}"
      -DMOVE=${ARG_MOVE} -P ${CMAKE_SOURCE_DIR}/cmake/build_project.cmake)
    set_tests_properties(compile_build.${name} PROPERTIES TIMEOUT 120 LABELS compile)
  endfunction()

  foreach(generator Ninja "Unix Makefiles")
    string(REPLACE " " "_" label ${generator})
    anygin_build_test(cuda_language.${label} cuda_language RUN program
      OPTIONS "-G${generator}|-DCMAKE_CUDA_COMPILER=@PREFIX@/bin/nvcc|-DCMAKE_BUILD_TYPE=Release")
  endforeach()
  anygin_build_test(find_package find_package RUN "program|ring -r 2"
    OPTIONS "-DCMAKE_PREFIX_PATH=@PREFIX@|-DEXAMPLES=${CMAKE_SOURCE_DIR}/examples|-DCMAKE_BUILD_TYPE=Release")
  anygin_build_test(find_package_moved find_package RUN "program" MOVE
    OPTIONS "-DCMAKE_PREFIX_PATH=@PREFIX@|-DEXAMPLES=${CMAKE_SOURCE_DIR}/examples|-DCMAKE_BUILD_TYPE=Debug")

  # Other linkers and other names of the same libraries.
  anygin_build_test(gxx_links gxx_links)
  anygin_build_test(gxx_links_static_names gxx_links
    OPTIONS "LDLIBS=-lnccl_static -lcudart_static -lcudadevrt -lcuda -lrt -lpthread -ldl|LDFLAGS=-L@PREFIX@/lib64/stubs -L@PREFIX@/targets/x86_64-linux/lib -Wl,-rpath,@PREFIX@/lib")
  anygin_build_test(gxx_links_by_path gxx_links OPTIONS "LDLIBS=@PREFIX@/lib64/libnccl.so @PREFIX@/lib64/libcudart.so")
  anygin_build_test(gxx_links_no_pie gxx_links OPTIONS "CXX=g++ -no-pie")
  foreach(linker gold lld)
    find_program(ANYGIN_LD_${linker} ld.${linker})
    if(ANYGIN_LD_${linker})
      anygin_build_test(gxx_links_${linker} gxx_links OPTIONS "CXX=g++ -fuse-ld=${linker}")
    endif()
  endforeach()
  find_program(ANYGIN_CLANGXX NAMES clang++ clang++-14)
  if(ANYGIN_CLANGXX)
    anygin_build_test(clangxx_links gxx_links OPTIONS "CXX=${ANYGIN_CLANGXX} -std=c++17")
  endif()
  find_program(ANYGIN_PKG_CONFIG pkg-config)
  if(ANYGIN_PKG_CONFIG)
    anygin_build_test(pkg_config gxx_links MOVE
      OPTIONS "LDFLAGS=|LDLIBS=$(shell PKG_CONFIG_PATH=@PREFIX@/lib/pkgconfig pkg-config --libs nccl cudart-13.0)")
  endif()
endif()
