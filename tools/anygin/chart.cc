// SPDX-License-Identifier: Apache-2.0
#include "chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "svg_text.h"

namespace anygin::tools {
namespace {

constexpr double kWide = 560, kHigh = 330;                           // of a chart with its margins
constexpr double kLeft = 64, kRight = 20, kAbove = 58, kBelow = 44;  // the margins
constexpr std::array kColours = {"#3182bd", "#de2d26", "#31a354", "#756bb1", "#e6550d", "#636363"};

bool has_place(const ChartPoint& point) {
  return point.x > 0 && point.y > 0;
}

// "8", "4 Ki", "16 Mi"
std::string size_text(double bytes) {
  const auto whole = static_cast<uint64_t>(bytes);
  constexpr std::array kUnits = {"", " Ki", " Mi", " Gi"};
  size_t unit = 0;
  uint64_t left = whole;
  for (; left >= 1024 && left % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) left /= 1024;
  return fmt::format("{}{}", left, kUnits[unit]);
}

// Where the values of one chart lie on the page.
class Sheet {
 public:
  Sheet(const Chart& chart, double left, double top) : left_(left + kLeft), top_(top + kAbove) {
    std::vector<double> values;
    for (const auto& [name, points] : chart.curves) {
      for (const ChartPoint& point : points) {
        if (!has_place(point)) continue;
        xs_.insert(point.x);
        values.insert(values.end(), {point.y, std::max(point.least, point.y / 100), point.most});
      }
    }
    if (values.empty()) return;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    low_ = std::floor(std::log10(*least));
    high_ = std::max(low_ + 1, std::ceil(std::log10(*most)));
  }

  double right() const { return left_ + kWide - kLeft - kRight; }
  double left() const { return left_; }
  double top() const { return top_; }
  double bottom() const { return top_ + kHigh - kAbove - kBelow; }
  const std::set<double>& xs() const { return xs_; }
  double low() const { return low_; }
  double high() const { return high_; }
  double x(double value) const {
    const double first = std::log2(*xs_.begin()), last = std::log2(*xs_.rbegin());
    if (last <= first) return (left_ + right()) / 2;
    return left_ + 12 + (std::log2(value) - first) / (last - first) * (right() - left_ - 24);
  }
  double y(double value) const {
    const double at = (std::log10(value) - low_) / (high_ - low_);
    return bottom() - std::clamp(at, 0.0, 1.0) * (bottom() - top_);
  }

 private:
  double left_, top_;
  std::set<double> xs_;
  double low_ = 0, high_ = 1;  // powers of ten
};

std::string axes(const Chart& chart, const Sheet& sheet) {
  std::string body;
  for (double power = sheet.low(); power <= sheet.high(); ++power) {
    const double value = std::pow(10.0, power), y = sheet.y(value);
    body += svg_line({sheet.left(), y, sheet.right(), y}, " stroke=\"#ddd\"");
    body += svg_text_at(sheet.left() - 6, y + 4, fmt::format("{:g}", value), " text-anchor=\"end\"");
  }
  for (const double value : sheet.xs()) {
    body += svg_line({sheet.x(value), sheet.bottom(), sheet.x(value), sheet.bottom() + 4}, " stroke=\"#888\"");
    body += svg_text_at(sheet.x(value), sheet.bottom() + 16,
                        chart.bytes ? size_text(value) : fmt::format("{:g}", value), " text-anchor=\"middle\"");
  }
  body +=
      svg_text_at((sheet.left() + sheet.right()) / 2, sheet.bottom() + 32, chart.x_label, " text-anchor=\"middle\"");
  body += svg_text_at(sheet.left() - 56, sheet.top() - 36, chart.title, " font-weight=\"bold\" font-size=\"13\"");
  body += svg_text_at(sheet.left() - 56, sheet.top() - 20, chart.y_label);
  return body;
}

std::string curve_of(const Sheet& sheet, const std::string& name, const std::vector<ChartPoint>& points,
                     const char* colour) {
  std::string path, marks;
  for (const ChartPoint& point : points) {
    if (!has_place(point)) continue;
    const double x = sheet.x(point.x), y = sheet.y(point.y);
    path += fmt::format("{:.1f},{:.1f} ", x, y);
    const double low = point.least > 0 ? sheet.y(point.least) : y;
    marks += svg_line({x, low, x, sheet.y(std::max(point.most, point.y))},
                      fmt::format(" stroke=\"{}\" stroke-opacity=\"0.4\"", colour).c_str());
    marks += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"><title>{}</title></circle>\n", x, y, colour,
        xml_text(fmt::format("{}: {:g} at {:g}, {:g} to {:g}", name, point.y, point.x, point.least, point.most)));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path, colour) +
         marks;
}

std::string drawing_of(const Chart& chart, double left, double top) {
  const Sheet sheet(chart, left, top);
  std::string body = axes(chart, sheet);
  double at = sheet.left() + 30;
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const auto& [name, points] = chart.curves[i];
    if (std::none_of(points.begin(), points.end(), has_place)) continue;
    const char* const colour = kColours[i % kColours.size()];
    body += curve_of(sheet, name, points, colour);
    body += svg_text_at(at, sheet.top() - 20, name, fmt::format(" fill=\"{}\"", colour).c_str());
    at += 16 + 6.5 * static_cast<double>(name.size());
  }
  return body;
}

}  // namespace

std::string charts_svg(const std::vector<Chart>& charts) {
  constexpr size_t kColumns = 2;
  std::string body;
  for (size_t i = 0; i < charts.size(); ++i) {
    body += drawing_of(charts[i], kWide * static_cast<double>(i % kColumns), kHigh * static_cast<double>(i / kColumns));
  }
  const size_t rows = (charts.size() + kColumns - 1) / kColumns;
  return svg_of(
      {kWide * static_cast<double>(std::min(charts.size(), kColumns)), kHigh * static_cast<double>(rows), "", body});
}

}  // namespace anygin::tools
