// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace of the Key Value command set, which a host need not know; KV Command Set 1.0.
#pragma once

#include "wire.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

namespace target {

constexpr std::uint8_t csi_key_value = 1;
// Delete and Exist transfer no data
constexpr std::uint8_t op_kv_store = 0x01, op_kv_retrieve = 0x02, op_kv_delete = 0x10, op_kv_exist = 0x14;
constexpr std::uint16_t st_no_such_key = 0x087;

class KeyValue {
public:
	// Returns the status; for Retrieve also the value, truncated or zero-padded to the host's buffer, and in
	// @result the length of the stored value, for dword 0 of the completion.
	std::uint16_t execute(const Command &cmd, const Bytes &data, Bytes &value, std::uint64_t &result);

private:
	std::mutex lock_;
	std::map<std::array<std::uint32_t, 4>, Bytes> values_; // by dwords 2, 3, 14 and 15
};

} // namespace target
