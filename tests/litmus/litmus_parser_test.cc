// SPDX-License-Identifier: Apache-2.0
// What the parser makes of good lines, what it says of bad ones, and that no garbage breaks it.
#include <fstream>
#include <random>
#include <sstream>

#include "litmus/litmus_files.h"
#include "support/reaches.h"

namespace anygin::litmus {
namespace {

constexpr const char* kHead = "litmus t\nranks 2\ncontexts 2\nmemory 0: x[2] = 1 2\nmemory 1: d[2]\nthread 0\n";
constexpr const char* kTail = "\nexactly all: finishes\n";

// The error of a statement in thread 0, which stands in line 7.
std::string error_of(const std::string& statement) {
  const Result<Program> program = parse_litmus("f", kHead + statement + kTail);
  return program.ok() ? "" : program.status().text();
}

struct Wrong {
  const char* name;
  const char* line;
  const char* error;
  const char* right;  // the same with that one thing corrected
};

class LitmusParser : public ::testing::TestWithParam<Wrong> {};

TEST_P(LitmusParser, SaysWhereWhatAndWhatWouldBeRight) {
  EXPECT_EQ(error_of(GetParam().line), std::string("f:7: ") + GetParam().error);
  EXPECT_EQ(error_of(GetParam().right), "");
}

const Wrong kWrong[] = {
    {"no_such_statement", "putt 1:d <- x",
     "no statement 'putt'; there are: litmus row race ranks contexts memory signal counter thread put putvalue get "
     "wait "
     "read load store flush ask await barrier sync final exactly allowed forbidden",
     "put 1:d <- x"},
    {"no_strength", "put 1:d <- x, inc s0",
     "'inc' stands where 'strong inc s0', 'weak add s0 5', 'count k0' or 'on c0' "
     "is expected",
     "put 1:d <- x, weak inc s0"},
    {"lengths", "put 1:d[0] <- x", "1 granules from 2: both sides need as many; name a part with [first:count]",
     "put 1:d[0] <- x[1]"},
    {"no_buffer", "put 1:e <- x", "rank 1 has no buffer 'e'; declare it: 'memory 1: e[2]'", "put 1:d <- x"},
    {"granule", "store x[2] = 1", "'x' of rank 0 has the granules 0 to 1", "store x[1] = 1"},
    {"peer", "put 2:d <- x", "the peer is 2: it goes from 0 to 1", "put 1:d <- x"},
    {"context", "flush on c2", "c2: c0 to c1 exist", "flush on c1"},
    {"arrow", "get x -> 1:d", "'->' stands where '<-' and the peer's buffer: 1:y is expected", "get x <- 1:d"},
    {"request", "await q", "no request 'q'; make it before: 'ask 1 -> q'", "ask 1 -> q\nawait q"},
    {"fence", "barrier all", "'all' stands where 'none', 'put', 'get' or 'put get' is expected", "barrier put on all"},
    {"bits", "wait k0 >= 1 bits 57", "57 bits: from 1 to 56", "wait k0 >= 1 bits 56"},
    {"number", "store x[0] = 18446744073709551616",
     "'18446744073709551616' is no number; numbers are 0 to 18446744073709551615, or hexadecimal after 0x",
     "store x[0] = 18446744073709551615"},
    {"byte", "store x[0] = -1",
     "column 14: byte 0x2d begins no word here; words are names, numbers and : [ ] = , | <- -> >=; '#' begins a "
     "comment",
     "store x[0] = 0xffffffffffffffff"},
    {"more", "flush 1 on c0 now", "'now' stands where the end of the line is expected", "flush 1 on c0"},
    {"ends", "wait s0 >=", "the line ends where a value is expected", "wait s0 >= 1"},
    {"signals", "wait s8 >= 1", "s8: s0 to s7 exist", "wait s7 >= 1"},
    {"nothing", "put 1 nothing", "a put of nothing needs an action: 'strong inc s0'", "put 1 nothing, count k0"},
};

INSTANTIATE_TEST_SUITE_P(Errors, LitmusParser, ::testing::ValuesIn(kWrong),
                         [](const auto& instance) { return std::string(instance.param.name); });

std::string whole_error(const std::string& text) {
  const Result<Program> program = parse_litmus("f", text);
  return program.ok() ? "" : program.status().text();
}

TEST(LitmusParserWhole, NeedsNameThreadsAndOutcomes) {
  EXPECT_EQ(whole_error("ranks 2\n"), "f:1: no name; the first line is 'litmus NAME'");
  EXPECT_EQ(whole_error("litmus t\n"), "f:1: no thread; add 'thread 0' and its statements");
  EXPECT_EQ(whole_error("litmus t\nranks 1\nthread 0\n"),
            "f:1: no outcomes; add 'exactly all: ...', 'allowed PROFILES: ...' or 'forbidden PROFILES: ...'");
  EXPECT_EQ(whole_error("litmus t\nthread 0\n"), "f:2: say 'ranks 2' before the first line that names a rank");
  EXPECT_EQ(whole_error("litmus t\nranks 2\nput 1 nothing, count k0\n"),
            "f:3: a statement outside a thread; begin one: 'thread 0'");
}

TEST(LitmusParserWhole, OutcomesNameWhatExists) {
  const std::string head = std::string(kHead) + "load x[0] -> a\nload x[1] -> b\n";
  EXPECT_EQ(whole_error(head + "exactly all: a=1\n"), "f:9: 'exactly' names every register; 'b' is missing");
  EXPECT_EQ(whole_error(head + "exactly all: a=1 c=1\n"), "f:9: nothing writes register 'c'; there are: a b");
  EXPECT_EQ(whole_error(head + "exactly fast: a=1 b=2\n"),
            "f:9: no profile 'fast'; there are: inorder cx7 relaxed srd, or all");
  EXPECT_EQ(whole_error(head + "exactly all: a=1 b=2\nload x[0] -> c\n"),
            "f:10: outcomes come last; move this line before the first 'exactly', 'allowed' or 'forbidden'");
  EXPECT_EQ(whole_error(head + "exactly all: a=1 b=2|3\n"), "");
}

TEST(LitmusParserWhole, AFileThatIsNotThere) {
  REACHES(GIN_ERR_TOOL_INPUT, read_litmus("/nowhere.litmus").status());
  EXPECT_EQ(read_litmus("/nowhere.litmus").status().text(),
            "/nowhere.litmus:1: cannot be read; name a .litmus file, such as those of tests/litmus");
}

TEST(LitmusParserWhole, LimitsAreNamed) {
  std::string many = kHead;
  for (int i = 0; i < 13; ++i) many += "load x[0] -> r" + std::to_string(i) + "\n";
  EXPECT_EQ(whole_error(many + kTail), "f:19: too many registers: a litmus program has at most 12");
}

std::string contents_of(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string damaged(std::string text, std::mt19937_64& random) {
  static const std::string kBytes = "01289 sckbxd:[]=,|<->\n#@\x80";
  for (uint64_t edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
    const size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text.erase(at, 1 + random() % 8);
        break;
      case 1:
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
        break;
      case 2:
        text[at] = kBytes[random() % kBytes.size()];
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

// Whatever stands in a file: a program that can be judged, or an error that begins with file and line.
TEST(LitmusParserWhole, GarbageIsRefusedByLine) {
  std::mt19937_64 random(1);
  int refused = 0, taken = 0;
  for (const std::string& path : litmus_paths()) {
    const std::string text = contents_of(path);
    for (int i = 0; i < 250; ++i) {
      const std::string bad = damaged(text, random);
      const Result<Program> program = parse_litmus("f", bad);
      if (program.ok()) {
        ++taken;
        (void)disagreements(*program, Profile::kRelaxed, {Outcome(program->registers.size())}, true);
        continue;
      }
      ++refused;
      const std::string& error = program.status().text();
      const size_t colon = error.find(':', 2);
      ASSERT_EQ(error.rfind("f:", 0), 0u) << error;
      ASSERT_NE(colon, std::string::npos) << error;
      const int line = std::stoi(error.substr(2, colon - 2));
      ASSERT_GE(line, 1);
      ASSERT_LE(line, 1 + std::count(bad.begin(), bad.end(), '\n'));
      ASSERT_GT(error.size(), colon + 10) << error;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 500);  // damaged comments, values, outcomes
}

}  // namespace
}  // namespace anygin::litmus
