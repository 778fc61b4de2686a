// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the registration of a host at a discovery service.
#include "input.h"

#include "libctl/wire/registration.h"

using nofctl::wire::decodeRegistration;
using nofctl::wire::encodeRegistration;

void fuzz(Input in)
{
	auto rest = in.rest();
	const std::vector<std::uint8_t> data(rest.begin(), rest.end());
	const auto host = decodeRegistration(data);
	if (!host)
		return;
	expect(host->interfaces.size() <= data.size() / nofctl::wire::discoveryBlock, "no more than was sent");
	expect(host->nqn.size() <= sizeof(nofctl::wire::DimHeader::eid), "and no longer");
	const auto again = decodeRegistration(encodeRegistration(*host));
	expect(again && *again == *host, "a written value can be read");
}
