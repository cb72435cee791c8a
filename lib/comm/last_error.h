// SPDX-License-Identifier: Apache-2.0
// What went wrong last in the calling thread: the text behind a result code.
#pragma once

#include "anygin/base/status.h"

namespace anygin::comm {

// Keeps the text if `status` is an error; a success leaves the last error as it is.
void keep_last_error(const Status& status);
// Stays valid while the thread lives, and then holds its last error. Empty before the first one.
const char* last_error_text();

}  // namespace anygin::comm
