# Small .cu programs, compiled by the staged driver with each host compiler and run; and the driver's own behaviour.
set(ANYGIN_PROGRAMS ${CMAKE_BINARY_DIR}/programs)
file(MAKE_DIRECTORY ${ANYGIN_PROGRAMS})
set(program_flags -O2 -Xcompiler -Wall,-Wextra,-Werror)
if(ANYGIN_SANITIZE)
  list(APPEND program_flags -Xcompiler -fsanitize=${ANYGIN_SANITIZE})
endif()
set(programs)
foreach(name hello launches shared spin by_address image)
  foreach(compiler g++ clang++)
    string(REPLACE "++" "xx" suffix ${compiler})
    set(program ${ANYGIN_PROGRAMS}/${name}.${suffix})
    set(source ${CMAKE_CURRENT_LIST_DIR}/programs/${name}.cu)
    add_custom_command(OUTPUT ${program}
      COMMAND ${ANYGIN_PREFIX}/bin/anygin-c++ -ccbin ${compiler} ${program_flags} -MD -MF ${program}.d -MT ${program}
        -o ${program} ${source}
      DEPENDS ${source} anygin_driver anygin cudart DEPFILE ${program}.d
      COMMENT "Kernels for the CPU: ${name} with ${compiler}")
    list(APPEND programs ${program})
  endforeach()
endforeach()
add_custom_target(rewriter_programs DEPENDS ${programs})

anygin_test(compile_rewriter SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/program_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/program_image_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/driver_test.cc)
target_compile_definitions(compile_rewriter PRIVATE ANYGIN_PROGRAMS="${ANYGIN_PROGRAMS}"
  ANYGIN_BIN="${ANYGIN_PREFIX}/bin")
add_dependencies(compile_rewriter rewriter_programs)
