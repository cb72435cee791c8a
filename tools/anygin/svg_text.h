// SPDX-License-Identifier: Apache-2.0
// The pieces of which our SVG pictures are made.
#pragma once

#include <string>
#include <string_view>

namespace anygin::tools {

// As XML takes it, between tags and between double quotes: kernels have names like k<int>.
std::string xml_text(std::string_view text);

// `style`: further attributes, with a blank in front.
std::string svg_text_at(double x, double y, const std::string& text, const char* style = "");

struct SvgLine {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
std::string svg_line(const SvgLine& line, const char* style);

// A white page with `body` on it; `definitions` may be empty.
struct SvgPage {
  double width = 0, height = 0;
  std::string definitions, body;
};
std::string svg_of(const SvgPage& page);

}  // namespace anygin::tools
