// SPDX-License-Identifier: Apache-2.0
#include "unit/fake_verbs.h"

#include <cerrno>
#include <cstring>

#include "anygin/base/assert.h"

namespace anygin::testing {
namespace {

FakeVerbs* fake = nullptr;

FakeCompletionQueue* queue_of(ibv_cq* cq) {
  return reinterpret_cast<FakeCompletionQueue*>(cq);
}
FakePair* pair_of(ibv_qp* qp) {
  return reinterpret_cast<FakePair*>(qp);
}

}  // namespace

// The functions of the table. Each takes the device's lock and fails when the test said so.
struct FakeTable {
  using Lock = std::lock_guard<std::recursive_mutex>;

  static ibv_device** get_device_list(int* count) {
    *count = fake->devices;
    auto** list = new ibv_device*[static_cast<size_t>(fake->devices) + 1]();
    for (int i = 0; i < fake->devices; ++i) list[i] = new ibv_device{};
    fake->made("device list", 1);
    return list;
  }
  static void free_device_list(ibv_device** list) {
    for (ibv_device** device = list; *device != nullptr; ++device) delete *device;
    delete[] list;
    fake->made("device list", -1);
  }
  static const char* get_device_name(ibv_device*) { return "fake0"; }

  template <typename T>
  static T* make(const char* what, const char* function) {
    const Lock lock(fake->mutex);
    if (const int error = fake->failure_of(function); error != 0) {
      errno = error;
      return nullptr;
    }
    fake->made(what, 1);
    return new T{};
  }
  template <typename T>
  static int destroy(const char* what, T* object) {
    const Lock lock(fake->mutex);
    fake->made(what, -1);
    delete object;
    return 0;
  }
  static ibv_context* open_device(ibv_device*) { return make<ibv_context>("context", "open_device"); }
  static int close_device(ibv_context* context) { return destroy("context", context); }
  static ibv_pd* alloc_pd(ibv_context*) { return make<ibv_pd>("pd", "alloc_pd"); }
  static int dealloc_pd(ibv_pd* pd) { return destroy("pd", pd); }

  static int query_device(ibv_context*, ibv_device_attr* attributes) {
    *attributes = ibv_device_attr{};
    attributes->atomic_cap = fake->atomics;
    attributes->max_qp_wr = fake->max_qp_wr;
    attributes->max_cqe = fake->max_cqe;
    attributes->max_qp_rd_atom = 16;
    return fake->failure_of("query_device");
  }
  static int query_port(ibv_context*, uint8_t, ibv_port_attr* attributes) {
    *attributes = ibv_port_attr{};
    attributes->state = fake->port_state;
    attributes->active_mtu = IBV_MTU_4096;
    attributes->lid = 7;
    return 0;
  }
  static int query_gid(ibv_context*, uint8_t, int, ibv_gid* gid) {
    std::memset(gid, 0xAB, sizeof(*gid));
    return 0;
  }

  static ibv_mr* reg_mr(ibv_pd*, void* address, size_t bytes, int) {
    ibv_mr* memory = make<ibv_mr>("mr", "reg_mr");
    if (memory == nullptr) return nullptr;
    memory->addr = address;
    memory->length = bytes;
    memory->lkey = fake->next_number();
    memory->rkey = memory->lkey + 0x10000;
    return memory;
  }
  static int dereg_mr(ibv_mr* memory) { return destroy("mr", memory); }

  static ibv_cq* create_cq(ibv_context*, int entries, void*, ibv_comp_channel*, int) {
    FakeCompletionQueue* queue = make<FakeCompletionQueue>("cq", "create_cq");
    if (queue == nullptr) return nullptr;
    queue->entries = entries;
    return &queue->cq;
  }
  static int destroy_cq(ibv_cq* cq) { return destroy("cq", queue_of(cq)); }

  static ibv_qp* create_qp(ibv_pd*, ibv_qp_init_attr* attributes) {
    const Lock lock(fake->mutex);
    if (const int error = fake->failure_of("create_qp"); error != 0) {
      errno = error;
      return nullptr;
    }
    attributes->cap.max_inline_data = std::min(attributes->cap.max_inline_data, fake->max_inline);
    auto pair = std::make_unique<FakePair>();
    pair->completions = queue_of(attributes->send_cq);
    pair->qp.qp_num = fake->next_number();
    fake->made("qp", 1);
    return &(fake->pairs_[pair->qp.qp_num] = std::move(pair))->qp;
  }
  static int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int) {
    const Lock lock(fake->mutex);
    if (const int error = fake->failure_of("modify_qp"); error != 0) return error;
    FakePair& pair = *pair_of(qp);
    pair.steps.push_back(*attributes);
    pair.state = attributes->qp_state;
    if (pair.state == IBV_QPS_ERR) flush(pair);
    return 0;
  }
  static void flush(FakePair& pair) {
    for (const auto& chain : pair.pending) {
      for (const FakeRequest& request : chain) fake->emit(pair, request, IBV_WC_WR_FLUSH_ERR);
    }
    pair.pending.clear();
  }
  static int destroy_qp(ibv_qp* qp) {
    const Lock lock(fake->mutex);
    fake->made("qp", -1);
    fake->pairs_.erase(qp->qp_num);
    return 0;
  }
  static int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr*) {
    attributes->qp_state = pair_of(qp)->state;
    return 0;
  }

  static int post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
    const Lock lock(fake->mutex);
    FakePair& pair = *pair_of(qp);
    if (const int error = fake->failure_of("post_send"); error != 0) {
      *bad = first;
      return error;
    }
    std::vector<FakeRequest> chain;
    for (const ibv_send_wr* wr = first; wr != nullptr; wr = wr->next) {
      FakeRequest request{*wr, {wr->sg_list, wr->sg_list + wr->num_sge}, ""};
      if ((wr->send_flags & IBV_SEND_INLINE) != 0) {
        for (const ibv_sge& sge : request.scatter) {
          request.inline_bytes.append(reinterpret_cast<const char*>(sge.addr), sge.length);
        }
      }
      chain.push_back(request);
      pair.posted.push_back(request);
    }
    pair.pending.push_back(chain);
    if (pair.state == IBV_QPS_ERR) flush(pair);
    return 0;
  }
  static int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
    const Lock lock(fake->mutex);
    auto& queue = queue_of(cq)->completions;
    int found = 0;
    for (; found < count && !queue.empty(); ++found) {
      completions[found] = queue.front();
      queue.pop_front();
    }
    return found;
  }
  static const char* wc_status_str(ibv_wc_status status) {
    return status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded" : "error";
  }
  static bool accepts_hints(ibv_context*) { return fake->hints; }
  static bool has_completions(ibv_cq* cq) {
    const Lock lock(fake->mutex);
    return !queue_of(cq)->completions.empty();
  }
};

FakeVerbs::FakeVerbs() {
  ANYGIN_ASSERT(fake == nullptr);
  fake = this;
  table_ = {FakeTable::get_device_list, FakeTable::free_device_list, FakeTable::get_device_name, FakeTable::open_device,
            FakeTable::close_device,    FakeTable::query_device,     FakeTable::query_port,      FakeTable::query_gid,
            FakeTable::alloc_pd,        FakeTable::dealloc_pd,       FakeTable::reg_mr,          FakeTable::dereg_mr,
            FakeTable::create_cq,       FakeTable::destroy_cq,       FakeTable::create_qp,       FakeTable::modify_qp,
            FakeTable::query_qp,        FakeTable::destroy_qp,       FakeTable::post_send,       FakeTable::poll_cq,
            FakeTable::wc_status_str,   FakeTable::accepts_hints,    FakeTable::has_completions};
}

FakeVerbs::~FakeVerbs() {
  fake = nullptr;
}

std::vector<uint32_t> FakeVerbs::pair_numbers() {
  std::vector<uint32_t> numbers;
  for (const auto& [number, pair] : pairs_) numbers.push_back(number);
  return numbers;
}

std::string FakeVerbs::alive() {
  std::string text;
  for (const auto& [what, count] : alive_) {
    if (count != 0) text += (text.empty() ? "" : ", ") + what + " " + std::to_string(count);
  }
  return text;
}

int FakeVerbs::failure_of(const std::string& function) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  const auto found = failures.find(function);
  if (found == failures.end() || found->second.empty()) return 0;
  const int error = found->second.front();
  found->second.pop_front();
  return error;
}

void FakeVerbs::made(const char* what, int by) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  alive_[what] += by;
}

void FakeVerbs::emit(FakePair& pair, const FakeRequest& request, ibv_wc_status status) {
  if (status == IBV_WC_SUCCESS && (request.wr.send_flags & IBV_SEND_SIGNALED) == 0) return;
  ibv_wc completion{};
  completion.wr_id = request.wr.wr_id;
  completion.status = status;
  completion.qp_num = pair.qp.qp_num;
  pair.completions->completions.push_back(completion);
}

void FakeVerbs::complete(FakePair& pair) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  ANYGIN_ASSERT(!pair.pending.empty());
  for (const FakeRequest& request : pair.pending.front()) emit(pair, request, IBV_WC_SUCCESS);
  pair.pending.pop_front();
}

void FakeVerbs::fail(FakePair& pair, ibv_wc_status status) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  ANYGIN_ASSERT(!pair.pending.empty());
  auto& chain = pair.pending.front();
  emit(pair, chain.front(), status);
  chain.erase(chain.begin());
  pair.state = IBV_QPS_ERR;
  FakeTable::flush(pair);
}

}  // namespace anygin::testing
