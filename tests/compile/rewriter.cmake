# Small .cu programs, compiled by the staged driver with each host compiler and run; and the driver's own behaviour.
set(ANYGIN_PROGRAMS ${CMAKE_BINARY_DIR}/programs)
file(MAKE_DIRECTORY ${ANYGIN_PROGRAMS})
set(program_flags -O2 -Xcompiler -Wall,-Wextra,-Werror)
set(program_names hello launches shared spin by_address image device_variables device_variable_class device_variable_uses ptx ptx_async std_names stack)
set(program_compilers g++ clang++)
set(driver_labels ci)
if(ANYGIN_SANITIZE)
  list(APPEND program_flags -g ${ANYGIN_PROGRAM_SANITIZE})
  # Each compiler has a sanitizer runtime of its own, and a process has room for one: that of libanygin.
  get_filename_component(program_compilers ${CMAKE_CXX_COMPILER} NAME)
  # What the driver's tests build is not instrumented: it cannot load a libanygin that is. They run in the other presets.
  set(driver_labels compile)
endif()
if(ANYGIN_SANITIZE STREQUAL "address")
  list(APPEND program_names overflow overflow_shared)
endif()
set(programs)
foreach(name ${program_names})
  foreach(compiler ${program_compilers})
    string(REPLACE "++" "xx" suffix ${compiler})
    set(program ${ANYGIN_PROGRAMS}/${name}.${suffix})
    set(source ${CMAKE_CURRENT_LIST_DIR}/programs/${name}.cu)
    add_custom_command(OUTPUT ${program}
      COMMAND ${ANYGIN_PREFIX}/bin/anygin-c++ -ccbin ${compiler} ${program_flags} -MD -MF ${program}.d -MT ${program}
        -o ${program} ${source}
      DEPENDS ${source} anygin_driver DEPFILE ${program}.d
      COMMENT "Kernels for the CPU: ${name} with ${compiler}")
    list(APPEND programs ${program})
  endforeach()
endforeach()
add_custom_target(rewriter_programs DEPENDS ${programs})
add_dependencies(rewriter_programs anygin cudart)

string(REPLACE "++" "xx" program_suffixes "${program_compilers}")
string(REPLACE ";" "\",\"" program_suffixes "\"${program_suffixes}\"")

set(program_tests ${CMAKE_CURRENT_LIST_DIR}/program_test.cc ${CMAKE_CURRENT_LIST_DIR}/program_image_test.cc)
if(ANYGIN_SANITIZE STREQUAL "address")
  list(APPEND program_tests ${CMAKE_CURRENT_LIST_DIR}/sanitizer_test.cc)
endif()
anygin_test(compile_rewriter SOURCES ${program_tests})
target_compile_definitions(compile_rewriter PRIVATE ANYGIN_PROGRAMS="${ANYGIN_PROGRAMS}"
  ANYGIN_COMPILERS=${program_suffixes})
add_dependencies(compile_rewriter rewriter_programs)

anygin_test(compile_driver SOURCES ${CMAKE_CURRENT_LIST_DIR}/driver_test.cc ${CMAKE_CURRENT_LIST_DIR}/gdb_test.cc LABELS ${driver_labels})
target_compile_definitions(compile_driver PRIVATE ANYGIN_BIN="${ANYGIN_PREFIX}/bin")
add_dependencies(compile_driver anygin_driver anygin_program_image cudart nccl)
