// SPDX-License-Identifier: LGPL-2.1-or-later
// usage: nbft_sample FILE: writes the NBFT of a guest (qemu/run --acpi) that discovery_nbft.cpp tests
#include <algorithm>
#include <fstream>

#include "tests/unit/nbft_table.h"

using nbft_table::Builder;
namespace layout = nofctl::nbft::layout;

int main(int argc, char **argv)
{
	constexpr nvmeof::Uuid id{{0x6f, 0x1b, 0x2c, 0x3d, 0, 0, 0x40, 0, 0x80, 0, 1, 2, 3, 4, 5, 6}};
	const std::string nqn = "nqn.2024-01.io.nvmeof:test";
	Builder boot("nqn.2024-01.io.nvmeof:booted", id);
	boot.interface(Builder::transport("127.0.0.1", 8));
	boot.interface(Builder::transport("192.0.2.7", 24)); // not an address of the guest
	const std::uint8_t second[] = {2};
	boot.subsystem(nqn, "127.0.0.1").moreInterfaces = boot.put(second);
	boot.subsystem(nqn, "127.0.0.1", "4499"); // no listener
	boot.subsystem("nqn.2024-01.io.nvmeof:gone", "127.0.0.1").flags = layout::f_valid | layout::n_unavailable;
	const nofctl::wire::Bytes bytes = boot.bytes();
	std::ofstream file(argc > 1 ? argv[1] : "/dev/stdout", std::ios::binary);
	file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	return file.flush() ? 0 : 1;
}
