// SPDX-License-Identifier: Apache-2.0
// The public names of the API, one a line of names.txt, as they stand in the contract:
//
//   ## Heading                          a table of the document
//   ncclGetVersion                      a function, type, constant or macro
//   ncclConfig_t.blocking               a member
//   nccl::utility::divUp                a helper
//   ncclGin.put(ncclSymPtr)             one of several forms: a test says which one it calls (test_cases.h)
//   NAME | note                         what a reader has to know of it
//   NAME = compile: why                 nothing happens at run time that a test could see
//   NAME = refused CODE: why            there is nothing that it could do here
//   NAME = missing: what                no test yet; an error as soon as there is one
//   alias ncclGin ncclGin_BackendMask   whose members are whose
//   ignore NAME: why                    declared by our headers and no name of the contract
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace anygin::coverage {

enum class Expected { kRun, kCompile, kRefused, kMissing };

struct Name {
  std::string text;   // as written
  std::string owner;  // "ncclConfig_t", "utility"; empty: none
  std::string token;  // "blocking": what stands in a test's source
  bool is_form = false;
  bool is_member = false;
  Expected expected = Expected::kRun;
  std::string code;  // of a refusal
  std::string why, note;
};

struct Heading {
  std::string title;
  std::vector<Name> names;
};

struct Names {
  std::vector<Heading> headings;
  std::map<std::string, std::set<std::string>> aliases;
  std::set<std::string> ignored;
  std::vector<std::string> errors;  // lines that are none of the above, names that come twice
};

Names parse_names(const std::string& text);

// Functions that lib/comm/c_api_not_yet.cc declares are refused with ncclInvalidUsage, whatever names.txt says.
void mark_not_yet(Names& names, const std::string& source_of_not_yet);

}  // namespace anygin::coverage
