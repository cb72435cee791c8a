# The staged prefix: what a user of the cpu target points CUDA_HOME and NCCL_HOME at.
set(ANYGIN_PREFIX ${CMAKE_BINARY_DIR}/prefix/cpu)
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
