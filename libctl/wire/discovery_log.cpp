// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_log.h"

namespace nofctl::wire {

namespace {

constexpr std::uint16_t adminQueueEntries = 32; // minimum admin queue size

} // namespace

DiscoveryEntry makeEntry(SubsystemType type, std::string_view nqn, std::string_view address, std::uint16_t port)
{
	DiscoveryEntry e{};
	e.trtype = tr_tcp;
	e.adrfam = address.find(':') == address.npos ? fam_ipv4 : fam_ipv6;
	e.subtype = type;
	e.treq = treq_not_required;
	e.cntlid = 0xffff;
	e.asqsz = adminQueueEntries;
	setText(e.trsvcid, std::to_string(port), ' ');
	setText(e.subnqn, nqn, 0);
	setText(e.traddr, address, ' ');
	return e;
}

} // namespace nofctl::wire
