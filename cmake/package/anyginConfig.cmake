# find_package(anygin): the cpu target of AnyGIN, from the prefix that this file lies in.
#   anygin::nccl  anygin::cudart  anygin::anygin     imported libraries
#   ANYGIN_PREFIX                                    the prefix: CUDA_HOME and NCCL_HOME of other build systems
#   anygin_add_executable(NAME source ...)           a program from .cu and other sources
# A project may instead enable CMake's CUDA language with CMAKE_CUDA_COMPILER=<prefix>/bin/nvcc.
get_filename_component(ANYGIN_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(ANYGIN_NVCC "${ANYGIN_PREFIX}/bin/nvcc")

foreach(library anygin:libanygin.so cudart:libcudart.so.13 nccl:libnccl.so.2)
  string(REPLACE ":" ";" library ${library})
  list(GET library 0 name)
  list(GET library 1 file)
  if(NOT TARGET anygin::${name})
    add_library(anygin::${name} SHARED IMPORTED)
    set_target_properties(anygin::${name} PROPERTIES IMPORTED_LOCATION "${ANYGIN_PREFIX}/lib/${file}" IMPORTED_SONAME ${file}
      INTERFACE_INCLUDE_DIRECTORIES "${ANYGIN_PREFIX}/include")
  endif()
endforeach()
set_target_properties(anygin::cudart PROPERTIES INTERFACE_LINK_LIBRARIES anygin::anygin)
set_target_properties(anygin::nccl PROPERTIES INTERFACE_LINK_LIBRARIES anygin::cudart)

# Compiles one .cu for TARGET with the target's definitions, include folders, options and C++ standard; sets OBJECT.
function(_anygin_compile target source object)
  get_filename_component(path "${source}" ABSOLUTE)
  file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${path}")
  string(REPLACE ".." "__" name "${name}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${name}.o")
  get_filename_component(folder "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(standard $<TARGET_PROPERTY:${target},CXX_STANDARD>)
  add_custom_command(OUTPUT "${output}"
    COMMAND "${ANYGIN_NVCC}" -ccbin "${CMAKE_CXX_COMPILER}" -forward-unknown-to-host-compiler -x cu -c "${path}" -o "${output}"
      -MD -MF "${output}.d" "$<$<BOOL:${standard}>:-std=c++${standard}>"
      "$<$<CONFIG:Debug>:-g>" "$<$<CONFIG:Release>:-O3;-DNDEBUG>" "$<$<CONFIG:RelWithDebInfo>:-O2;-g;-DNDEBUG>"
      "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>"
    DEPENDS "${path}" "${ANYGIN_NVCC}" DEPFILE "${output}.d" COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Kernels for the CPU: ${name}")
  set(${object} "${output}" PARENT_SCOPE)
endfunction()

# anygin_add_executable(NAME source ...): a target like any other (target_link_libraries, target_include_directories, ...),
# linked with libnccl. The file is an executable shared object: it runs, and `anygin` can load several copies of it.
function(anygin_add_executable target)
  if(NOT CMAKE_CXX_COMPILER_LOADED)
    message(FATAL_ERROR "anygin_add_executable(${target}): enable C++, e.g. project(${PROJECT_NAME} LANGUAGES CXX)")
  endif()
  set(sources ${ARGN})
  set(kernels ${ARGN})
  list(FILTER sources EXCLUDE REGEX "\\.cu$")
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  foreach(source ${kernels})
    _anygin_compile(${target} ${source} object)
    list(APPEND sources "${object}")
  endforeach()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE anygin::nccl)
  target_compile_options(${target} PRIVATE -fPIC)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE OFF
    CXX_LINKER_LAUNCHER "${ANYGIN_PREFIX}/bin/anygin-link;-ccbin")
endfunction()
