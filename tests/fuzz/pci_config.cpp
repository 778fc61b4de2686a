// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the configuration space of a device, as in sysfs or in a recording.
#include "input.h"

#include <algorithm>
#include <bit>

#include "libctl/gpu/pci.h"

using namespace nofctl::gpu;

void fuzz(Input in)
{
	const Bytes bytes = in.rest();
	const std::unique_ptr<std::uint8_t[]> copy = exact(bytes);
	const PciConfig config = parsePciConfig({reinterpret_cast<const char *>(copy.get()), bytes.size()});
	expect(config.length == bytes.size(), "it is as long as it is");
	if (const auto &express = config.express) {
		expect(express->offset >= 64 && express->offset + 20 <= bytes.size(), "a capability lies within");
		for (unsigned size : {express->payload, express->payloadMost, express->readRequest})
			expect(size >= 128 && size <= 4096 && std::has_single_bit(size),
			       "sizes are some that there are");
		expect(express->speed < 16 && express->width < 64, "fields are as wide as they are");
	}
	if (config.acs)
		expect(config.acs->offset >= 256 && config.acs->offset + 8 <= bytes.size(), "an extended one, too");
	expect(config.resizable.size() <= 6, "there are no more windows than there can be");
	for (const Resizable &one : config.resizable)
		expect(one.bar < 8 && (one.max == 0 || std::has_single_bit(one.max)), "windows are powers of two");
	expect(config.secondary < 256, "a bus is one");
}
