// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/lane_printf.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

namespace {

struct PrintCall {
  const char* format;
  va_list arguments;
  Block* block;
};

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::string format_text(const char* format, va_list arguments) {
  char small[512];
  va_list again;
  va_copy(again, arguments);  // a parameter is initialized: NOLINT(clang-analyzer-valist.Uninitialized)
  const int length = std::vsnprintf(small, sizeof small, format, arguments);
  std::string text(small, static_cast<size_t>(std::clamp(length, 0, static_cast<int>(sizeof small) - 1)));
  if (length >= static_cast<int>(sizeof small)) {
    text.resize(static_cast<size_t>(length));
    std::vsnprintf(text.data(), text.size() + 1, format, again);
  }
  va_end(again);
  return text;
}

// Takes the unfinished line of `lane` out of the block's list.
std::string take_partial_line(Block& block, uint32_t lane) {
  const auto found =
      std::find_if(block.lines.begin(), block.lines.end(), [&](const auto& l) { return l.lane == lane; });
  if (found == block.lines.end()) return {};
  std::string text = std::move(found->text);
  block.lines.erase(found);
  return text;
}

void print(void* argument) {
  PrintCall& call = *static_cast<PrintCall*>(argument);
  Block& block = *call.block;
  std::string text = take_partial_line(block, block.current) + format_text(call.format, call.arguments);
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    write_out(std::string_view(text).substr(begin, end + 1 - begin));
  }
  if (begin < text.size()) block.lines.push_back({static_cast<uint16_t>(block.current), text.substr(begin)});
}

// CUDA's printf returns how many arguments the format takes.
int count_arguments(const char* format) {
  int count = 0;
  for (const char* at = format; *at; ++at) {
    if (*at != '%') continue;
    ++at;
    if (!*at) break;
    count += *at != '%';
  }
  return count;
}

}  // namespace

void flush_partial_line(Block& block, uint32_t lane) {
  const std::string text = take_partial_line(block, lane);
  if (!text.empty()) write_out(text);
}

void flush_partial_lines(Block& block) {
  for (const PartialLine& line : block.lines) write_out(line.text);
  block.lines.clear();
}

extern "C" int anygin_printf(const char* format, ...) {
  if (!format) return -1;
  va_list arguments;
  va_start(arguments, format);
  if (current_runner) {
    PrintCall call{format, {}, &current_runner->block()};
    va_copy(call.arguments, arguments);
    current_runner->on_worker_stack(&print, &call);
    va_end(call.arguments);
  } else {
    std::vfprintf(stdout, format, arguments);
  }
  va_end(arguments);
  return count_arguments(format);
}

}  // namespace anygin::simt
