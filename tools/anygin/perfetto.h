// SPDX-License-Identifier: Apache-2.0
// Events as a picture for ui.perfetto.dev (Trace Event Format, JSON): a group a rank with lanes for blocks, waits,
// proxy and NIC; a group for the links; arrows from the read of a source to the signal to the end of the wait for it.
#pragma once

#include <string>
#include <vector>

#include "event_file.h"

namespace anygin::tools {

std::string to_perfetto(const std::vector<FileEvent>& events);

}  // namespace anygin::tools
