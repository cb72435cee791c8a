# How the tree is built: the presets set these, nothing else does.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)  # a change inside libanygin.so links that library again, not every test

set(ANYGIN_SANITIZE "" CACHE STRING "address, undefined or thread; empty for none")
set(ANYGIN_TARGET cpu CACHE STRING "where kernels run: cpu, or cuda for one GPU")
set_property(CACHE ANYGIN_TARGET PROPERTY STRINGS cpu cuda)
option(ANYGIN_MUTANTS "compile the MUTANT(name) sites in" OFF)
option(ANYGIN_RACE "kernels are checked for races between lanes, blocks, ranks and NIC" OFF)
if(ANYGIN_RACE)
  message(FATAL_ERROR "The preset race (ANYGIN_RACE) has nothing to build yet: the race checker for kernels is not there; "
    "docs/roadmap.md says when it comes. Races of the library's own threads: preset tsan.")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")   # assertions stay on in release
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
set(CMAKE_CXX_FLAGS_UNOPTIMISED "-O0 -g1")  # programs too: does a simulated run depend on the optimiser?
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-gdwarf-4>)  # binutils' addr2line misses clang's inlined frames in version 5
endif()

if(ANYGIN_TARGET STREQUAL cpu)
  add_compile_definitions(ANYGIN_TARGET_CPU=1)
endif()
add_compile_options(-fno-omit-frame-pointer)
if(ANYGIN_SANITIZE)
  add_compile_options(-fsanitize=${ANYGIN_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ANYGIN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # instrumented, std::regex and std::function look uninitialized to it
  endif()
  if(ANYGIN_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # it does not know fences; base/order.h does without them there
  endif()
endif()
if(ANYGIN_MUTANTS)
  add_compile_definitions(ANYGIN_MUTANTS=1)
endif()

find_program(ANYGIN_CCACHE ccache)
if(ANYGIN_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${ANYGIN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ANYGIN_CCACHE})
endif()
