// SPDX-License-Identifier: Apache-2.0
// `anygin trace`: one simulated run, its event stream turned into a picture.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "anygin/base/whole_file.h"
#include "check_command.h"
#include "output_file.h"
#include "perfetto.h"
#include "run_command.h"

namespace anygin::tools {

int run_trace(const TraceRequest& request) {
  SimRunRequest run = request.run;
  run.events_file = fmt::format("{}.{}.events", request.out_file, getpid());
  const SimRun ran = run_simulated(run);
  const Result<std::string> text = read_file(run.events_file);
  std::remove(run.events_file.c_str());
  std::fwrite(ran.output.data(), 1, ran.output.size(), stderr);
  if (!text.ok()) {
    fmt::print(stderr, "anygin trace: the run wrote no events: {}\n", ran.why());
    return kExitEnvironment;
  }
  const Result<std::vector<FileEvent>> events = read_events(*text);
  if (!events.ok()) {
    fmt::print(stderr, "anygin trace: {}\n", events.status().message());
    return kExitEnvironment;
  }
  const Picture picture = picture_of(*events);
  const bool still = TraceRequest::is_still(request.out_file);
  if (!write_output("trace", request.out_file, still ? picture.svg() : picture.json())) return kExitEnvironment;
  fmt::print("{}: {} events; open it {}\n", request.out_file, events->size(),
             still ? "with a browser" : "at ui.perfetto.dev");
  return 0;
}

}  // namespace anygin::tools
