# anygin_component(NAME SOURCES a.cc b.cc)
#   Declares a part of libanygin.so. Sources are listed once, here; its tests are listed in tests/.
#   Sources write "anygin/<folder>/<file>.h": build/<preset>/include/anygin holds links to the folders.
set(ANYGIN_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${ANYGIN_INCLUDE_DIR}/anygin)

function(anygin_include_link name folder)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${ANYGIN_INCLUDE_DIR}/anygin/${name} SYMBOLIC)
endfunction()

add_library(anygin_headers INTERFACE)
target_include_directories(anygin_headers INTERFACE ${ANYGIN_INCLUDE_DIR})
target_link_libraries(anygin_headers INTERFACE anygin_warnings fmt::fmt Threads::Threads)

function(anygin_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES" ${ARGN})
  add_library(anygin_${name} OBJECT ${ARG_SOURCES})
  target_link_libraries(anygin_${name} PUBLIC anygin_headers)
  target_include_directories(anygin_${name} PRIVATE ${ARG_INCLUDES})
  set_property(GLOBAL APPEND PROPERTY ANYGIN_COMPONENTS anygin_${name})
endfunction()

# anygin_core_library(TARGET SWITCH FOLDER): FOLDER/libanygin.so of all components, with one of the switches between lanes.
# All state is in it; it exports anygin_* and the namespace anygin, nothing else.
function(anygin_core_library target switch folder)
  get_property(components GLOBAL PROPERTY ANYGIN_COMPONENTS)
  add_library(${target} SHARED)
  if(NOT switch STREQUAL "none")
    list(APPEND components anygin_switch_${switch})
  endif()
  foreach(component ${components})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${component}>)
  endforeach()
  get_property(libraries GLOBAL PROPERTY ANYGIN_LIBRARIES)
  target_link_libraries(${target} PUBLIC anygin_headers PRIVATE ${CMAKE_DL_LIBS} ${libraries})
  if(switch STREQUAL "boost")
    target_link_libraries(${target} PRIVATE Boost::context)
  endif()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME anygin LIBRARY_OUTPUT_DIRECTORY ${folder})
  # Calls inside the library go straight to its own functions: nobody puts others in their place.
  target_link_options(${target} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libanygin.map -Wl,-Bsymbolic-functions)
  if(NOT ANYGIN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libanygin.map)
endfunction()

# The library of the prefix; and one with the portable switch for tests, where that is not the same.
function(anygin_link_library)
  if(ANYGIN_TARGET STREQUAL cuda)
    anygin_core_library(anygin none ${ANYGIN_PREFIX}/lib)
    return()
  endif()
  anygin_core_library(anygin ${ANYGIN_FIBER_SWITCH} ${ANYGIN_PREFIX}/lib)
  if(ANYGIN_FIBER_SWITCH STREQUAL "x86_64" AND TARGET anygin_switch_boost)
    anygin_core_library(anygin_portable boost ${CMAKE_BINARY_DIR}/portable/lib)
  endif()
endfunction()

# anygin_face(NAME SOVERSION N SOURCES ...): lib<NAME>.so.<N>, a library with foreign names over libanygin.so; it holds
# no state. lib<NAME>.so is a link to it; with NEEDS_ANYGIN a linker script that also brings libanygin.so, so that objects
# with kernels in them can be linked by any linker command that names the face.
function(anygin_face name)
  cmake_parse_arguments(ARG "NEEDS_ANYGIN" "VERSION_SCRIPT;SOVERSION" "SOURCES;INCLUDES" ${ARGN})
  set(file lib${name}.so.${ARG_SOVERSION})
  add_library(${name} SHARED ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${ARG_INCLUDES})
  target_link_libraries(${name} PRIVATE anygin)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${ANYGIN_PREFIX}/lib PREFIX "" OUTPUT_NAME ${file} SUFFIX ""
    BUILD_RPATH "$ORIGIN" LINK_DEPENDS ${ARG_VERSION_SCRIPT})
  target_link_options(${name} PRIVATE -Wl,--version-script=${ARG_VERSION_SCRIPT})
  if(ARG_NEEDS_ANYGIN)
    anygin_linker_script(lib${name}.so "${file} AS_NEEDED ( libanygin.so )")
  else()
    file(CREATE_LINK ${file} ${ANYGIN_PREFIX}/lib/lib${name}.so SYMBOLIC)
  endif()
endfunction()
