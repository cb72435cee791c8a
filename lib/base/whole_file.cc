// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace anygin {
namespace {

// Of the call before, by errno.
Status failed_to(const char* what, const std::string& path) {
  return Status(Cause::kFile, "file", fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return failed_to("read", path);
  std::string text;
  char chunk[65536];
  for (size_t got = 0; (got = std::fread(chunk, 1, sizeof(chunk), file)) > 0;) text.append(chunk, got);
  const Status status = std::ferror(file) != 0 ? failed_to("read", path) : Status();
  std::fclose(file);
  if (!status.ok()) return status;
  return text;
}

Status write_file(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return failed_to("write", path);
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  Status status = whole ? Status() : failed_to("write", path);
  if (std::fclose(file) != 0 && status.ok()) status = failed_to("write", path);
  return status;
}

}  // namespace anygin
