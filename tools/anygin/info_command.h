// SPDX-License-Identifier: Apache-2.0
// `anygin info | env | prefix`.
#pragma once

#include <string>

namespace anygin::tools {

// Where this program is installed: <prefix>/bin/anygin.
std::string own_prefix();

void print_info();
void print_environment();
// Prints <prefix>/<target>; 2 if there is no such target here, with the reason.
int print_prefix(const std::string& target);

}  // namespace anygin::tools
