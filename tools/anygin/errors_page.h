// SPDX-License-Identifier: Apache-2.0
// What `anygin errors` says of the causes of errors, and the page docs/errors.md.
#pragma once

#include <string>
#include <string_view>

namespace anygin::tools {

// The whole page, in Markdown.
std::string errors_page();
// One cause in words, by its name, with or without GIN_ERR_ and in any case; empty if it is none.
std::string explain_cause(std::string_view name);

}  // namespace anygin::tools
