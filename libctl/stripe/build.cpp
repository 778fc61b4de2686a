// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build.h"

#include <algorithm>

#include "plan.h"

namespace nofctl::stripe {

using namespace nvmeof;

Parts membersOfStripe(const ConfigStripe &stripe, const Snapshot &all)
{
	Parts parts;
	std::uint64_t smallest = UINT64_MAX;
	for (const std::string &wwid : stripe.members) {
		auto found = std::ranges::find(all.namespaces, wwid, &Namespace::wwid);
		const bool there = found != all.namespaces.end() && found->size >= stripe.chunk && found->usablePaths;
		parts.disks.push_back(there ? found->name : "");
		if (there)
			smallest = std::min(smallest, found->size);
		else
			parts.missing.push_back(wwid);
	}
	if (parts.whole() && !parts.disks.empty())
		parts.bytes = smallest / stripe.chunk * stripe.chunk * parts.disks.size();
	return parts;
}

Target stripedTarget(const std::vector<std::string> &disks, std::uint64_t chunk, std::uint64_t bytes)
{
	std::vector<std::string> devices;
	for (const std::string &disk : disks)
		devices.push_back("/dev/" + disk);
	return {0, bytes / sector, "striped", stripedParameters(devices, chunk)};
}

Result<void> makeStripe(const std::string &name, const Target &target)
{
	return createMapped(name, uuidStart + name, {target});
}

bool isStripe(const Mapped &mapped)
{
	return mapped.uuid == uuidStart + mapped.name;
}

} // namespace nofctl::stripe
