// SPDX-License-Identifier: Apache-2.0
// The event stream as a picture: a group a rank with lanes for blocks, waits,
// proxy and NIC; a group for the links; arrows from the read of a source to the signal to the end of the wait for it.
#pragma once

#include <vector>

#include "event_file.h"
#include "picture.h"

namespace anygin::tools {

Picture picture_of(const std::vector<FileEvent>& events);

}  // namespace anygin::tools
