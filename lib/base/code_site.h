// SPDX-License-Identifier: Apache-2.0
// Names a place in a program's code for a report.
#pragma once

#include <string>

namespace anygin {

// "symbol+0x1c (program+0x2f41)", as far as the dynamic symbol table tells; the second half goes into addr2line.
std::string describe_site(const void* address);

// "alltoall.cu:42": the line of the program that `address`, a place inside one of its statements, belongs to; frames of
// our own inlined headers are passed over. Asks addr2line, so it costs milliseconds once an address: for reports only.
// describe_site() if there is no line table or no addr2line. Any thread.
std::string describe_line(const void* address);

}  // namespace anygin
