// SPDX-License-Identifier: Apache-2.0
// `template <typename T> __global__ void k(T* p, int) { body }` becomes
// `template <typename T> void k(T* p, int anygin_p1) { if (Kernel<...(&::k<T>)>::launch(p, anygin_p1)) return; body }`.
// The address is cast to the exact type, so overloads and specialisations each get their own record.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "anygin/simt/rewriter/cu_declarator.h"
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

struct KernelDefinition {
  int template_open = kNowhere;  // `<` of the last template header, kNowhere if it is no template
  int template_close = kNowhere;
  int id_begin = kNowhere;  // the declarator-id: `k`, `ns::k`, `k<int>`
  int id_end = kNowhere;
  int parameters_open = kNowhere;
  int body = kNowhere;  // the `{`
};

bool is_kernel_attribute(std::string_view text) {
  return text == "__launch_bounds__" || text == "__cluster_dims__" || text == "__maxnreg__" ||
         text == "__block_size__" || text == "__attribute__" || text == "alignas" || text == "__align__" ||
         text == "noexcept" || text == "requires" || text == "decltype" || text == "explicit";
}

int statement_begin(const Code& code, int position) {
  while (position > 0) {
    const int previous = position - 1;
    const std::string_view text = code.at(previous).text;
    if (text == ";" || text == "{" || text == "}") break;
    const int partner = code.partner(previous);
    position = partner != kNowhere && partner < previous ? partner : previous;
  }
  return position;
}

// The `(` of the parameters: the first one that follows the declared name.
int find_parameters(const Code& code, int from) {
  for (int i = from; i < code.size(); ++i) {
    const std::string_view text = code.at(i).text;
    if (text == ";" || text == "{" || text == "}" || text == "=") return kNowhere;
    if (is_kernel_attribute(text) && code.is(i + 1, "(") && code.partner(i + 1) > i) {
      i = code.partner(i + 1);
    } else if (text == "<" && code.is_identifier(i - 1)) {
      const int close = code.match_angle(i, code.size());
      if (close != kNowhere) i = close;
    } else if (text == "[" && code.partner(i) > i) {
      i = code.partner(i);
    } else if (text == "(") {
      return code.partner(i) > i ? i : kNowhere;
    }
  }
  return kNowhere;
}

int find_body(const Code& code, int after_parameters) {
  for (int i = after_parameters; i < code.size(); ++i) {
    if (code.is(i, "{")) return i;
    if (code.is(i, ";") || code.is(i, "}") || code.is(i, ",") || code.is(i, "=")) return kNowhere;
    if (code.is(i, "(") && code.partner(i) > i) i = code.partner(i);
  }
  return kNowhere;
}

// `global` is the `__global__`; nothing if it begins a declaration without a body.
std::optional<KernelDefinition> find_definition(const Code& code, int global) {
  KernelDefinition kernel;
  int from = statement_begin(code, global);
  for (; from < global; ++from) {
    if (!code.is(from, "template") || !code.is(from + 1, "<")) continue;
    kernel.template_open = from + 1;
    kernel.template_close = code.match_angle(from + 1, global);
    if (kernel.template_close == kNowhere) return std::nullopt;
    from = kernel.template_close;
  }
  kernel.parameters_open = find_parameters(code, global + 1);
  if (kernel.parameters_open == kNowhere) return std::nullopt;
  kernel.body = find_body(code, code.partner(kernel.parameters_open) + 1);
  if (kernel.body == kNowhere) return std::nullopt;
  kernel.id_end = kernel.parameters_open;
  int begin = kernel.id_end - 1;
  if (code.is(begin, ">")) begin = code.match_angle_back(begin) - 1;
  if (!code.is_identifier(begin)) return std::nullopt;
  while (code.is(begin - 1, "::")) {
    begin -= code.is_identifier(begin - 2) && begin - 2 > global && !code.is(begin - 2, "void") ? 2 : 1;
  }
  kernel.id_begin = begin;
  return kernel;
}

class KernelRewriter {
 public:
  KernelRewriter(Code& code, const ScopeTable& scopes, const KernelDefinition& kernel)
      : code_(code), scopes_(scopes), kernel_(kernel) {}

  void run(int global) {
    const std::string types = parameter_types();
    std::string bound, cluster;
    if (const auto ranges = arguments_of("__launch_bounds__", global); !ranges.empty())
      bound = fmt::format(", ({})", code_.flat_text(ranges[0].first, ranges[0].second));
    if (const auto ranges = arguments_of("__cluster_dims__", global); !ranges.empty())
      cluster = fmt::format("::anygin::simt::refuse_clusters({}); ",
                            code_.flat_text(ranges.front().first, ranges.back().second));
    code_.insert_after(
        kernel_.body,
        fmt::format(" if (::anygin::simt::Kernel<static_cast<void (*)({})>(&{}){}>::launch({})) return; {}", types,
                    name() + template_arguments(), bound, parameter_names(), cluster));
  }

 private:
  struct Parameter {
    std::string name;
    bool pack = false;
    bool restricted = false;  // a `__restrict__` stands in it
  };

  std::string parameter_types() {
    std::string list;
    for (const Parameter& parameter : parameters()) {
      if (!list.empty()) list += ", ";
      list += fmt::format(
          fmt::runtime(parameter.restricted ? "::anygin::simt::Unrestricted<decltype({})>" : "decltype({})"),
          parameter.name);
      if (parameter.pack) list += "...";
    }
    return list;
  }

  std::string parameter_names() {
    std::string list;
    for (const Parameter& parameter : parameters()) {
      if (!list.empty()) list += ", ";
      list += parameter.name + (parameter.pack ? "..." : "");
    }
    return list;
  }

  // Parameters without a name get one.
  const std::vector<Parameter>& parameters() {
    const int close = code_.partner(kernel_.parameters_open);
    const auto ranges = split_at_commas(code_, kernel_.parameters_open + 1, close);
    const bool only_void =
        ranges.size() == 1 && code_.is(ranges[0].first, "void") && ranges[0].second == ranges[0].first + 1;
    if (!parameters_.empty() || only_void) return parameters_;
    for (const auto& [from, to] : ranges) {
      parameters_.push_back(parameter_in(from, to, fmt::format("anygin_p{}", parameters_.size())));
    }
    return parameters_;
  }

  Parameter parameter_in(int from, int to, const std::string& invented) {
    const Declarator found = find_parameter(code_, from, to);
    Parameter parameter{invented, found.pack, false};
    for (int i = from; i < to; ++i) {
      const bool restricts = code_.is(i, "__restrict__") || code_.is(i, "__restrict") || code_.is(i, "restrict");
      parameter.restricted |= restricts && !found.pack;
      if (restricts && found.pack) code_.drop(i);  // g++ keeps it in the type of the function, where it cannot be named
    }
    if (found.name != kNowhere) {
      parameter.name = std::string(code_.at(found.name).text);
    } else {
      code_.insert_before(found.place, " " + invented + " ");
    }
    return parameter;
  }

  std::string name() const {
    const std::string id = code_.flat_text(kernel_.id_begin, kernel_.id_end);
    std::string path;
    const bool qualified = code_.is(kernel_.id_begin, "::") || code_.is(kernel_.id_begin + 1, "::");
    if (qualified || !scopes_.namespace_path(kernel_.id_begin, &path)) return id;
    return path + "::" + id;
  }

  // `<T, N, Ts...>`: what follows a pack is left to deduction.
  std::string template_arguments() {
    if (kernel_.template_open == kNowhere || code_.is(kernel_.id_end - 1, ">")) return "";
    std::string list;
    int number = 0;
    for (const auto& [from, to] : split_at_commas(code_, kernel_.template_open + 1, kernel_.template_close)) {
      const Parameter parameter = parameter_in(from, to, fmt::format("anygin_t{}", number++));
      list += (list.empty() ? "<" : ", ") + parameter.name;
      if (parameter.pack) {
        list += "...";
        break;
      }
    }
    return list.empty() ? "" : list + ">";
  }

  // The arguments of a word like `__launch_bounds__(256, 2)`; none if the kernel does not have it.
  std::vector<std::pair<int, int>> arguments_of(std::string_view word, int global) const {
    for (int i = statement_begin(code_, global); i < kernel_.body; ++i) {
      if (code_.is(i, word) && code_.is(i + 1, "(")) return split_at_commas(code_, i + 2, code_.partner(i + 1));
    }
    return {};
  }

  Code& code_;
  const ScopeTable& scopes_;
  const KernelDefinition kernel_;
  std::vector<Parameter> parameters_;
};

}  // namespace

void rewrite_kernels(Code& code, const ScopeTable& scopes) {
  for (int i = 0; i < code.size(); ++i) {
    if (!code.is(i, "__global__") || !code.is_identifier(i)) continue;
    if (const auto kernel = find_definition(code, i)) KernelRewriter(code, scopes, *kernel).run(i);
  }
}

}  // namespace anygin::rewriter
