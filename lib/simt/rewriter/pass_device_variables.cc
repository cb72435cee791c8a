// SPDX-License-Identifier: Apache-2.0
// `__device__ int hits;` keeps its text and registers itself behind its `;`. In device code each use of the name
// becomes
// `::anygin::simt::on_device(hits)`, the running device's copy. Names that something local hides are left alone; where
// that cannot be told, on_device() decides by the address.
#include <fmt/format.h>

#include <map>
#include <set>

#include "anygin/simt/rewriter/cu_declarator.h"
#include "anygin/simt/rewriter/cu_names.h"
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

// A declaration statement with a variable that belongs to a device.
struct Declaration {
  int begin = kNowhere;
  int end = kNowhere;  // the `;`
  bool is_extern = false;
  bool is_static = false;
  bool is_constexpr = false;
  bool is_const = false;  // and no pointer to something constant
  bool is_inline = false;
  bool is_template = false;
  bool is_managed = false;
};

struct Variable {
  std::string path;  // "::a::b::name", without inline and anonymous namespaces
  bool is_template = false;
  int from = 0;  // local ones: where the name means it
  int to = 0;
};

bool is_space_word(std::string_view text) {
  return text == "__device__" || text == "__constant__" || text == "__managed__";
}

// Operators whose parentheses evaluate nothing.
bool is_unevaluated(std::string_view text) {
  return text == "decltype" || text == "sizeof" || text == "alignof" || text == "typeof" || text == "__typeof__" ||
         text == "typeid" || text == "noexcept" || text == "alignas" || text == "static_assert";
}

class DeviceVariableRewriter {
 public:
  DeviceVariableRewriter(Code& code, const ScopeTable& scopes) : code_(code), scopes_(scopes), names_(code, scopes) {}

  void run() {
    for (int i = 0; i < code_.size(); ++i) {
      if (!code_.is_identifier(i)) continue;
      if (code_.is(i, "namespace") && code_.is(i + 2, "=")) aliases_.emplace(code_.at(i + 1).text);
      i = declaration_at(i);
    }
    if (!variables_.empty()) rewrite_uses();
  }

 private:
  // --- Declarations ---

  // Looks at a word that may belong to one. Returns the last position that it dealt with.
  int declaration_at(int word) {
    const bool space = is_space_word(code_.at(word).text);
    const bool local = scopes_.function(word) != kNowhere;
    const bool local_static = local && code_.is(word, "static") && scopes_.in_device_code(word);
    if (!space && !local_static) return word;
    int before = word - 1;
    while (code_.is(before, "__host__") || is_space_word(code_.at(before).text)) --before;
    if (code_.is(before, "]") && !code_.is(code_.partner(before) + 1, "[")) return word;  // a lambda
    Declaration found;
    if (!read(word, local, &found)) return word;
    if (local && !found.is_static && !found.is_extern && !space) return word;
    const std::vector<Declarator> declared = find_declared(code_, declared_begin(found), found.end);
    for (const Declarator& one : declared) {
      if (!is_variable(one, found)) return word;
    }
    for (const Declarator& one : declared) note(one, found, local);
    return found.end;
  }

  int declared_begin(const Declaration& found) const {
    int begin = found.begin;
    if (found.is_template) begin = code_.match_angle(begin + 1, found.end) + 1;
    if (code_.is(begin, "extern") && code_.at(begin + 1).kind == TokenKind::kString) begin += 2;
    return begin;
  }

  // The statement around `word`; false if it cannot be a variable's.
  bool read(int word, bool local, Declaration* found) const {
    found->begin = names_.statement_begin(word);
    if (local && names_.in_parentheses(word, found->begin)) return false;
    int end = found->begin;
    bool pointer = false, initialiser = false;
    int constant = 0;
    if (code_.is(end, "template")) {
      const int close = code_.match_angle(end + 1, code_.size());
      if (close == kNowhere || close > word) return false;
      found->is_template = true;
      end = close + 1;
    }
    for (; end < code_.size() && !code_.is(end, ";"); ++end) {
      const std::string_view text = code_.at(end).text;
      if (text == "}" || text == "__shared__" || text == "using" || text == "typedef" || text == "friend" ||
          text == "operator" || text == "__global__" || text == "return") {
        return false;
      }
      initialiser |= text == "=" || (text == "{" && !names_.is_class_body(end));
      if (!initialiser) {
        found->is_extern |= text == "extern" && code_.at(end + 1).kind != TokenKind::kString;
        found->is_static |= text == "static";
        found->is_constexpr |= text == "constexpr";
        found->is_inline |= text == "inline" || text == "__inline__";
        found->is_managed |= text == "__managed__";
        pointer |= text == "*";
        if (text == "const") constant = pointer ? 2 : 1;
      }
      if (code_.partner(end) > end) {
        if (!initialiser && text == "(" && names_.points(end)) pointer = true;
        end = code_.partner(end);
      }
    }
    found->is_const = constant == 2 || (constant == 1 && !pointer);
    found->end = end;
    return code_.is(end, ";");
  }

  // What follows the name tells it from a function.
  bool is_variable(const Declarator& one, const Declaration& found) const {
    if (one.name == kNowhere || one.name >= found.end) return false;
    const int next = one.name + 1;
    if (code_.is(next, ")")) {  // `(*name)(int)`: a pointer to functions
      int open = one.name;
      while (open > found.begin && !code_.is(open, "(")) --open;
      return names_.points(open);
    }
    return code_.is(next, ";") || code_.is(next, "=") || code_.is(next, "[") || code_.is(next, ",") ||
           code_.is(next, "{");
  }

  void note(const Declarator& one, const Declaration& found, bool local) {
    const std::string name(code_.at(one.name).text);
    const int scope = scopes_.innermost(found.begin);
    std::string path;
    const bool in_class = !local && !scopes_.namespace_path(found.begin, &path);
    if (in_class) path = names_.class_path(scope);
    std::string written = names_.qualifier_before(one.name) + name;  // `int S::n = 0;`
    Variable variable;
    variable.is_template = found.is_template;
    variable.path = local ? name : written.substr(0, 2) == "::" ? written : path + "::" + written;
    if (local) {
      variable.from = one.name + 1;
      variable.to = scopes_.scopes()[scope].close;
      local_names_.insert(one.name);
    }
    const bool defines = !found.is_extern && !found.is_template && (!in_class || found.is_inline);
    const bool fixed = found.is_const || found.is_constexpr;
    if (defines && !(fixed && (local || in_class)))
      add_registration(found, local ? name : in_class ? name : variable.path, in_class);
    // Constants need no copies, and stay usable in constant expressions.
    if (!found.is_const && !found.is_constexpr && !found.is_managed) variables_[name].push_back(std::move(variable));
  }

  void add_registration(const Declaration& found, const std::string& name, bool in_class) {
    const std::string_view shown =
        name.substr(0, 2) == "::" ? std::string_view(name).substr(2) : std::string_view(name);
    code_.insert_after(found.end, fmt::format(" [[maybe_unused]] {}static const bool anygin_variable_{} = "
                                              "::anygin::simt::register_device_variable({}, \"{} ({})\"{});",
                                              in_class ? "inline " : "", ++number_, name, shown,
                                              names_.where_quoted(found.begin), found.is_managed ? ", true" : ""));
  }

  // --- Uses ---

  void rewrite_uses() {
    int unevaluated = kNowhere;
    for (int i = 0; i < code_.size(); ++i) {
      if (is_unevaluated(code_.at(i).text) && code_.is(i + 1, "(")) unevaluated = code_.partner(i + 1);
      if (i < unevaluated || !code_.is_identifier(i)) continue;
      const auto known = variables_.find(code_.at(i).text);
      if (known == variables_.end() || !scopes_.in_device_code(i)) continue;
      if (local_names_.count(i) != 0) continue;
      if (const int end = names_.declared_until(i)) {
        hidden_[known->first] = std::max(hidden_[known->first], end);
      } else {
        use(i, known->second);
      }
    }
  }

  void use(int i, const std::vector<Variable>& variables) {
    if (!names_.may_be_expression(i)) return;
    const std::string written = names_.qualifier_before(i) + std::string(code_.at(i).text);
    for (const Variable& variable : variables) {
      if (!means(i, written, variable)) continue;
      const int first = names_.qualified_begin(i);
      if (!variable.is_template) {
        code_.wrap(first, i, "::anygin::simt::on_device(", ")");
      } else if (const int close = code_.is(i + 1, "<") ? code_.match_angle(i + 1, code_.size()) : kNowhere;
                 close != kNowhere) {
        code_.wrap(first, close, "::anygin::simt::DeviceVariableInstance<", ">::here()");
      }
      return;
    }
  }

  bool means(int i, const std::string& written, const Variable& variable) {
    const auto hidden = hidden_.find(written);
    const bool hides = hidden != hidden_.end() && i < hidden->second;
    if (variable.to != 0) return !hides && i >= variable.from && i < variable.to && written == variable.path;
    if (written.find("::") != std::string::npos) return leads_to(written, variable.path);
    return !hides && !names_.is_parameter(i) && !names_.is_member_function(i);
  }

  // `ns::x` may leave out namespaces that are inline or around the use, or name one by an alias.
  bool leads_to(const std::string& written, const std::string& path) const {
    const std::vector<std::string> want = parts_of(written), have = parts_of(path);
    if (want.empty() || have.empty() || want.back() != have.back()) return false;
    size_t at = 0;
    for (size_t i = 0; i + 1 < want.size(); ++i) {
      if (aliases_.count(want[i]) != 0) return true;
      while (at + 1 < have.size() && have[at] != want[i]) ++at;
      if (at + 1 >= have.size()) return false;
      ++at;
    }
    return true;
  }

  static std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    for (size_t from = 0; from <= path.size();) {
      const size_t end = std::min(path.find("::", from), path.size());
      if (end > from) parts.push_back(path.substr(from, end - from));
      from = end + 2;
    }
    return parts;
  }

  Code& code_;
  const ScopeTable& scopes_;
  const NameReader names_;
  std::set<std::string, std::less<>> aliases_;  // of namespaces
  std::map<std::string, std::vector<Variable>, std::less<>> variables_;
  std::map<std::string, int, std::less<>> hidden_;  // name -> up to where a local one hides it
  std::set<int> local_names_;                       // where local variables are declared
  int number_ = 0;
};

}  // namespace

void rewrite_device_variables(Code& code, const ScopeTable& scopes) {
  DeviceVariableRewriter(code, scopes).run();
}

}  // namespace anygin::rewriter
