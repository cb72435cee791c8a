# The staged prefix: what a user points NCCL_HOME at; on the cpu target CUDA_HOME too.
set(ANYGIN_PREFIX ${CMAKE_BINARY_DIR}/prefix/${ANYGIN_TARGET})
file(MAKE_DIRECTORY ${ANYGIN_PREFIX}/include ${ANYGIN_PREFIX}/lib ${ANYGIN_PREFIX}/bin)
file(CREATE_LINK lib ${ANYGIN_PREFIX}/lib64 SYMBOLIC)
file(CREATE_LINK ${CMAKE_BINARY_DIR}/include/anygin ${ANYGIN_PREFIX}/include/anygin SYMBOLIC)

# anygin_stage_headers(FOLDER): links every header and folder of FOLDER into the prefix's include directory.
function(anygin_stage_headers folder)
  file(GLOB entries RELATIVE ${CMAKE_SOURCE_DIR}/${folder} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*)
  foreach(entry ${entries})
    if(NOT entry MATCHES "CMakeLists.txt|README.md")
      file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder}/${entry} ${ANYGIN_PREFIX}/include/${entry} SYMBOLIC)
    endif()
  endforeach()
endfunction()

# anygin_linker_script(NAME INPUTS): <prefix>/lib/NAME, a text that linkers read as the libraries INPUTS.
function(anygin_linker_script name inputs)
  set(path ${ANYGIN_PREFIX}/lib/${name})
  file(REMOVE ${path})  # it may be a link to a library
  file(WRITE ${path} "/* AnyGIN, a linker script */\nINPUT ( ${inputs} )\n")
endfunction()

# What build systems look for: find_package(anygin) and pkg-config. Everything is relative to the prefix: it may move.
include(CMakePackageConfigHelpers)
set(package ${ANYGIN_PREFIX}/lib/cmake/anygin)
configure_file(${CMAKE_SOURCE_DIR}/cmake/package/anyginConfig.cmake ${package}/anyginConfig.cmake COPYONLY)
write_basic_package_version_file(${package}/anyginConfigVersion.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)

function(anygin_pkg_config file PC_NAME PC_VERSION PC_LIBS PC_DESCRIPTION)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/package/anygin.pc.in ${ANYGIN_PREFIX}/lib/pkgconfig/${file}.pc @ONLY)
endfunction()
anygin_pkg_config(anygin AnyGIN ${PROJECT_VERSION} "-lnccl -lcudart -lanygin" "NCCL GIN kernels on the CPU")
anygin_pkg_config(nccl NCCL 2.30.7 "-lnccl -lcudart" "NCCL's interface, by AnyGIN for the CPU")
anygin_pkg_config(cudart-13.0 cudart 13.0 "-lcudart" "CUDA's runtime interface, by AnyGIN for the CPU")
anygin_pkg_config(cuda-13.0 cuda 13.0 "-lcuda" "CUDA's driver interface, by AnyGIN for the CPU")

file(MAKE_DIRECTORY ${ANYGIN_PREFIX}/share)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tools/gdb/anygin.gdb ${ANYGIN_PREFIX}/share/anygin.gdb SYMBOLIC)

set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)  # programs of the prefix find its libraries wherever it lies
install(CODE "cmake_policy(VERSION 3.22)\nset(STAGED \"${ANYGIN_PREFIX}\")\nset(INSTALLED \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/install_prefix.cmake)
