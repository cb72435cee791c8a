// SPDX-License-Identifier: Apache-2.0
// What programs use of MPI, checked by value: the same program runs under our libmpi and under others.
// With an argument it ends badly on purpose: "abort", or "missing" (a rank that ends while another waits for it).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int wrong = 0;
static int rank_ = 0, size_ = 0;

#define EXPECT(condition)                                                               \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      ++wrong;                                                                          \
      std::printf("rank %d: line %d: %s does not hold\n", rank_, __LINE__, #condition); \
    }                                                                                   \
  } while (0)

static void check_reductions() {
  const int mine[3] = {rank_ + 1, -rank_, 1 << rank_};
  int sum[3], most[3], least[3], bits[3];
  MPI_Allreduce(mine, sum, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(mine, most, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(mine, least, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(mine, bits, 3, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
  EXPECT(sum[0] == size_ * (size_ + 1) / 2 && most[0] == size_ && least[1] == 1 - size_ && bits[2] == (1 << size_) - 1);
  double value = 0.5;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(value == 0.5 * size_);
  const unsigned long long big = 1ull << 40;
  unsigned long long product = 0;
  MPI_Reduce(&big, &product, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, size_ - 1, MPI_COMM_WORLD);
  EXPECT(rank_ != size_ - 1 || product == big * static_cast<unsigned long long>(size_));
}

static void check_gathers() {
  const char mine[2] = {static_cast<char>('a' + rank_), '!'};
  std::vector<char> all(2 * static_cast<size_t>(size_), '?'), again(all);
  MPI_Gather(mine, 2, MPI_CHAR, all.data(), 2, MPI_CHAR, 1, MPI_COMM_WORLD);
  MPI_Allgather(mine, 2, MPI_BYTE, again.data(), 2, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) {
    EXPECT(rank_ != 1 || all[2 * static_cast<size_t>(r)] == 'a' + r);
    EXPECT(again[2 * static_cast<size_t>(r)] == 'a' + r && again[2 * static_cast<size_t>(r) + 1] == '!');
  }
  char text[16] = "";
  if (rank_ == size_ - 1) std::strcpy(text, "from the last");
  MPI_Bcast(text, sizeof text, MPI_CHAR, size_ - 1, MPI_COMM_WORLD);
  EXPECT(std::strcmp(text, "from the last") == 0);
}

static void check_messages() {
  const int next = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  std::vector<int> out(300000, rank_), in(300000, -1);
  MPI_Status status;
  MPI_Sendrecv(out.data(), 300000, MPI_INT, next, 5, in.data(), 300000, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(in.front() == left && in.back() == left && status.MPI_SOURCE == left && status.MPI_TAG == 5 &&
         count == 300000);
  if (rank_ != 0) {
    for (int tag : {2, 1}) {
      const int value = rank_ * 10 + tag;
      MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
    return;
  }
  for (int peer = 1; peer < size_; ++peer) {
    int first = 0, second = 0;
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);  // later sent, first asked for
    EXPECT(first == status.MPI_SOURCE * 10 + 1);
    MPI_Recv(&second, 1, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    EXPECT(second == status.MPI_SOURCE * 10 + 2 && status.MPI_TAG == 2);
  }
}

static void check_communicators() {
  MPI_Comm node, half, none, copy;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, -rank_, &half);  // in reverse order
  MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0 ? MPI_UNDEFINED : 3, 0, &none);
  MPI_Comm_dup(half, &copy);
  int half_rank = -1, half_size = -1, sum = 0, copy_sum = 0;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  EXPECT(half_size == (size_ + 1 - rank_ % 2) / 2 && half_rank == half_size - 1 - rank_ / 2);
  EXPECT((none == MPI_COMM_NULL) == (rank_ == 0));
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, half);
  MPI_Allreduce(&rank_, &copy_sum, 1, MPI_INT, MPI_SUM, copy);
  int expected = 0;
  for (int r = rank_ % 2; r < size_; r += 2) expected += r;
  EXPECT(sum == expected && copy_sum == expected);
  int node_size = 0;
  MPI_Comm_size(node, &node_size);
  EXPECT(node_size >= 1 && node_size <= size_);
  MPI_Barrier(copy);
  for (MPI_Comm* comm : {&node, &half, &copy}) MPI_Comm_free(comm);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  EXPECT(half == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  int flag = -1, provided = 0, length = 0;
  MPI_Initialized(&flag);
  EXPECT(flag == 0);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Initialized(&flag);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  EXPECT(flag == 1 && size_ >= 2);
  if (argc > 1 && std::strcmp(argv[1], "abort") == 0 && rank_ == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (argc > 1 && std::strcmp(argv[1], "missing") == 0 && rank_ == 1) std::exit(0);
  const double begin = MPI_Wtime();
  check_reductions();
  check_gathers();
  check_messages();
  check_communicators();
  char text[MPI_MAX_ERROR_STRING];
  EXPECT(MPI_Error_string(MPI_ERR_ARG, text, &length) == MPI_SUCCESS && static_cast<int>(std::strlen(text)) == length);
  EXPECT(MPI_Wtime() >= begin);
  long all_wrong = 0, mine = wrong;
  MPI_Reduce(&mine, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_ == 0) std::printf("%ld wrong: %s\n", all_wrong, all_wrong == 0 ? "PASSED" : "FAILED");
  MPI_Finalize();
  MPI_Finalized(&flag);
  return flag == 1 && wrong == 0 ? 0 : 1;
}
