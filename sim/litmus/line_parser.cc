// SPDX-License-Identifier: Apache-2.0
// Words first, then a function a statement.
#include "anygin/sim/litmus/line_parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace anygin::litmus {

LineParser::LineParser(const std::string& text, ProgramBuilder& builder) : text_(text), builder_(builder) {
  std::string error;
  if (!split_line(text, &tokens_, &error)) throw BuildError(error);
}

// --- Words -----------------------------------------------------------------------------------------------------------

void LineParser::expected(const char* what) const {
  const std::string found = next().kind == Token::kEnd ? "the line ends" : fmt::format("'{}' stands", next().text);
  throw BuildError(fmt::format("{} where {} is expected", found, what));
}

Token LineParser::take() {
  return next().kind == Token::kEnd ? tokens_[at_] : tokens_[at_++];
}

bool LineParser::take_if(const char* text) {
  if (next().kind == Token::kEnd || next().text != text) return false;
  ++at_;
  return true;
}

void LineParser::need(const char* text, const char* where) {
  if (!take_if(text)) expected(fmt::format("'{}' {}", text, where).c_str());
}

std::string LineParser::name(const char* what) {
  if (next().kind != Token::kName) expected(what);
  return take().text;
}

uint64_t LineParser::number(const char* what) {
  if (next().kind != Token::kNumber) expected(what);
  return take().number;
}

uint32_t LineParser::number_below(uint32_t limit, const char* what) {
  const uint64_t value = number(what);
  if (value >= limit) throw BuildError(fmt::format("{} is {}: it goes from 0 to {}", what, value, limit - 1));
  return static_cast<uint32_t>(value);
}

Rank LineParser::rank(const char* what) {
  if (builder_.program.ranks == 0) throw BuildError("say 'ranks 2' before the first line that names a rank");
  return static_cast<Rank>(number_below(static_cast<uint32_t>(builder_.program.ranks), what));
}

// A letter and a number in one word: "s0", "c1".
uint32_t LineParser::numbered(char letter, uint32_t limit, const char* what) {
  const std::string& text = next().text;
  const bool good = next().kind == Token::kName && text.size() >= 2 && text.size() <= 3 && text[0] == letter &&
                    std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!good) expected(what);
  const auto value = static_cast<uint32_t>(std::stoul(text.substr(1)));
  if (value >= limit) throw BuildError(fmt::format("{}: {}0 to {}{} exist", text, letter, letter, limit - 1));
  take();
  return value;
}

LineParser::Named LineParser::signal_or_counter() {
  const bool is_signal = next().text.substr(0, 1) != "k";
  return {is_signal, numbered(is_signal ? 's' : 'k', kIdsMax, "a signal (s0) or counter (k0)")};
}

uint8_t LineParser::cell_of(Named named, uint32_t context) {
  const Rank owner = builder_.rank();
  return named.is_signal ? builder_.signal_cell(owner, context, named.id)
                         : builder_.counter_cell(owner, context, named.id);
}

// [first] or [first:count], or nothing.
std::optional<ProgramBuilder::Slice> LineParser::slice() {
  if (!take_if("[")) return std::nullopt;
  ProgramBuilder::Slice slice;
  slice.first = number_below(kCellsMax, "the granule's number");
  if (take_if(":")) {
    slice.count = number_below(kCellsMax, "the number of granules");
    if (slice.count == 0) throw BuildError("a part has at least one granule: [first:count]");
  }
  need("]", "behind the granules: [0] or [0:2]");
  return slice;
}

Range LineParser::local_range() {
  const std::string buffer = name("a buffer of this thread's rank");
  return builder_.range(builder_.rank(), buffer, slice());
}

uint8_t LineParser::granule(Rank owner) {
  const std::string buffer = name("a buffer");
  const auto part = slice();
  if (!part || part->count != 1) expected("one granule: name[0]");
  return builder_.range(owner, buffer, part).first;
}

uint32_t LineParser::on_context() {
  if (!take_if("on")) return 0;
  return numbered('c', static_cast<uint32_t>(builder_.program.contexts), "a context (c0; 'contexts 2' makes more)");
}

// "inc s0" or "add s0 5", behind its strength.
void LineParser::strength(Actions& actions) {
  actions.strong = take_if("strong");
  if (!actions.strong) need("weak", "or 'strong' before inc or add");
  const bool adds = take_if("add");
  if (!adds) need("inc", "or 'add'");
  actions.signal = numbered('s', kIdsMax, "a signal (s0)");
  actions.add = adds ? number("what 'add' adds") : 1;
}

Actions LineParser::actions() {
  Actions actions;
  while (next().kind != Token::kEnd) {
    (void)take_if(",");
    if (next().text == "strong" || next().text == "weak") {
      if (actions.signal) throw BuildError("a put has one signal; put nothing to send another");
      strength(actions);
    } else if (take_if("count")) {
      actions.counter = numbered('k', kIdsMax, "a counter (k0)");
    } else if (next().text == "on") {
      actions.context = on_context();
    } else {
      expected("'strong inc s0', 'weak add s0 5', 'count k0' or 'on c0'");
    }
  }
  return actions;
}

void LineParser::end() {
  if (next().kind != Token::kEnd) expected("the end of the line");
}

// --- Which statement -------------------------------------------------------------------------------------------------

void LineParser::statement(int line) {
  const std::string word = name("a statement");
  if (word == "exactly") return outcomes(Verdict::kExactly, line);
  if (word == "allowed") return outcomes(Verdict::kAllowed, line);
  if (word == "forbidden") return outcomes(Verdict::kForbidden, line);
  if (!builder_.program.statements.empty()) {
    throw BuildError("outcomes come last; move this line before the first 'exactly', 'allowed' or 'forbidden'");
  }
  if (!header(word) && !operation(word) && !access(word)) {
    throw BuildError(
        fmt::format("no statement '{}'; there are: litmus row race ranks contexts memory signal counter "
                    "thread put putvalue get wait read load store flush ask await barrier sync final "
                    "exactly allowed forbidden",
                    word));
  }
  end();
}

bool LineParser::header(const std::string& word) {
  if (word == "litmus") {
    litmus();
  } else if (word == "ranks" || word == "contexts") {
    if (!builder_.program.cells.empty() || !builder_.program.threads.empty()) {
      throw BuildError(fmt::format("'{}' comes before memory, signals, counters and threads", word));
    }
    int& field = word == "ranks" ? builder_.program.ranks : builder_.program.contexts;
    const int most = word == "ranks" ? kRanksMax : kContextsMax;
    const uint64_t value = number("how many");
    if (value < 1 || value > static_cast<uint64_t>(most)) {
      throw BuildError(fmt::format("{} {}: from 1 to {}", word, value, most));
    }
    field = static_cast<int>(value);
  } else if (word == "memory") {
    memory();
  } else if (word == "counter") {
    initial(false);
  } else if (word == "signal" && builder_.program.threads.empty()) {
    initial(true);
  } else if (word == "thread") {
    builder_.begin_thread(rank("the thread's rank"));
  } else if (word == "final") {
    load(true);
  } else {
    return false;
  }
  return true;
}

bool LineParser::operation(const std::string& word) {
  if (word == "put") {
    put();
  } else if (word == "putvalue") {
    put_value();
  } else if (word == "signal") {
    signal();
  } else if (word == "get") {
    get();
  } else if (word == "flush") {
    flush();
  } else if (word == "ask") {
    ask();
  } else if (word == "await") {
    builder_.await(name("a request"), text_);
  } else if (word == "barrier") {
    barrier();
  } else if (word == "sync") {
    builder_.sync(text_);
  } else {
    return false;
  }
  return true;
}

bool LineParser::access(const std::string& word) {
  if (word == "wait") {
    wait();
  } else if (word == "read") {
    read();
  } else if (word == "load") {
    load(false);
  } else if (word == "store") {
    store();
  } else {
    return false;
  }
  return true;
}

// --- Header ----------------------------------------------------------------------------------------------------------

void LineParser::litmus() {
  if (!builder_.program.name.empty()) throw BuildError("a file holds one litmus program");
  builder_.program.name = name("the program's name");
}

// memory 0: x[2] = 1 2, y[1]
void LineParser::memory() {
  const Rank owner = rank("the rank");
  need(":", "behind the rank");
  do {
    const std::string buffer = name("a buffer's name");
    need("[", "and its granules: name[2]");
    const uint64_t count = number("the number of granules");
    if (count < 1 || count > kCellsMax) throw BuildError(fmt::format("{} granules: from 1 to {}", count, kCellsMax));
    need("]", "behind the number of granules");
    std::vector<uint64_t> values(count, 0);
    if (take_if("=")) {
      for (uint64_t& value : values) value = number("a value a granule");
    }
    builder_.add_memory(owner, buffer, values);
  } while (take_if(","));
}

// signal 1: s0 = 5 on c0
void LineParser::initial(bool is_signal) {
  const Rank owner = rank("the rank");
  need(":", "behind the rank");
  const uint32_t id = numbered(is_signal ? 's' : 'k', kIdsMax, is_signal ? "a signal (s0)" : "a counter (k0)");
  need("=", "and the raw value it begins with");
  const uint64_t value = number("a raw value");
  if (!is_signal && value >> kCounterBits != 0) throw BuildError("a counter has 56 bits: at most 0xffffffffffffff");
  const uint32_t context = on_context();
  const uint8_t cell = is_signal ? builder_.signal_cell(owner, context, id) : builder_.counter_cell(owner, context, id);
  builder_.program.cells[cell].initial = value;
}

// --- Operations ------------------------------------------------------------------------------------------------------

void LineParser::put() {
  const Rank peer = rank("the peer");
  if (take_if("nothing")) return builder_.put_nothing(peer, actions(), text_);
  need(":", "and the peer's buffer, or 'nothing'");
  const std::string buffer = name("a buffer of the peer");
  const Range to = builder_.range(peer, buffer, slice());
  need("<-", "and a source");
  const Range from = local_range();
  builder_.put(peer, to, from, actions(), text_);
}

void LineParser::put_value() {
  const Rank peer = rank("the peer");
  need(":", "and the peer's granule");
  const std::string buffer = name("a buffer of the peer");
  const Range to = builder_.range(peer, buffer, slice());
  need("<-", "and the value");
  const uint64_t value = number("a value");
  builder_.put_value(peer, to, value, actions(), text_);
}

void LineParser::signal() {
  const Rank peer = rank("the peer");
  (void)take_if(",");
  if (next().text != "strong" && next().text != "weak") expected("'strong inc s0' or 'weak inc s0'");
  builder_.put_nothing(peer, actions(), text_);
}

void LineParser::get() {
  const Range to = local_range();
  need("<-", "and the peer's buffer: 1:y");
  const Rank peer = rank("the peer");
  need(":", "and the peer's buffer");
  const std::string buffer = name("a buffer of the peer");
  const Range from = builder_.range(peer, buffer, slice());
  (void)take_if(",");
  builder_.get(to, peer, from, on_context(), text_);
}

void LineParser::flush() {
  std::optional<Rank> peer;
  if (next().kind == Token::kNumber) peer = rank("the peer");
  (void)take_if(",");
  builder_.flush(peer, on_context(), text_);
}

// ask 1 -> q
void LineParser::ask() {
  const Rank peer = rank("the peer");
  need("->", "and a name for the request");
  const std::string request = name("a name for the request");
  (void)take_if(",");
  builder_.ask(request, peer, on_context(), text_);
}

// barrier none|put|get|put get [b1] [on c1|on all]
void LineParser::barrier() {
  Barrier barrier;
  if (!take_if("none")) {
    barrier.put = take_if("put");
    barrier.get = take_if("get");
    if (!barrier.put && !barrier.get) expected("'none', 'put', 'get' or 'put get'");
  }
  if (next().text.substr(0, 1) == "b") barrier.index = numbered('b', 2, "a barrier (b0)");
  if (next().text == "on" && tokens_[at_ + 1].text == "all") {
    at_ += 2;
    barrier.all_contexts = true;
  } else {
    barrier.context = on_context();
  }
  end();
  builder_.barrier(barrier, text_);
}

// --- Accesses --------------------------------------------------------------------------------------------------------

// wait s0 >= 1 [bits 32] [on c1]
void LineParser::wait() {
  const Named named = signal_or_counter();
  need(">=", "and a value");
  Micro micro;
  micro.kind = MicroKind::kWait;
  micro.value = number("a value");
  micro.bits = named.is_signal ? 64 : kCounterBits;
  if (take_if("bits")) {
    const uint64_t bits = number("a width");
    if (bits < 1 || bits > static_cast<uint64_t>(micro.bits)) {
      throw BuildError(fmt::format("{} bits: from 1 to {}", bits, micro.bits));
    }
    micro.bits = static_cast<int>(bits);
  }
  micro.cell = cell_of(named, on_context());
  micro.text = text_;
  builder_.append(std::move(micro));
}

// read s0 [relaxed] -> r [on c1]
void LineParser::read() {
  const Named named = signal_or_counter();
  Micro micro;
  micro.kind = take_if("relaxed") ? MicroKind::kReadRelaxed : MicroKind::kRead;
  need("->", "and a register");
  micro.reg = builder_.new_register(name("a register"));
  micro.bits = named.is_signal ? 64 : kCounterBits;
  micro.cell = cell_of(named, on_context());
  micro.text = text_;
  builder_.append(std::move(micro));
}

// load d[0] -> r; final 1:d[0] -> r
void LineParser::load(bool final) {
  Rank owner = 0;
  if (final) {
    owner = rank("the rank");
    need(":", "and its granule");
  } else {
    owner = builder_.rank();
    if (!builder_.program.finals.empty()) throw BuildError("'final' lines come after all threads");
  }
  const uint8_t cell = granule(owner);
  need("->", "and a register");
  const uint8_t reg = builder_.new_register(name("a register"));
  if (final) {
    builder_.program.finals.push_back(cell);
    return;
  }
  Micro micro;
  micro.kind = MicroKind::kLoad;
  micro.cell = cell;
  micro.reg = reg;
  micro.text = text_;
  builder_.append(std::move(micro));
}

// store x[0] = 5
void LineParser::store() {
  Micro micro;
  micro.kind = MicroKind::kStore;
  micro.cell = granule(builder_.rank());
  need("=", "and a value");
  micro.value = number("a value");
  micro.text = text_;
  builder_.append(std::move(micro));
}

// --- Outcomes --------------------------------------------------------------------------------------------------------

Pattern LineParser::pattern(bool whole) {
  constexpr size_t kOutcomesMax = 4096;
  Pattern pattern;
  size_t outcomes = 1;
  if (take_if("finishes")) return pattern;
  while (next().kind != Token::kEnd) {
    Field field;
    field.reg = builder_.find_register(name("a register"));
    for (const Field& other : pattern) {
      if (other.reg == field.reg) throw BuildError("a register stands twice; give its values as r=1|2");
    }
    need("=", "and a value");
    do field.values.push_back(number("a value"));
    while (take_if("|"));
    outcomes *= field.values.size();
    if (outcomes > kOutcomesMax) throw BuildError(fmt::format("more than {} outcomes in one line", kOutcomesMax));
    pattern.push_back(std::move(field));
  }
  for (size_t i = 0; whole && i < builder_.program.registers.size(); ++i) {
    if (std::none_of(pattern.begin(), pattern.end(), [i](const Field& field) { return field.reg == i; })) {
      throw BuildError(fmt::format("'exactly' names every register; '{}' is missing", builder_.program.registers[i]));
    }
  }
  return pattern;
}

// exactly inorder cx7: r=1 ...
void LineParser::outcomes(Verdict verdict, int line) {
  Statement statement;
  statement.verdict = verdict;
  statement.line = line;
  while (!take_if(":")) {
    const std::string word = name("a profile (inorder cx7 relaxed srd, or all) or ':'");
    bool known = word == "all";
    for (int p = 0; p < kProfiles; ++p) {
      const bool is_this = word == name_of(static_cast<Profile>(p));
      statement.profiles[p] = statement.profiles[p] || is_this || word == "all";
      known = known || is_this;
    }
    if (!known) throw BuildError(fmt::format("no profile '{}'; there are: inorder cx7 relaxed srd, or all", word));
  }
  if (tokens_[1].text == ":") throw BuildError("name the profiles: inorder cx7 relaxed srd, or all");
  statement.pattern = pattern(verdict == Verdict::kExactly);
  builder_.program.statements.push_back(std::move(statement));
}

}  // namespace anygin::litmus
