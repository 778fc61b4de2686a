// SPDX-License-Identifier: LGPL-2.1-or-later
#include "key_value.h"

namespace target {

std::uint16_t KeyValue::execute(const Command &cmd, const Bytes &data, Bytes &value, std::uint64_t &result)
{
	const std::array<std::uint32_t, 4> key{cmd.cdw2, cmd.cdw3, cmd.cdw14, cmd.cdw15};
	constexpr std::uint16_t absent = st_no_such_key | st_dnr;
	std::lock_guard guard(lock_);
	auto at = values_.find(key);
	switch (cmd.opcode) {
	case op_kv_store:
		if (data.size() != cmd.cdw10)
			return st_invalid_field | st_dnr;
		values_[key] = data;
		return st_ok;
	case op_kv_retrieve:
		if (at == values_.end())
			return absent;
		value = at->second;
		result = value.size();
		value.resize(cmd.sgl.length);
		return st_ok;
	case op_kv_delete:
		return values_.erase(key) ? std::uint16_t(st_ok) : absent;
	case op_kv_exist:
		return at == values_.end() ? absent : std::uint16_t(st_ok);
	default:
		return st_invalid_opcode | st_dnr;
	}
}

} // namespace target
