# What is refused, and what the user sees of it: refused/ has a program each.
if(NOT ANYGIN_SANITIZE)  # what the driver builds here cannot load a libanygin that is instrumented
  anygin_test(compile_refused SOURCES ${CMAKE_CURRENT_LIST_DIR}/refused_test.cc LABELS ci)
  target_compile_definitions(compile_refused PRIVATE ANYGIN_BIN="${ANYGIN_PREFIX}/bin"
    ANYGIN_REFUSED="${CMAKE_CURRENT_LIST_DIR}/refused" ANYGIN_DOCUMENT="${CMAKE_SOURCE_DIR}/docs/cuda-on-cpu.md")
  add_dependencies(compile_refused anygin_driver anygin_program_image cudart nccl)
endif()
