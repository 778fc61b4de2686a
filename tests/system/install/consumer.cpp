// SPDX-License-Identifier: LGPL-2.1-or-later
// A program of somebody else's, against the library as it is installed: headers, linking, and calls across it.
#include <cstdio>

#include <nvmeof/nvmeof.h>

int main()
{
	auto address = nvmeof::parseAddress("[::1]:8009");
	auto client = nvmeof::Client::open();
	std::printf("%s %s %s\n", nvmeof::libraryVersion(), address ? address->toString().c_str() : "no address",
		    client ? "module is there" : client.error().message.c_str());
	return address ? 0 : 1;
}
