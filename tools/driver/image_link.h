// SPDX-License-Identifier: Apache-2.0
// The link of a program: an executable shared object (docs/decisions/0009), linked with -shared, so
// that the linker does not turn thread-local variables into the main program's own, with an interpreter and a start
// routine, so that it runs. <prefix>/bin/anygin-link does it with the host compiler's own command line: build systems
// that link apart from nvcc (CMake) use it.
#pragma once

#include <string>
#include <vector>

namespace anygin::driver {

struct ImageLink {
  std::string host_compiler = "g++";
  std::string prefix;                  // of the cpu target
  bool shared = false;                 // a library: no start routine
  std::vector<std::string> arguments;  // of the host compiler: objects, libraries, -o
};

// Reads anygin-link's command line: all of the host compiler's, and `-ccbin COMPILER`. What would make the program
// position dependent or static is left out.
ImageLink parse_image_link(const std::vector<std::string>& arguments, std::string prefix);

// Exit code of the host compiler; 1 with a message if it does not say where its start routine is.
int link_image(const ImageLink& link);

}  // namespace anygin::driver
