// SPDX-License-Identifier: Apache-2.0
// Parameters: what the library read from the environment, by the names of the variables (contract 2.6). A handle is a
// row of the table of variables; values are those of when the environment was read.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "anygin/comm/c_api.h"
#include "anygin/comm/parameters.h"

namespace anygin::comm {
namespace {

const OptionInfo* row_of(std::string_view key) {
  for (const OptionInfo& row : option_table()) {
    if (row.name == key) return &row;
  }
  return nullptr;
}

const OptionInfo* row_of(ncclParamHandle_t handle) {
  for (const OptionInfo& row : option_table()) {
    if (handle == reinterpret_cast<ncclParamHandle_t>(const_cast<OptionInfo*>(&row))) return &row;
  }
  return nullptr;
}

Status bind(ncclParamHandle_t* out, const char* key) {
  constexpr const char* kWhere = "ncclParamBind";
  if (out == nullptr) return Status(Cause::kNullArgument, kWhere, "out is NULL");
  if (key == nullptr) return Status(Cause::kNullArgument, kWhere, "key is NULL");
  const OptionInfo* row = row_of(std::string_view(key));
  if (row == nullptr) {
    return Status(Cause::kParameterUnknown, kWhere, fmt::format("{} is no variable that this library reads", key));
  }
  *out = reinterpret_cast<ncclParamHandle_t>(const_cast<OptionInfo*>(row));
  return Status();
}

Result<std::string> value_of(const char* where, ncclParamHandle_t handle, const void* out, OptionType type) {
  if (out == nullptr) return Status(Cause::kNullArgument, where, "out is NULL");
  const OptionInfo* row = row_of(handle);
  if (row == nullptr) return Status(Cause::kParameterUnknown, where, "this is no handle of ncclParamBind");
  if (row->type != type) {
    constexpr const char* kTypes[] = {"a text", "an int32_t", "a uint64_t"};
    return Status(Cause::kParameterType, where,
                  fmt::format("{} is {}", row->name, kTypes[static_cast<size_t>(row->type)]));
  }
  return *option_value(options(), row->name);
}

template <typename T>
constexpr OptionType type_of() {
  if (std::is_same_v<T, int32_t>) return OptionType::kInt32;
  return OptionType::kUint64;
}

template <typename T>
ncclResult_t get_number(const char* where, ncclParamHandle_t handle, T* out) {
  constexpr bool kHeld = std::is_same_v<T, int32_t> || std::is_same_v<T, uint64_t>;
  const OptionInfo* row = row_of(handle);
  if (!kHeld && out != nullptr && row != nullptr) {
    return refuse(Cause::kParameterType, where, fmt::format("{} is of another type", row->name));
  }
  Result<std::string> value = value_of(where, handle, out, type_of<T>());
  ANYGIN_NCCL_TRY(value.status());
  *out = static_cast<T>(row->type == OptionType::kInt32 ? std::stoll(*value)
                                                        : static_cast<long long>(std::stoull(*value)));
  return ncclSuccess;
}

// The value's bytes: those of a number, or of a text with the zero behind it.
Status get_bytes(ncclParamHandle_t handle, void* out, int most, int* length) {
  constexpr const char* kWhere = "ncclParamGet";
  const OptionInfo* row = row_of(handle);
  Result<std::string> value = value_of(kWhere, handle, out, row != nullptr ? row->type : OptionType::kText);
  if (!value.ok()) return value.status();
  if (length == nullptr) return Status(Cause::kNullArgument, kWhere, "len is NULL");
  const int32_t small = row->type == OptionType::kInt32 ? static_cast<int32_t>(std::stol(*value)) : 0;
  const uint64_t large = row->type == OptionType::kUint64 ? std::stoull(*value) : 0;
  const void* from = value->c_str();
  size_t bytes = value->size() + 1;
  if (row->type == OptionType::kInt32) from = &small, bytes = sizeof(small);
  if (row->type == OptionType::kUint64) from = &large, bytes = sizeof(large);
  if (most < 0 || static_cast<size_t>(most) < bytes) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("maxLen is {}; {} takes {} bytes", most, row->name, bytes));
  }
  std::memcpy(out, from, bytes);
  *length = static_cast<int>(bytes);
  return Status();
}

Status get_parameter(const char* key, const char** value, int* length) {
  constexpr const char* kWhere = "ncclParamGetParameter";
  if (value == nullptr) return Status(Cause::kNullArgument, kWhere, "value is NULL");
  if (length == nullptr) return Status(Cause::kNullArgument, kWhere, "valueLen is NULL");
  ncclParamHandle_t handle = nullptr;
  ANYGIN_TRY(bind(&handle, key));
  const std::string text = *option_value(options(), key);
  *length = static_cast<int>(text.size());
  *value = keep_parameter_text(text);
  return Status();
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclParamBind, (ncclParamHandle_t * out, const char* key)) {
  ANYGIN_NCCL_CALL("ncclParamBind");
  return report(bind(out, key));
}

#define ANYGIN_PARAM_GETTER(name, type)                                         \
  ANYGIN_NCCL_FUNCTION(ncclResult_t, name, (ncclParamHandle_t h, type * out)) { \
    ANYGIN_NCCL_CALL(#name);                                                    \
    return get_number(#name, h, out);                                           \
  }
ANYGIN_PARAM_GETTER(ncclParamGetI8, int8_t)
ANYGIN_PARAM_GETTER(ncclParamGetI16, int16_t)
ANYGIN_PARAM_GETTER(ncclParamGetI32, int32_t)
ANYGIN_PARAM_GETTER(ncclParamGetI64, int64_t)
ANYGIN_PARAM_GETTER(ncclParamGetU8, uint8_t)
ANYGIN_PARAM_GETTER(ncclParamGetU16, uint16_t)
ANYGIN_PARAM_GETTER(ncclParamGetU32, uint32_t)
ANYGIN_PARAM_GETTER(ncclParamGetU64, uint64_t)

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclParamGetStr, (ncclParamHandle_t h, const char** out)) {
  ANYGIN_NCCL_CALL("ncclParamGetStr");
  Result<std::string> value = value_of("ncclParamGetStr", h, out, OptionType::kText);
  ANYGIN_NCCL_TRY(value.status());
  *out = keep_parameter_text(*value);
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclParamGet, (ncclParamHandle_t h, void* out, int maxLen, int* len)) {
  ANYGIN_NCCL_CALL("ncclParamGet");
  return report(get_bytes(h, out, maxLen, len));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclParamGetParameter, (const char* key, const char** value, int* valueLen)) {
  ANYGIN_NCCL_CALL("ncclParamGetParameter");
  return report(get_parameter(key, value, valueLen));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclParamGetAllParameterKeys, (const char*** table, int* tableLen)) {
  ANYGIN_NCCL_CALL("ncclParamGetAllParameterKeys");
  if (table == nullptr) return refuse(Cause::kNullArgument, "ncclParamGetAllParameterKeys", "table is NULL");
  if (tableLen == nullptr) return refuse(Cause::kNullArgument, "ncclParamGetAllParameterKeys", "tableLen is NULL");
  std::vector<const char*>& keys = keep_parameter_keys();
  *table = keys.data();
  *tableLen = static_cast<int>(keys.size());
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(void, ncclParamDumpAll, (void)) {
  ANYGIN_NCCL_CALL("ncclParamDumpAll");
  for (const OptionInfo& row : option_table()) {
    if (parameter_is_listed(row)) std::printf("%s=%s\n", row.name.data(), option_value(options(), row.name)->c_str());
  }
  std::fflush(stdout);
}
