// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nvme.h"

namespace nofctl::wire {

bool Command::hostToController() const
{
	return ((opcode == op_fabrics ? fctype() : opcode) & 3) == 1;
}

Command plain(std::uint8_t opcode)
{
	Command cmd{};
	cmd.opcode = opcode;
	cmd.flags = use_sgl;
	cmd.sgl.type = sgl_transport;
	return cmd;
}

Command setFeature(Feature feature, std::uint32_t value)
{
	Command cmd = plain(op_set_features);
	cmd.cdw10 = feature;
	cmd.cdw11 = value;
	return cmd;
}

Command getLog(std::uint8_t page, std::uint64_t offset, std::uint32_t bytes, bool retain)
{
	Command cmd = plain(op_get_log);
	const std::uint32_t numd = bytes / 4 - 1;
	cmd.sgl.length = bytes;
	cmd.cdw10 = page | std::uint32_t(retain) << 15 | numd << 16;
	cmd.cdw11 = numd >> 16;
	cmd.cdw12 = static_cast<std::uint32_t>(offset);
	cmd.cdw13 = static_cast<std::uint32_t>(offset >> 32);
	return cmd;
}

} // namespace nofctl::wire
