// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "svg_text.h"

namespace anygin::tools {
namespace {

// What JSON does not take as it is.
std::string json_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

}  // namespace

int Picture::lane(int group, const std::string& name) {
  const auto [it, fresh] = lanes_.emplace(std::pair(group, name), static_cast<int>(lane_names_.size()) + 1);
  if (fresh) lane_names_.emplace_back(group, name);
  return it->second;
}

void Picture::slice(Place where, const std::string& name, double duration) {
  slices_.push_back({where.group, where.lane, name, where.at, std::max(duration, kInstant)});
}

void Picture::arrow(Place from, Place to) {
  arrows_.push_back({from, to});
}

// --- Trace Event Format ----------------------------------------------------------------------------------------------

std::string Picture::json() const {
  std::string body;
  const auto add = [&](const std::string& fields) { body += (body.empty() ? "{" : ",\n{") + fields + "}"; };
  const auto meta = [&](const char* what, int group, int lane, const std::string& name) {
    add(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}})", what, group, lane,
                    json_text(name)));
  };
  for (const auto& [group, name] : groups_) meta("process_name", group, 0, name);
  for (size_t i = 0; i < lane_names_.size(); ++i) {
    meta("thread_name", lane_names_[i].first, static_cast<int>(i) + 1, lane_names_[i].second);
  }
  for (const Slice& slice : slices_) {
    add(fmt::format(R"("ph":"X","pid":{},"tid":{},"name":"{}","ts":{:.4f},"dur":{:.4f})", slice.group, slice.lane,
                    json_text(slice.name), slice.from, slice.duration));
  }
  uint64_t id = 0;
  const auto end_of_arrow = [&](const char* phase, const Place& place) {
    add(fmt::format(R"("ph":"{}","bp":"e","cat":"put","name":"put","id":{},"pid":{},"tid":{},"ts":{:.4f})", phase, id,
                    place.group, place.lane, place.at + kInstant / 2));
  };
  for (const Arrow& arrow : arrows_) {
    ++id;
    end_of_arrow("s", arrow.from);
    end_of_arrow("f", arrow.to);
  }
  const auto end_of_span = [&](const char* phase, const Span& span, double at) {
    add(fmt::format(R"("ph":"{}","cat":"link","name":"{}","id":{},"pid":{},"tid":0,"ts":{:.4f})", phase,
                    json_text(span.name), id, span.group, at));
  };
  for (const Span& span : spans_) {
    ++id;
    end_of_span("b", span, span.from);
    end_of_span("e", span, span.to);
  }
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + body + "\n]}\n";
}

// --- A still picture -------------------------------------------------------------------------------------------------

namespace {

constexpr double kRow = 16, kNames = 230, kWide = 1150, kTop = 24;

// Where rows and times lie.
struct Sheet {
  double begin = 0, end = 1;
  std::map<std::pair<int, std::string>, double> rows;  // (group, lane or link) -> top
  double bottom = kTop;
  double x(double at) const { return kNames + (at - begin) / (end - begin) * kWide; }
};

// One colour a kind of thing, so that one sees where it happens.
const char* colour_of(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (name == "block") return "#c6dbef";
  if (has("->")) return "#fdae6b";
  if (has("read ")) return "#31a354";
  if (has("visible")) return "#3182bd";
  if (has("signal")) return "#de2d26";
  return "#756bb1";
}

}  // namespace

std::string Picture::svg() const {
  Sheet sheet;
  if (!slices_.empty()) {
    const auto less = [](const Slice& a, const Slice& b) { return a.from < b.from; };
    sheet.begin = std::min_element(slices_.begin(), slices_.end(), less)->from;
    for (const Slice& slice : slices_) sheet.end = std::max(sheet.end, slice.from + slice.duration);
  }
  std::map<int, std::vector<std::string>> rows;  // of each group, in the order in which they were made
  for (const auto& [group, name] : lane_names_) rows[group].push_back(name);
  for (const Span& span : spans_) {
    auto& names = rows[span.group];
    if (std::find(names.begin(), names.end(), span.name) == names.end()) names.push_back(span.name);
  }
  std::string body;
  for (const auto& [group, names] : rows) {
    const auto title = groups_.find(group);
    body += svg_text_at(4, sheet.bottom + 12, title == groups_.end() ? "" : title->second, " font-weight=\"bold\"");
    sheet.bottom += kRow;
    for (const std::string& name : names) {
      body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f7f7f7\"/>\n", kNames,
                          sheet.bottom, kWide, kRow - 2);
      body += svg_text_at(16, sheet.bottom + 11, name);
      sheet.rows[{group, name}] = sheet.bottom;
      sheet.bottom += kRow;
    }
  }
  const auto bar = [&](double row, double from, double to, const std::string& name, double inset) {
    const std::string label = fmt::format("{}, {:.2f} to {:.2f} us", name, from, to);
    body += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\"0.8\">"
        "<title>{}</title></rect>\n",
        sheet.x(from), row + inset, std::max(sheet.x(to) - sheet.x(from), 1.5), kRow - 2 - 2 * inset, colour_of(name),
        xml_text(label));
  };
  const auto row_of = [&](int group, int lane) {
    return sheet.rows.at({group, lane_names_[static_cast<size_t>(lane) - 1].second});
  };
  for (const Slice& slice : slices_) {
    bar(row_of(slice.group, slice.lane), slice.from, slice.from + slice.duration, slice.name, 0);
  }
  for (const Span& span : spans_) bar(sheet.rows.at({span.group, span.name}), span.from, span.to, span.name, 3);
  for (const Arrow& arrow : arrows_) {
    body += svg_line({sheet.x(arrow.from.at), row_of(arrow.from.group, arrow.from.lane) + kRow / 2,
                      sheet.x(arrow.to.at), row_of(arrow.to.group, arrow.to.lane) + kRow / 2},
                     " stroke=\"#444\" stroke-width=\"0.7\" marker-end=\"url(#tip)\"");
  }
  constexpr int kTicks = 10;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double at = sheet.begin + (sheet.end - sheet.begin) * tick / kTicks;
    body += svg_line({sheet.x(at), kTop - 4, sheet.x(at), sheet.bottom}, " stroke=\"#ddd\"");
    body += svg_text_at(sheet.x(at) - 14, 14, fmt::format("{:.1f}{}", at, tick == kTicks ? " us" : ""));
  }
  return svg_of({kNames + kWide + 40, sheet.bottom + 8,
                 "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" "
                 "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#444\"/></marker>",
                 body});
}

}  // namespace anygin::tools
