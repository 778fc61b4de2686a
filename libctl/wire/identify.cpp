// SPDX-License-Identifier: LGPL-2.1-or-later
#include "identify.h"

namespace nofctl::wire {

Command identify(Cns cns, std::uint32_t nsid)
{
	Command cmd = plain(op_identify);
	cmd.nsid = nsid;
	cmd.sgl.length = static_cast<std::uint32_t>(identifySize);
	cmd.cdw10 = cns;
	return cmd;
}

Bytes activeList(std::span<const std::uint32_t> nsids)
{
	Bytes list(identifySize);
	for (std::size_t i = 0; i < std::min(nsids.size(), list.size() / 4); i++)
		put<std::uint32_t>(list, i * 4, nsids[i]);
	return list;
}

Bytes descriptorList(const std::optional<Id16> &nguid, const std::optional<Id16> &uuid)
{
	Bytes list;
	auto add = [&list](std::uint8_t type, const std::optional<Id16> &id) {
		if (!id)
			return;
		append(list, std::array<std::uint8_t, 4>{type, sizeof(Id16)});
		append(list, *id);
	};
	add(nidt_nguid, nguid);
	add(nidt_uuid, uuid);
	list.resize(identifySize);
	return list;
}

} // namespace nofctl::wire
