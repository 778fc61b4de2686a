// SPDX-License-Identifier: LGPL-2.1-or-later
#include "constants.h"

#include <cmath>
#include <cstdlib>

namespace nofctl::sizing {

namespace {

constexpr Constant table[] = {
	{"sqe", 64, "B", "NVM Express Base 2.0, 3.3.3.1: submission queue entry"},
	{"cqe", 16, "B", "NVM Express Base 2.0, 3.3.3.2: completion queue entry"},
	{"doorbell", 4, "B", "NVM Express over PCIe Transport 1.0, 3.1.2: a doorbell, at the least stride"},
	{"cids", 65535, "", "NVM Express Base 2.0, 3.3.3.1: 16 bits, of which FFFFh is kept free"},
	{"tlp", 24, "B", "PCI Express Base 3.0: header of 16, framing and sequence number of 4, LCRC of 4"},
	{"parameter", 14, "B",
	 "Rajbhandari et al., ZeRO (2020): weights of 2, and of Adam master weights, momentum, variance of 4 each"},
	{"roce-overhead", 98, "B", "Ethernet 38 with preamble and gap, IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4"},
	{"roce-payload", 4096, "B", "InfiniBand Architecture 1.4, 9.2: the largest path MTU"},
	{"tcp-overhead", 90, "B", "Ethernet 38 with preamble and gap, IPv4 20, TCP with timestamps 32"},
	{"tcp-payload", 8948, "B", "an MTU of 9000, less the headers of IPv4 and TCP"},
	{"connect-rate", 42.7, "1/s",
	 "nvmeof, Documentation/performance.md: connect/64, 64 controllers of 4 queues in 1.50 s", true},
	{"intree-connect-rate", 4.0, "1/s", "nvmeof, Documentation/performance.md: connect/64, in-tree, 15.93 s", true},
	{"silent-rdma", 0.349, "s", "nvmeof, Documentation/performance.md: rdma/silent-gap", true},
	{"silent-tcp", 0.325, "s", "nvmeof, Documentation/performance.md: tcp/silent-gap", true},
	{"controller-tcp", 696, "KiB", "nvmeof, Documentation/performance.md: mem/controller, with one queue", true},
	{"controller-rdma", 2001, "KiB",
	 "nvmeof, Documentation/performance.md: rdma/mem/controller, with one queue and the memory of keeps", true},
	{"queue-tcp", 82, "KiB", "nvmeof, Documentation/performance.md: mem/queue", true},
	{"queue-rdma", 1800, "KiB", "nvmeof, Documentation/performance.md: rdma/mem/queue, with the memory of keeps",
	 true},
	{"instructions-4k", 11281, "", "nvmeof, Documentation/performance.md: host/randread/4k/qd16, TCP", true},
	{"instructions-128k", 70545, "", "nvmeof, Documentation/performance.md: host/read/128k/qd4, TCP", true},
	{"discovery-host", 266e-6, "s",
	 "nvmeof, Documentation/performance.md: cdc/storm1000/view16/cpu_us_per_host, on a machine with two "
	 "processors"},
};

} // namespace

std::span<const Constant> constants()
{
	return table;
}

const Constant &constant(std::string_view name)
{
	for (const Constant &one : table)
		if (name == one.name)
			return one;
	std::abort();
}

double laneGigatransfers(unsigned generation)
{
	constexpr double rates[] = {0, 2.5, 5, 8, 16, 32, 64};
	return generation < std::size(rates) ? rates[generation] : 0;
}

double laneBytesPerSecond(unsigned generation)
{
	constexpr unsigned lastOf8b10b = 2, firstOfFlits = 6;
	// 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s; at 64 GT/s, flits with 242 of 256 bytes for TLPs
	const double kept = generation <= lastOf8b10b   ? 8.0 / 10
			    : generation < firstOfFlits ? 128.0 / 130
							: 242.0 / 256;
	return laneGigatransfers(generation) * 1e9 / 8 * kept;
}

double expressEfficiency(double bytes, double payload)
{
	constexpr double otherTlps = 5; // two doorbells, read request and completion of the SQ entry, CQ entry
	const double entries = constant("sqe").value + constant("cqe").value + 2 * constant("doorbell").value;
	const double tlps = otherTlps + std::ceil(bytes / payload);
	return bytes / (bytes + entries + tlps * constant("tlp").value);
}

} // namespace nofctl::sizing
