// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fabrics.h"

namespace nofctl::wire {

namespace {

Command fabricsCommand(FabricsType type)
{
	Command cmd{};
	cmd.opcode = op_fabrics;
	cmd.flags = use_sgl;
	cmd.nsid = type;
	return cmd;
}

std::string nqnOf(const char (&field)[256])
{
	return std::string(field, ::strnlen(field, sizeof(field)));
}

} // namespace

Command Connect::command() const
{
	Command cmd = fabricsCommand(fc_connect);
	cmd.cdw10 = std::uint32_t(qid) << 16; // RECFMT 0
	cmd.cdw11 = ((entries - 1) & 0xffff) | std::uint32_t(attributes) << 16;
	cmd.cdw12 = kato;
	return cmd;
}

ConnectData Connect::data() const
{
	ConnectData d{};
	std::ranges::copy(hostid, d.hostid);
	d.cntlid = cntlid;
	setText(d.subsysnqn, subsysnqn, 0);
	setText(d.hostnqn, hostnqn, 0);
	return d;
}

std::optional<Connect> Connect::decode(const Command &cmd, std::span<const std::uint8_t> data)
{
	if (data.size() != sizeof(ConnectData))
		return std::nullopt;
	const ConnectData d = *wire::decode<ConnectData>(data);
	Connect c;
	c.qid = static_cast<std::uint16_t>(cmd.cdw10 >> 16);
	c.entries = (cmd.cdw11 & 0xffff) + 1;
	c.attributes = static_cast<std::uint8_t>(cmd.cdw11 >> 16);
	c.kato = cmd.cdw12;
	std::ranges::copy(d.hostid, c.hostid.begin());
	c.cntlid = d.cntlid;
	c.subsysnqn = nqnOf(d.subsysnqn);
	c.hostnqn = nqnOf(d.hostnqn);
	return c;
}

Command propertyGet(Property property)
{
	Command cmd = fabricsCommand(fc_property_get);
	cmd.cdw10 = property == prop_cap; // ATTRIB: 8-byte property, otherwise 4 bytes
	cmd.cdw11 = property;
	return cmd;
}

Command propertySet(Property property, std::uint32_t value)
{
	Command cmd = fabricsCommand(fc_property_set);
	cmd.cdw11 = property;
	cmd.cdw12 = value;
	return cmd;
}

} // namespace nofctl::wire
