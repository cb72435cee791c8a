// SPDX-License-Identifier: Apache-2.0
#include "elf_needed.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace anygin::tools {
namespace {

// A folder opens, too, but has no bytes to read.
bool is_file(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::is_regular_file(path, unreadable);
}

std::string find_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    folder.append("/").append(program);
    if (is_file(folder)) return folder;
  }
  return program;
}

// A value at `offset`, or nothing if the file is too short.
template <typename T>
bool read_at(const std::string& file, uint64_t offset, T* value) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(value, file.data() + offset, sizeof(T));
  return true;
}

struct DynamicSection {
  Elf64_Shdr entries{}, strings{};
};

bool find_dynamic(const std::string& file, const Elf64_Ehdr& header, DynamicSection* found) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read_at(file, header.e_shoff + uint64_t{i} * sizeof(section), &section)) return false;
    if (section.sh_type != SHT_DYNAMIC) continue;
    found->entries = section;
    return read_at(file, header.e_shoff + uint64_t{section.sh_link} * sizeof(section), &found->strings);
  }
  return false;
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& program) {
  const std::string path = find_in_path(program);
  if (!is_file(path)) return {};
  std::ifstream stream(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  Elf64_Ehdr header;
  DynamicSection dynamic;
  if (!read_at(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || !find_dynamic(file, header, &dynamic)) {
    return {};
  }
  std::vector<std::string> names;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.entries.sh_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!read_at(file, dynamic.entries.sh_offset + at, &entry) || entry.d_tag == DT_NULL) break;
    const uint64_t name = dynamic.strings.sh_offset + entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED && name < file.size()) names.emplace_back(file.c_str() + name);
  }
  return names;
}

}  // namespace anygin::tools
