anygin_test(regress_command_line SOURCES ${CMAKE_CURRENT_LIST_DIR}/command_line_test.cc)
target_compile_definitions(regress_command_line PRIVATE ANYGIN_TOOL="${ANYGIN_PREFIX}/bin/anygin" ANYGIN_VERSION="${PROJECT_VERSION}"
  ANYGIN_DEV="${CMAKE_SOURCE_DIR}/dev")
add_dependencies(regress_command_line anygin_tool)
