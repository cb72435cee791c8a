// SPDX-License-Identifier: Apache-2.0
// Patterns of sends and receives, each a group: the calls of a group progress together, so that no order of them can
// lock up. The end of a group means that its calls are queued on the stream; the data is there when the stream has
// passed them.
//   sendrecv [pair | ring | scatter | gather | alltoall | neighbours]...      all of them, if none is named
#include <string>

#include "common.h"

namespace {

constexpr size_t kCount = 3000;  // 32-bit words a message

uint32_t element(int from, int to, size_t i) {
  return static_cast<uint32_t>(from) * 100000000u + static_cast<uint32_t>(to) * 1000000u + static_cast<uint32_t>(i);
}

// A message to and one from each rank; the patterns below use some of them.
struct Mail {
  explicit Mail(const RankEnv& env) : env(env), in(env, messages(env)), out(env, written_by(env)) {}

  static size_t messages(const RankEnv& env) { return static_cast<size_t>(env.ranks) * kCount; }
  static std::vector<uint32_t> written_by(const RankEnv& env) {
    std::vector<uint32_t> words;
    for (int to = 0; to < env.ranks; ++to) {
      for (size_t i = 0; i < kCount; ++i) words.push_back(element(env.rank, to, i));
    }
    return words;
  }
  void send(int to) { CHECK_NCCL(ncclSend(out.data() + place(to), kCount, ncclUint32, to, env.comm, env.stream)); }
  void receive(int from) {
    CHECK_NCCL(ncclRecv(in.data() + place(from), kCount, ncclUint32, from, env.comm, env.stream));
    expected.push_back(from);
  }
  static size_t place(int rank) { return static_cast<size_t>(rank) * kCount; }

  const RankEnv& env;
  const DeviceArray<uint32_t> in, out;
  std::vector<int> expected;  // from whom
};

void pair(Mail& mail) {  // 0 and 1, 2 and 3, ...
  const int other = mail.env.rank ^ 1;
  if (other >= mail.env.ranks) return;
  mail.send(other);
  mail.receive(other);
}

void ring(Mail& mail) {
  mail.send((mail.env.rank + 1) % mail.env.ranks);
  mail.receive((mail.env.rank + mail.env.ranks - 1) % mail.env.ranks);
}

void scatter(Mail& mail) {  // from rank 0, also to itself
  for (int to = 0; mail.env.rank == 0 && to < mail.env.ranks; ++to) mail.send(to);
  mail.receive(0);
}

void gather(Mail& mail) {  // to the last rank
  const int root = mail.env.ranks - 1;
  mail.send(root);
  for (int from = 0; mail.env.rank == root && from < mail.env.ranks; ++from) mail.receive(from);
}

void alltoall(Mail& mail) {
  for (int peer = 0; peer < mail.env.ranks; ++peer) {
    mail.send(peer);
    mail.receive(peer);
  }
}

void neighbours(Mail& mail) {  // of a line, whose ends have one
  for (const int peer : {mail.env.rank - 1, mail.env.rank + 1}) {
    if (peer < 0 || peer >= mail.env.ranks) continue;
    mail.send(peer);
    mail.receive(peer);
  }
}

struct Pattern {
  const char* name;
  void (*exchange)(Mail&);
};
constexpr Pattern kPatterns[] = {{"pair", pair},     {"ring", ring},         {"scatter", scatter},
                                 {"gather", gather}, {"alltoall", alltoall}, {"neighbours", neighbours}};

// Every word that was to come, and nothing anywhere else.
int count_wrong(const Mail& mail) {
  std::vector<uint32_t> want(Mail::messages(mail.env));
  for (const int from : mail.expected) {
    for (size_t i = 0; i < kCount; ++i) want[Mail::place(from) + i] = element(from, mail.env.rank, i);
  }
  const std::vector<uint32_t> got = mail.in.on_host();
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != want[i];
  return wrong;
}

int run_pattern(const RankEnv& env, const Pattern& pattern) {
  Mail mail(env);
  CHECK_NCCL(ncclGroupStart());
  pattern.exchange(mail);
  CHECK_NCCL(ncclGroupEnd());
  const std::string text = std::string(pattern.name) + ", " + std::to_string(mail.expected.size()) + " messages came";
  return verdict(env, text.c_str(), count_wrong(mail));
}

int run_chosen(const RankEnv& env, const std::vector<Pattern>& chosen) {
  int wrong = 0;
  for (const Pattern& pattern : chosen) wrong += run_pattern(env, pattern);
  return wrong;
}

// Empty: a name is none of a pattern.
std::vector<Pattern> choose(int argc, char** argv) {
  std::vector<Pattern> chosen;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-r") == 0) {
      ++i;
      continue;
    }
    const size_t before = chosen.size();
    for (const Pattern& pattern : kPatterns) {
      if (std::strcmp(argv[i], pattern.name) == 0) chosen.push_back(pattern);
    }
    if (chosen.size() > before) continue;
    std::fprintf(stderr, "sendrecv: no pattern '%s'; pair, ring, scatter, gather, alltoall and neighbours are\n",
                 argv[i]);
    return {};
  }
  if (chosen.empty()) chosen.assign(std::begin(kPatterns), std::end(kPatterns));
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Pattern> chosen = choose(argc, argv);
  if (chosen.empty()) return 2;
  return run_example(argc, argv, [&](RankEnv& env) { return run_chosen(env, chosen); });
}
