// SPDX-License-Identifier: Apache-2.0
// How a communicator gets into the program's hands. One that blocks is handed out when it has joined; a non-blocking
// one at once, and it joins in the background. A child joins as its parent blocks (docs/decisions/0032).
#include "anygin/comm/c_api.h"

namespace anygin::comm {
namespace {

Status join(Communicator& communicator, const CommunicatorOpening& opening) {
  const Status joined = communicator.join(opening);
  if (joined.ok()) ProcessState::get().enlist(communicator);
  return joined;
}

Status join_and_hand_out(const JoinRequest& request) {
  Result<std::optional<CommunicatorOpening>> opening = request.plan();
  if (!opening.ok()) return opening.status();
  if (!*opening) return Status();
  auto made = std::make_unique<Communicator>(request.settings);
  ANYGIN_TRY(join(*made, **opening));
  ProcessState::get().admit(*made);
  *request.out = handle_of(made.release());
  return Status();
}

// The program has the handle; what fails is its asynchronous error.
Status join_in_background(const JoinRequest& request, Communicator* handed_out) {
  const Result<std::optional<CommunicatorOpening>> opening = request.plan();
  if (handed_out == nullptr) return opening.status();
  const Status joined = opening.ok() ? join(*handed_out, **opening) : opening.status();
  handed_out->end_work(joined);
  return opening.status();  // the parent has failed if there is no plan; that the child did not join is the child's
}

}  // namespace

Status submit_join(JoinRequest request) {
  *request.out = nullptr;
  GroupJob job;
  job.kind = JobKind::kJoin;
  job.communicator = request.parent;
  job.device = request.device;
  job.blocking = request.parent != nullptr ? request.parent->blocking() : request.settings.blocking;
  if (job.blocking) {
    job.run = [request = std::move(request)] { return join_and_hand_out(request); };
    return group_submit(std::move(job));
  }
  const auto handed_out = std::make_shared<Communicator*>(nullptr);
  job.begin = [handed_out, request] {
    if (!request.takes_part) return;
    *handed_out = new Communicator(request.settings);
    (*handed_out)->begin_work();
    ProcessState::get().admit(**handed_out);
    *request.out = handle_of(*handed_out);
  };
  job.run = [handed_out, request] { return join_in_background(request, *handed_out); };
  return group_submit(std::move(job));
}

}  // namespace anygin::comm
