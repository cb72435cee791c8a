// SPDX-License-Identifier: Apache-2.0
// Names a place in a program's code for a report.
#pragma once

#include <string>

namespace anygin {

// "symbol+0x1c (program+0x2f41)", as far as the dynamic symbol table tells; the second half goes into addr2line.
std::string describe_site(const void* address);

}  // namespace anygin
