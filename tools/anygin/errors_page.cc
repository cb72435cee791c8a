// SPDX-License-Identifier: Apache-2.0
#include "errors_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/status.h"

namespace anygin::tools {
namespace {

constexpr std::string_view kPrefix = "GIN_ERR_";

constexpr std::string_view kHead = R"(# Errors

Made from `lib/base/error_causes.def`: `cmake --build build/release --target errors_page` writes this page, and a test fails when it
is not current.

A function of `nccl.h` that fails returns the code; `ncclGetLastError` then says `NAME: where: what, and what would be right`. The
name at the front never changes and is what a program may compare; the words behind it are for people. `ncclCommGetAsyncError`
gives the code of what ended a communicator, and sets the same text. A kernel that uses the device API wrongly is ended: its
report on stderr (`anygin: misuse: NAME: ...`) and the asynchronous error carry the name. An error that came from another rank
keeps that rank's name behind `GIN_ERR_PEER_ENDED`. `anygin errors NAME` prints one row.

| name | code | cause | remedy |
|---|---|---|---|
)";

const char* name_of(Code code) {
  constexpr const char* kNames[] = {"ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
                                    "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
                                    "ncclRemoteError",   "ncclInProgress",         "ncclTimeout"};
  return kNames[static_cast<size_t>(code)];
}

}  // namespace

std::string errors_page() {
  std::string page(kHead);
  for (uint8_t i = 1; i < static_cast<uint8_t>(Cause::kCount); ++i) {
    const CauseInfo& row = info_of(static_cast<Cause>(i));
    page += fmt::format("| `{}` | `{}` | {} | {} |\n", row.name, name_of(row.code), row.what, row.remedy);
  }
  return page;
}

std::string explain_cause(std::string_view name) {
  std::string wanted(name);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c); });
  if (wanted.rfind(kPrefix, 0) != 0) wanted.insert(0, kPrefix);
  for (uint8_t i = 1; i < static_cast<uint8_t>(Cause::kCount); ++i) {
    const CauseInfo& row = info_of(static_cast<Cause>(i));
    if (row.name == wanted)
      return fmt::format("{} ({})\n  {}\n  {}\n", row.name, name_of(row.code), row.what, row.remedy);
  }
  return "";
}

}  // namespace anygin::tools
