// SPDX-License-Identifier: Apache-2.0
// Debuggers find the libraries of a process through the DT_DEBUG entry that linkers give executables only, and not
// shared objects, which our programs are.
#pragma once

#include <string>

namespace anygin::driver {

// Turns a spare entry of the file's dynamic section into DT_DEBUG. False if there is none: it runs as before, but
// debuggers do not see its libraries. An object that has the entry already is left alone.
bool add_debug_tag(const std::string& path);

}  // namespace anygin::driver
