// SPDX-License-Identifier: Apache-2.0
// Curves over a logarithmic sheet, several sheets a page.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace anygin::tools {

struct ChartPoint {
  double x = 0, y = 0, least = 0, most = 0;  // positive
};

struct Chart {
  std::string title, x_label, y_label;
  bool bytes = false;                                                   // x: sizes, labelled 4 Ki and 16 Mi
  std::vector<std::pair<std::string, std::vector<ChartPoint>>> curves;  // by name, in the order in which they are drawn
};

// Points that are not positive have no place and are left out.
std::string charts_svg(const std::vector<Chart>& charts);

}  // namespace anygin::tools
