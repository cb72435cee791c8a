# What a program needs that runs with a libanygin of a sanitizer preset.
set(ANYGIN_PROGRAM_SANITIZE)
if(ANYGIN_SANITIZE)
  set(ANYGIN_PROGRAM_SANITIZE -Xcompiler -fsanitize=${ANYGIN_SANITIZE},-fno-sanitize-recover=all)
endif()

# anygin_add_program(NAME SOURCE OUTPUT [DEPENDS ...] [FLAGS ...]): compiles one .cu with the staged driver and links it with
# libnccl, as `anygin-c++ -O2 -o OUTPUT SOURCE -lnccl` does.
function(anygin_add_program name source output)
  cmake_parse_arguments(ARG "" "" "DEPENDS;FLAGS" ${ARGN})
  set(flags -O2 -std=c++17 ${ANYGIN_PROGRAM_SANITIZE})
  if(CMAKE_BUILD_TYPE STREQUAL Unoptimised)
    list(TRANSFORM flags REPLACE "^-O2$" -O0)
  endif()
  if(ANYGIN_MUTANTS)
    list(APPEND flags -DANYGIN_MUTANTS=1)  # device code is compiled into the program
  endif()
  if(ANYGIN_TARGET STREQUAL cuda)
    set(driver ${ANYGIN_PREFIX}/bin/nvcc -arch=sm_90 -lineinfo)
    set(compiler ${ANYGIN_PREFIX}/bin/nvcc)
    set(libraries anygin nccl anygin_cudart)
    set(where "a GPU")
  else()
    set(driver ${ANYGIN_PREFIX}/bin/anygin-c++ -Xcompiler -Wall,-Wextra,-Werror)
    set(compiler anygin_driver)
    set(libraries anygin nccl cudart)
    set(where "the CPU")
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${driver} -ccbin ${CMAKE_CXX_COMPILER} ${flags} ${ARG_FLAGS} -MD -MF ${output}.d -MT ${output} -o ${output} ${source} -lnccl
    DEPENDS ${source} ${ARG_DEPENDS} ${compiler}
    DEPFILE ${output}.d
    COMMENT "Kernels for ${where}: ${name}")
  add_custom_target(program_${name} ALL DEPENDS ${output})
  add_dependencies(program_${name} ${libraries})  # must be there; a new one of them changes nothing in the program
endfunction()
