// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log_check.h"

#include <algorithm>

namespace storm {

using namespace nofctl::wire;

namespace {

constexpr std::size_t maxNqnLength = 223;

bool zero(std::span<const std::uint8_t> bytes)
{
	return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

// Printable text, then padding: NULs or, with @blanks, blanks as well, as targets in use have either. @empty: the field
// may be empty
template <std::size_t room> bool isText(const char (&field)[room], bool blanks, bool empty = false)
{
	const std::string_view all(field, room);
	const auto last = all.find_last_not_of(blanks ? std::string_view("\0 ", 2) : std::string_view("\0", 1));
	if (last == all.npos)
		return empty;
	return std::ranges::all_of(all.substr(0, last + 1), [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

bool knownTransport(const DiscoveryEntry &e)
{
	return e.trtype == tr_rdma || e.trtype == tr_fc || e.trtype == tr_tcp || e.trtype == tr_loop;
}

bool knownFamily(const DiscoveryEntry &e)
{
	return e.adrfam <= fam_fc || e.adrfam == fam_loop;
}

bool reserved(const DiscoveryEntry &e)
{
	if (!zero(e.reserved) || !zero(e.reserved2))
		return true;
	return e.trtype == tr_tcp && !zero(std::span(e.tsas).subspan(1));
}

} // namespace

void checkHeader(const DiscoveryHeader &header, const Complain &complain)
{
	if (!zero(header.reserved))
		complain("reserved bytes in the header of the log");
}

void checkEntry(const DiscoveryEntry &e, const Complain &complain)
{
	if (reserved(e))
		complain("reserved bytes in an entry");
	if (!knownTransport(e) || !knownFamily(e))
		complain("an entry of an unknown transport or address family");
	if (e.subtype < sub_referral || e.subtype > sub_current)
		complain("an entry that is neither a subsystem nor a service");
	if ((e.treq & treq_channel) == treq_channel || e.treq & ~(treq_channel | treq_sqflow_off))
		complain("an entry with a reserved TREQ");
	if (e.cntlid >= firstReservedCntlid && e.cntlid <= lastReservedCntlid)
		complain("an entry with a reserved controller ID");
	if (e.trtype == tr_tcp && e.sectype() > sec_tls13)
		complain("an entry with a reserved SECTYPE");
	if (!isText(e.traddr, true) || !isText(e.trsvcid, true, e.trtype == tr_fc || e.trtype == tr_loop))
		complain("an entry whose address is not text");
	if (!isText(e.subnqn, false) || text(e.subnqn).size() > maxNqnLength)
		complain("an entry with an invalid NQN");
}

void checkEntries(std::span<const std::uint8_t> entries, const Complain &complain)
{
	for (; entries.size() >= sizeof(DiscoveryEntry); entries = entries.subspan(sizeof(DiscoveryEntry)))
		checkEntry(*decode<DiscoveryEntry>(entries), complain);
}

} // namespace storm
