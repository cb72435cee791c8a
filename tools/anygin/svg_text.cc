// SPDX-License-Identifier: Apache-2.0
#include "svg_text.h"

#include <fmt/format.h>

namespace anygin::tools {

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

std::string svg_text_at(double x, double y, const std::string& text, const char* style) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, style, xml_text(text));
}

std::string svg_line(const SvgLine& line, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}/>\n", line.x1, line.y1, line.x2,
                     line.y2, style);
}

std::string svg_of(const SvgPage& page) {
  const std::string definitions = page.definitions.empty() ? "" : "<defs>" + page.definitions + "</defs>\n";
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
             "font-size=\"11\">\n{2}<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
             page.width, page.height, definitions) +
         page.body + "</svg>\n";
}

}  // namespace anygin::tools
