// SPDX-License-Identifier: LGPL-2.1-or-later
#include "registration.h"

namespace nofctl::wire {

namespace {

constexpr std::uint16_t key_all = 0x5f; // EKTYPE: the key consists of all fields

std::uint32_t asTel(std::size_t bytes)
{
	return static_cast<std::uint32_t>(bytes);
}

// Removes the first @length bytes from @all and returns them. Nothing if there are fewer.
std::optional<std::span<const std::uint8_t>> cut(std::span<const std::uint8_t> &all, std::size_t length)
{
	if (length > all.size())
		return {};
	auto part = all.first(length);
	all = all.subspan(length);
	return part;
}

// Decodes the attributes of one entry
bool decodeAttributes(std::span<const std::uint8_t> data, std::size_t count, Registration &into)
{
	while (count--) {
		auto header = decode<AttributeHeader>(data);
		if (!header || !cut(data, sizeof(*header)))
			return false;
		auto value = cut(data, header->length);
		if (!value)
			return false;
		if (header->type == attr_host_id && value->size() == into.hostid.size())
			std::ranges::copy(*value, into.hostid.begin());
	}
	return true;
}

} // namespace

bool Registration::operator==(const Registration &other) const
{
	auto same = [](const DiscoveryEntry &a, const DiscoveryEntry &b) {
		return std::ranges::equal(bytesOf(a), bytesOf(b));
	};
	return entity == other.entity && nqn == other.nqn && hostid == other.hostid && name == other.name &&
	       version == other.version && std::ranges::equal(interfaces, other.interfaces, same);
}

DiscoveryEntry makeInterface(TransportType transport, std::string_view nqn, std::string_view address)
{
	DiscoveryEntry e{};
	e.trtype = transport;
	e.adrfam = address.find(':') == address.npos ? fam_ipv4 : fam_ipv6;
	setText(e.trsvcid, "", ' ');
	setText(e.subnqn, nqn, 0);
	setText(e.traddr, address, ' ');
	return e;
}

Command informationManagement(DimTask task)
{
	Command cmd = plain(op_dim);
	cmd.cdw10 = task;
	return cmd;
}

Bytes encodeRegistration(const Registration &registration)
{
	const AttributeHeader attribute{std::uint16_t(attr_host_id), std::uint16_t(sizeof(registration.hostid))};
	const std::size_t tel = sizeof(ExtendedEntry) + sizeof(attribute) + sizeof(registration.hostid);
	DimHeader header{};
	header.tdl = asTel(sizeof(header) + tel * registration.interfaces.size());
	header.nument = registration.interfaces.size();
	header.entfmt = dim_extended;
	header.etype = registration.entity;
	header.ektype = key_all;
	setText(header.eid, registration.nqn, 0);
	setText(header.ename, registration.name, 0);
	setText(header.ever, registration.version, 0);
	Bytes data = encode(header);
	for (const DiscoveryEntry &one : registration.interfaces) {
		append(data, bytesOf(ExtendedEntry{one, asTel(tel), std::uint16_t(1), {}}));
		append(data, bytesOf(attribute));
		append(data, registration.hostid);
	}
	return data;
}

std::optional<Registration> decodeRegistration(std::span<const std::uint8_t> data)
{
	auto header = decode<DimHeader>(data);
	if (!header || (header->etype != dim_host && header->etype != dim_direct))
		return {};
	if (header->tdl > data.size() || header->tdl < sizeof(*header))
		return {};
	data = data.subspan(sizeof(*header), header->tdl - sizeof(*header));
	Registration registration{DimEntity(std::uint16_t(header->etype)),
				  text(header->eid),
				  {},
				  text(header->ename),
				  text(header->ever),
				  {}};
	for (std::uint64_t i = 0; i < header->nument; i++) {
		if (header->entfmt == dim_basic) {
			auto entry = cut(data, sizeof(DiscoveryEntry));
			if (!entry)
				return {};
			registration.interfaces.push_back(*decode<DiscoveryEntry>(*entry));
			continue;
		}
		auto extended = decode<ExtendedEntry>(data);
		if (header->entfmt != dim_extended || !extended || extended->tel < sizeof(*extended))
			return {};
		auto entry = cut(data, extended->tel);
		if (!entry || !decodeAttributes(entry->subspan(sizeof(*extended)), extended->numexat, registration))
			return {};
		registration.interfaces.push_back(extended->entry);
	}
	return registration;
}

} // namespace nofctl::wire
