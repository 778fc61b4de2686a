// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: an NVMe Boot Firmware Table. Its checksum is corrected, so that the parser gets past it.
#include "input.h"

#include "libctl/nbft/nbft.h"
#include "nbft.h"
#include "shown.h"

using namespace nvmeof;
namespace nbft = nofctl::nbft;

namespace {

void expectSound(const nbft::BootTable &table)
{
	constexpr std::size_t maxOfAKind = 255;
	expect(checkNqn(table.host.nqn).ok(), "the host has an NQN");
	expect(table.interfaces.size() <= maxOfAKind && table.namespaces.size() <= maxOfAKind, "no more than counted");
	for (const nbft::Interface &one : table.interfaces) {
		expect(one.address.empty() || parseTraddr(one.address), "an interface's address is one");
		expect(one.gateway.empty() || parseTraddr(one.gateway), "its gateway has one");
		expect(oneWord(one.mac + one.hostName), "its names are words");
	}
	for (const nbft::Namespace &one : table.namespaces) {
		expect(checkNqn(one.subsysnqn).ok(), "a subsystem has an NQN");
		expect(parseAddress(one.address.traddr, one.address.trsvcid).ok(), "and an address");
		for (unsigned index : one.interfaces)
			expect(table.interface(index), "and interfaces that are there");
	}
}

} // namespace

void fuzz(Input in)
{
	constexpr std::size_t checksum = 9;
	const Bytes given = in.rest();
	std::unique_ptr<std::uint8_t[]> bytes = exact(given);
	if (given.size() > checksum) {
		std::uint8_t sum = 0;
		for (std::size_t i = 0; i < given.size(); i++)
			sum = static_cast<std::uint8_t>(sum + (i == checksum ? 0 : bytes[i]));
		bytes[checksum] = static_cast<std::uint8_t>(-sum);
	}
	const Result<nbft::BootTable> table = nbft::parse({bytes.get(), given.size()});
	if (!table) {
		expect(table.error().code == ErrorCode::invalid, "an error is about the table");
		expectPlainLine(table.error().message);
		return;
	}
	expectSound(*table);
	const std::vector<nbft::BootTable> tables{*table};
	const nbft::Paths paths = nbft::pathsOf(tables, {}, true);
	expect(paths.skipped.size() <= table->namespaces.size(), "each omitted subsystem is in the table");
	for (const nbft::Path &path : paths.paths)
		expect(checkNqn(path.options.subsysnqn).ok() && !path.namespaces.empty(), "a path leads somewhere");
	expectPlain(formatNbft(tables));
	expectPlain(nbftNetwork(tables));
	expectJson(nbftDocument(tables));
}
