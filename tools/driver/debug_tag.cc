// SPDX-License-Identifier: Apache-2.0
#include "debug_tag.h"

#include <elf.h>

#include <cstring>
#include <fstream>

namespace anygin::driver {
namespace {

template <typename T>
bool read_at(std::fstream& file, uint64_t offset, T* value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(value), sizeof *value));
}

bool find_dynamic(std::fstream& file, Elf64_Phdr* found) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    if (!read_at(file, header.e_phoff + uint64_t{i} * sizeof *found, found)) return false;
    if (found->p_type == PT_DYNAMIC) return true;
  }
  return false;
}

}  // namespace

bool add_debug_tag(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  Elf64_Phdr dynamic;
  if (!file || !find_dynamic(file, &dynamic)) return false;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!read_at(file, dynamic.p_offset + at, &entry)) return false;
    if (entry.d_tag == DT_DEBUG) return true;
    if (entry.d_tag != DT_NULL) continue;
    if (at + 2 * sizeof(Elf64_Dyn) > dynamic.p_filesz) return false;  // the list must still end
    entry.d_tag = DT_DEBUG;
    file.seekp(static_cast<std::streamoff>(dynamic.p_offset + at));
    return static_cast<bool>(file.write(reinterpret_cast<const char*>(&entry), sizeof entry).flush());
  }
  return false;
}

}  // namespace anygin::driver
