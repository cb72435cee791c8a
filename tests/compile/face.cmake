# Every header of the CUDA face compiles alone: as a user's host file (plain compiler, no part of libanygin) and as
# device code (what the driver compiles), with both compilers, without a warning; the C headers as C99 too.
find_program(ANYGIN_GXX g++)
find_program(ANYGIN_GCC gcc)
find_program(ANYGIN_CLANGXX NAMES clang++ clang++-14)
set(face_warnings -Wall -Wextra -Wpedantic -Wshadow -Werror)
set(face_include ${CMAKE_SOURCE_DIR}/lib/simt/include)

# face_compiles(NAME header COMMAND...): an empty translation unit that includes the header first.
function(face_compiles name header)
  add_test(NAME compile_face.${name} COMMAND ${ARGN} -fsyntax-only -I${face_include} -include ${header} /dev/null)
  set_tests_properties(compile_face.${name} PROPERTIES TIMEOUT 60 LABELS compile)
endfunction()

file(GLOB_RECURSE face_headers RELATIVE ${face_include} CONFIGURE_DEPENDS ${face_include}/*)
list(REMOVE_ITEM face_headers anygin_editor.h mma.h)
foreach(header ${face_headers})
  string(REPLACE "/" "." label ${header})
  set(face_standard -std=c++17)
  if(header MATCHES "^cuda/std/(compare|concepts|numbers|ranges|span)$")
    set(face_standard -std=c++20)
  endif()
  foreach(compiler ${ANYGIN_GXX} ${ANYGIN_CLANGXX})
    get_filename_component(tool ${compiler} NAME)
    # Pieces of device code do not stand alone in host files.
    if(NOT header MATCHES "^anygin_cuda/cuda_(atomics|bits|block|conversions|loads|math|warp).h$" AND NOT header STREQUAL "anygin_cuda/group_lanes.h")
      face_compiles(host.${label}.${tool} ${header} ${compiler} ${face_standard} ${face_warnings} -x c++)
    endif()
    face_compiles(device.${label}.${tool} ${header} ${compiler} ${face_standard} ${face_warnings} -D__CUDACC__
      -I${ANYGIN_INCLUDE_DIR} -x c++)
  endforeach()
endforeach()

foreach(header cuda_runtime_api.h cuda_runtime.h driver_types.h vector_types.h vector_functions.h driver_functions.h cuda.h cuda_fp16.h
        cuda_bf16.h)
  face_compiles(c99.${header} ${header} ${ANYGIN_GCC} -std=c99 ${face_warnings} -x c)
endforeach()

# What clangd makes of a kernel and its launch: no error but the one that .clangd suppresses.
if(ANYGIN_CLANGXX)
  add_test(NAME compile_face.editor COMMAND ${ANYGIN_CLANGXX} -xcuda --cuda-host-only -nocudainc -nocudalib -std=c++17
    -Wno-unknown-cuda-version -isystem ${ANYGIN_PREFIX}/include -include anygin_editor.h -fsyntax-only -Xclang -verify
    ${CMAKE_CURRENT_LIST_DIR}/editor_sample.cu)
  set_tests_properties(compile_face.editor PROPERTIES TIMEOUT 60 LABELS compile)
endif()
