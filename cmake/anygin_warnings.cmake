# One warning set for the whole tree; warnings are errors.
add_library(anygin_warnings INTERFACE)
target_compile_options(anygin_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety -Wno-gnu-zero-variadic-macro-arguments -Wno-unknown-warning-option>)
