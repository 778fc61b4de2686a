// SPDX-License-Identifier: LGPL-2.1-or-later
// The NVMe Boot Firmware Table of a boot over NVMe/TCP: complete, unusual and broken tables, and the connections made
// by them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "tests/unit/scratch.h"
#include "libctl/nbft/nbft.h"
#include "nbft.h"
#include "tests/unit/nbft_table.h"

using namespace nvmeof;
namespace nbft = nofctl::nbft;
namespace layout = nofctl::nbft::layout;
using nbft_table::Builder;

namespace {

const std::string bootedNqn = "nqn.2024-01.com.example:node7";
const Uuid bootedId = *Uuid::parse("6f1b2c3d-0000-4000-8000-0123456789ab");

// A table with every structure
Builder wholeBoot()
{
	Builder boot(bootedNqn, bootedId);
	boot.host.flags |= layout::h_id_configured | layout::h_selected;
	layout::Transport card = Builder::transport("192.168.10.77", 24);
	card.gateway = nbft_table::ip("192.168.10.1");
	card.dns = nbft_table::ip("192.168.10.2");
	card.metric = 500;
	card.hostName = boot.text("node7.example");
	boot.interface(card);
	card = Builder::transport("fd00::7", 64);
	card.flags |= layout::t_dhcp | layout::t_default_route;
	card.dhcpServer = nbft_table::ip("fd00::1");
	card.mac[5] = 0x57;
	card.vlan = 7;
	boot.interface(card);
	layout::Namespace &first = boot.subsystem("nqn.2024-01.com.example:flash1", "192.168.10.5");
	const std::uint8_t second[] = {2, 1};
	first.moreInterfaces = boot.put(second);
	first.idType = layout::id_uuid;
	std::ranges::copy(bootedId.bytes, first.id);
	first.transportFlags = layout::f_valid | layout::nt_header_digest | layout::nt_data_digest;
	boot.dhcpRootPath(first, "NVME+TCP://192.168.10.5:4420/nqn.2024-01.com.example:flash1/1");
	layout::Namespace &other = boot.subsystem("nqn.2024-01.com.example:data", "fd00::5", "4421", 2);
	other.flags = layout::f_valid | layout::n_not_bootable | layout::n_discovered | layout::n_unavailable |
		      layout::n_security;
	other.security = 1;
	other.discovery = 1;
	layout::Security security{};
	security.structure = layout::s_security;
	security.index = 1;
	security.flags = layout::f_valid | layout::x_channel_required;
	boot.securities.push_back(security);
	layout::Discovery service{};
	service.structure = layout::s_discovery;
	service.flags = layout::f_valid;
	service.index = 1;
	service.interface = 2;
	service.uri = boot.text("nvme+tcp://[fd00::5]:8009/");
	service.nqn = boot.text("nqn.2024-01.com.example:cdc");
	boot.discoveries.push_back(service);
	return boot;
}

// Parses a copy whose allocation ends with the last byte.
Result<nbft::BootTable> parsed(const nofctl::wire::Bytes &bytes)
{
	std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[bytes.size()]);
	std::ranges::copy(bytes, copy.get());
	return nbft::parse({copy.get(), bytes.size()});
}

nbft::BootTable parsedWell(const Builder &boot)
{
	Result<nbft::BootTable> table = parsed(boot.bytes());
	INFO((table ? "" : table.error().message));
	REQUIRE(table);
	return *std::move(table);
}

std::string refusalOfTable(const nofctl::wire::Bytes &bytes)
{
	Result<nbft::BootTable> table = parsed(bytes);
	REQUIRE_FALSE(table);
	CHECK(table.error().code == ErrorCode::invalid);
	return table.error().message;
}

bool tellsOf(const nbft::BootTable &table, const std::string &problem)
{
	return std::ranges::any_of(table.problems,
				   [&](const std::string &one) { return one.find(problem) != one.npos; });
}

Builder oneSubsystem()
{
	Builder boot(bootedNqn);
	boot.interface(Builder::transport("192.168.10.77", 24));
	boot.subsystem("nqn.s", "192.168.10.5");
	return boot;
}

} // namespace

TEST_CASE("every structure of a table is read", "[nbft]")
{
	const nbft::BootTable table = parsedWell(wholeBoot());
	CHECK(table.problems.empty());
	CHECK(table.oem == "NVMEOF");
	CHECK(table.host.nqn == bootedNqn);
	CHECK(table.host.id == bootedId);
	CHECK((table.host.nqnConfigured && table.host.idConfigured && table.host.selected));
	REQUIRE(table.interfaces.size() == 2);
	const nbft::Interface &card = table.interfaces[0], &vlan = table.interfaces[1];
	CHECK(card.mac == "52:54:00:12:34:56");
	CHECK(card.address == "192.168.10.77");
	CHECK(card.prefix == 24);
	CHECK(card.gateway == "192.168.10.1");
	CHECK(card.dns == std::vector<std::string>{"192.168.10.2"});
	CHECK(card.metric == 500);
	CHECK(card.hostName == "node7.example");
	CHECK((vlan.vlan == 7 && vlan.dhcp && vlan.defaultRoute && !card.dhcp));
	CHECK(vlan.address == "fd00::7");
	CHECK(vlan.dhcpServer == "fd00::1");
	REQUIRE(table.namespaces.size() == 2);
	const nbft::Namespace &first = table.namespaces[0], &other = table.namespaces[1];
	CHECK(first.address == Address{"192.168.10.5", "4420"});
	CHECK(first.id == bootedId.toString());
	CHECK(first.interfaces == std::vector<unsigned>{1, 2}); // without duplicates
	CHECK((first.hdrDigest && first.dataDigest && first.bootable && !first.discovered));
	CHECK(first.dhcpRootPath == "NVME+TCP://192.168.10.5:4420/nqn.2024-01.com.example:flash1/1");
	CHECK(other.availability == nbft::Availability::unavailable);
	CHECK((!other.bootable && other.discovered && !other.hdrDigest));
	CHECK((other.security == 1U && other.discovery == 1U));
	REQUIRE(table.securities.size() == 1);
	CHECK((table.securities[0].channel && !table.securities[0].authentication));
	REQUIRE(table.discoveries.size() == 1);
	CHECK(table.discoveries[0].nqn == "nqn.2024-01.com.example:cdc");
}

TEST_CASE("identifiers of namespaces are formatted as in sysfs", "[nbft]")
{
	Builder boot = oneSubsystem();
	layout::Namespace &ns = boot.namespaces.front();
	for (std::uint8_t i = 0; i < sizeof(ns.id); i++)
		ns.id[i] = static_cast<std::uint8_t>(i + 1);
	ns.idType = layout::id_eui64;
	CHECK(parsedWell(boot).namespaces[0].id == "0102030405060708");
	ns.idType = layout::id_nguid;
	CHECK(parsedWell(boot).namespaces[0].id == "0102030405060708090a0b0c0d0e0f10");
	ns.idType = 9;
	const nbft::BootTable odd = parsedWell(boot);
	CHECK(odd.namespaces[0].id.empty());
	CHECK(tellsOf(odd, "its identifier, 9, is unknown"));
}

TEST_CASE("a table that is invalid as a whole is refused with a reason", "[nbft]")
{
	CHECK(refusalOfTable({}) == "it is not an NVMe Boot Firmware Table");
	CHECK(refusalOfTable(nofctl::wire::Bytes(64)) == "it is not an NVMe Boot Firmware Table");
	nofctl::wire::Bytes bytes = wholeBoot().bytes();
	bytes[100]++;
	CHECK(refusalOfTable(bytes) == "its checksum is wrong");
	bytes[4] = 0xff;
	CHECK(refusalOfTable(bytes).find("its header says") == 0);
	Builder boot = wholeBoot();
	boot.header.major = 2;
	CHECK(refusalOfTable(boot.bytes()).find("its revision 2.0") == 0);
	boot = wholeBoot();
	boot.control.flags = 0;
	CHECK(refusalOfTable(boot.bytes()) == "it has no control descriptor");
	boot = wholeBoot();
	boot.host.flags = 0;
	CHECK(refusalOfTable(boot.bytes()) == "it has no host descriptor");
	boot = wholeBoot();
	boot.host.nqn = {};
	CHECK(refusalOfTable(boot.bytes()) == "it has no host NQN");
	boot.host.nqn = boot.text("an NQN");
	CHECK(refusalOfTable(boot.bytes()) == "the host's NQN is not a valid NQN");
	bytes = wholeBoot().bytes();
	bytes[64 + 23] = 255; // number of interfaces
	nbft_table::seal(bytes);
	CHECK(refusalOfTable(bytes) == "its list of interfaces is not within the table");
	bytes = wholeBoot().bytes();
	bytes[40] = 0xff; // length of the heap
	bytes[41] = 0xff;
	nbft_table::seal(bytes);
	CHECK(refusalOfTable(bytes) == "its heap is not within the table");
}

TEST_CASE("an unusable entry is left out and reported, and the other entries stay", "[nbft]")
{
	Builder boot = oneSubsystem();
	boot.subsystem("nqn.good", "192.168.10.6");
	layout::Namespace &bad = boot.namespaces.front();
	const auto without = [&](const std::string &problem) {
		const nbft::BootTable table = parsedWell(boot);
		CAPTURE(problem, table.problems);
		CHECK(tellsOf(table, problem));
		REQUIRE(table.namespaces.size() == 1);
		CHECK(table.namespaces[0].subsysnqn == "nqn.good");
	};
	const layout::Namespace good = bad;
	bad.nqn = boot.text("two words");
	without("subsystem 1: its NQN is not a valid NQN");
	bad.nqn = boot.text(std::string(300, 'x'));
	without("subsystem 1: its NQN is not a valid NQN");
	bad.nqn = boot.text("nqn.\x1b[2J");
	without("subsystem 1: its NQN is not text");
	bad.nqn = {0xfffffff0, 0x20};
	without("subsystem 1: its NQN is not within the heap");
	bad.nqn = {0, 4}; // offset 0 is the header, whose signature is text
	bad.nqn.offset = 0xffffff00U;
	without("subsystem 1: its NQN is not within the heap");
	bad = good;
	bad.traddr.length = 15;
	without("subsystem 1: it has no address");
	bad = good;
	bad.traddr = boot.put(layout::Ip{});
	without("subsystem 1: it has no address");
	bad = good;
	bad.trsvcid = boot.text("65536");
	without("subsystem 1: port '65536'");
	bad = good;
	bad.transport = 1;
	without("subsystem 1: its transport, 1, is unknown");
	bad = good;
	bad.structure = layout::s_host;
	without("entry 1 of the subsystems has another structure type");
	bad = good;
	bad.index = 3;
	boot.namespaces.back().index = 3;
	CHECK(tellsOf(parsedWell(boot), "subsystem 3 occurs twice"));
	bad = good;
	bad.flags = 0; // an invalid descriptor is not a problem
	boot.namespaces.back().index = 2;
	const nbft::BootTable table = parsedWell(boot);
	CHECK(table.problems.empty());
	CHECK(table.namespaces.size() == 1);
}

TEST_CASE("an invalid interface loses its address or is left out, and its subsystem stays", "[nbft]")
{
	const auto with = [](const layout::Transport &card) {
		Builder boot(bootedNqn);
		boot.interface(card);
		boot.subsystem("nqn.s", "192.168.10.5");
		const nbft::BootTable table = parsedWell(boot);
		CHECK(table.namespaces.size() == 1);
		return table;
	};
	CHECK(tellsOf(with(Builder::transport("192.168.10.77", 33)), "invalid prefix length 33"));
	CHECK(tellsOf(with(Builder::transport("fd00::7", 129)), "invalid prefix length 129"));
	layout::Transport card = Builder::transport("192.168.10.77", 24);
	card.gateway = nbft_table::ip("fd00::1");
	CHECK(with(card).interfaces[0].gateway.empty());
	card.vlan = 4095;
	const nbft::BootTable none = with(card);
	CHECK(none.interfaces.empty());
	CHECK(tellsOf(none, "invalid VLAN ID 4095"));
	CHECK(tellsOf(none, "subsystem 1: there is no interface 1"));
	CHECK(none.namespaces[0].interfaces.empty());
	card.vlan = 0;
	card.flags = 0;
	CHECK(tellsOf(with(card), "interface 1: its transport info descriptor is missing"));
}

TEST_CASE("an invalid host name is left out", "[nbft]")
{
	Builder boot(bootedNqn);
	layout::Transport card = Builder::transport("192.168.10.77", 24);
	card.hostName = boot.text("$(reboot)");
	boot.interface(card);
	const nbft::BootTable table = parsedWell(boot);
	CHECK(table.interfaces[0].hostName.empty());
	CHECK(tellsOf(table, "its host name is invalid"));
}

TEST_CASE("every truncation and every flipped bit of a table is refused or read within the table", "[nbft]")
{
	const nofctl::wire::Bytes whole = wholeBoot().bytes();
	for (std::size_t length = 0; length < whole.size(); length++) {
		nofctl::wire::Bytes shorter(whole.begin(), whole.begin() + static_cast<long>(length));
		CHECK_FALSE(parsed(shorter));
		if (length < sizeof(layout::Header))
			continue;
		nofctl::wire::put<std::uint32_t>(shorter, 4, static_cast<std::uint32_t>(length));
		nbft_table::seal(shorter);
		static_cast<void>(parsed(shorter));
	}
	for (std::size_t bit = 0; bit < whole.size() * 8; bit++) {
		nofctl::wire::Bytes other = whole;
		other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 1U << bit % 8);
		CHECK_FALSE(parsed(other)); // wrong checksum
		nbft_table::seal(other);
		if (Result<nbft::BootTable> table = parsed(other)) {
			CHECK(checkNqn(table->host.nqn));
			for (const nbft::Namespace &ns : table->namespaces)
				CHECK(checkNqn(ns.subsysnqn));
		}
	}
}

TEST_CASE("bytes beyond the length of the table are ignored", "[nbft]")
{
	nofctl::wire::Bytes bytes = wholeBoot().bytes();
	bytes.resize(bytes.size() + 100, 0xff);
	CHECK(parsed(bytes));
}

TEST_CASE("each interface of a subsystem gives a path", "[nbft]")
{
	Builder boot = wholeBoot();
	boot.namespaces[1].flags = layout::f_valid;
	const std::vector<nbft::BootTable> tables{parsedWell(boot)};
	const std::vector<nbft::Link> links{{"eth0", {"192.168.10.77"}, "52:54:00:12:34:56"},
					    {"eth1.7", {"fd00::7"}, "52:54:00:12:34:57"}};
	const nbft::Paths found = nbft::pathsOf(tables, links);
	REQUIRE(found.paths.size() == 3);
	CHECK((found.skipped.empty() && found.notes.empty()));
	const ConnectOptions &first = found.paths[0].options;
	CHECK(first.hostTraddr == "192.168.10.77");
	CHECK(found.paths[1].options.hostTraddr == "fd00::7");
	CHECK(first.hostnqn == bootedNqn);
	CHECK(first.hostid == bootedId);
	CHECK((first.hdrDigest && first.dataDigest && first.idempotent));
	CHECK(found.paths[2].options.subsysnqn == "nqn.2024-01.com.example:data");
	CHECK_FALSE(found.paths[2].options.hdrDigest);
}

TEST_CASE("an interface with another address is used by its MAC address", "[nbft]")
{
	Builder boot = oneSubsystem();
	const std::uint8_t second[] = {2};
	boot.interface(Builder::transport("192.168.20.77", 24)); // no link has this address or VLAN
	boot.namespaces[0].moreInterfaces = boot.put(second);
	std::vector<nbft::BootTable> tables{parsedWell(boot)};
	tables[0].interfaces[1].vlan = 7;
	const std::vector<nbft::Link> links{{"eth5", {"192.168.10.99"}, "52:54:00:12:34:56"}};
	const nbft::Paths found = nbft::pathsOf(tables, links);
	REQUIRE(found.paths.size() == 1);
	CHECK(found.paths[0].options.hostIface == "eth5");
	CHECK(found.paths[0].options.hostTraddr.empty());
	REQUIRE(found.notes.size() == 1);
	CHECK(found.notes[0].find("interface 2: this machine has neither its address, 192.168.20.77") == 0);
}

TEST_CASE("without a matching interface the kernel chooses the source, and namespaces share a path", "[nbft]")
{
	Builder boot = oneSubsystem();
	boot.subsystem("nqn.s", "192.168.10.5").nsid = 2;
	const std::vector<nbft::BootTable> tables{parsedWell(boot)};
	const nbft::Paths found = nbft::pathsOf(tables, {});
	REQUIRE(found.paths.size() == 1);
	CHECK(found.paths[0].options.hostTraddr.empty());
	CHECK_FALSE(found.paths[0].options.hostid);
	CHECK(found.paths[0].namespaces == std::vector<unsigned>{1, 2});
	REQUIRE(found.notes.size() == 1);
	CHECK(found.notes[0].find("192.168.10.77") != std::string::npos);
}

TEST_CASE("a link-local address gets the interface with that MAC address", "[nbft]")
{
	Builder boot(bootedNqn);
	boot.interface(Builder::transport("fe80::7", 64));
	boot.subsystem("nqn.s", "fe80::5");
	const std::vector<nbft::BootTable> tables{parsedWell(boot)};
	const std::vector<nbft::Link> links{{"eth3", {}, "52:54:00:12:34:56"}};
	const nbft::Paths found = nbft::pathsOf(tables, links);
	REQUIRE(found.paths.size() == 1);
	CHECK(found.paths[0].options.address.traddr == "fe80::5%eth3");
	CHECK(nbft::pathsOf(tables, {}).paths.empty());
}

TEST_CASE("a subsystem that cannot be connected is left out with a reason", "[nbft]")
{
	Builder boot = oneSubsystem();
	layout::Namespace &ns = boot.namespaces.front();
	const auto reason = [&](bool all = false) {
		const std::vector<nbft::BootTable> tables{parsedWell(boot)};
		const nbft::Paths found = nbft::pathsOf(tables, {}, all);
		CHECK(found.paths.size() + found.skipped.size() == 1);
		return found.skipped.empty() ? "" : found.skipped[0].reason;
	};
	CHECK(reason().empty());
	ns.flags = layout::f_valid | layout::n_unavailable;
	CHECK(reason().find("the firmware could not reach it") == 0);
	CHECK(reason(true).empty());
	ns.flags = layout::f_valid | layout::n_security;
	ns.security = 1;
	CHECK(reason().empty()); // the table has no such security profile
	layout::Security security{};
	security.structure = layout::s_security;
	security.index = 1;
	security.flags = layout::f_valid;
	boot.securities.push_back(security);
	CHECK(reason().empty()); // the profile requires nothing
	boot.securities[0].flags = layout::f_valid | layout::x_authentication_required;
	CHECK(reason(true).find("it requires authentication or TLS") == 0);
	ns.flags = layout::f_valid;
	ns.nqn = boot.text("nqn.2014-08.org.nvmexpress.discovery");
	CHECK(reason().find("it is a discovery service") == 0);
}

TEST_CASE("tables are found by name and read from files", "[nbft]")
{
	Scratch scratch;
	for (const char *name : {"NBFT10", "NBFT2", "NBFT", "NBFX", "NBFT.old", "DSDT"})
		scratch.write(name, "x");
	std::vector<std::string> names;
	for (const std::string &file : nbft::filesIn(scratch.path()))
		names.push_back(std::filesystem::path(file).filename());
	CHECK(names == std::vector<std::string>{"NBFT", "NBFT2", "NBFT10"});
	CHECK(nbft::filesIn(scratch.path() / "nowhere").empty());
	const Result<nbft::BootTable> broken = nbft::read(scratch.path() / "NBFT");
	REQUIRE_FALSE(broken);
	CHECK(broken.error().message.find("NBFT: it is not an NVMe Boot Firmware Table") != std::string::npos);
	CHECK(nbft::read(scratch.path() / "nowhere").error().code == ErrorCode::noSuchObject);
	const Result<nbft::BootTable> folder = nbft::read(scratch.path()); // it can be opened, but not read
	REQUIRE_FALSE(folder);
	CHECK(folder.error().sysErrno == EISDIR);
	CHECK(folder.error().object == ErrorObject{ErrorObject::Kind::file, scratch.path()});
	scratch.write("large", std::string(nbft::maxTableSize + 1, 'x'));
	const Result<nbft::BootTable> large = nbft::read(scratch.path() / "large");
	REQUIRE_FALSE(large);
	CHECK(large.error().object == ErrorObject{ErrorObject::Kind::file, scratch.path() / "large"});
	const nofctl::wire::Bytes bytes = wholeBoot().bytes();
	scratch.write("NBFT", {bytes.begin(), bytes.end()});
	const Result<nbft::BootTable> table = nbft::read(scratch.path() / "NBFT");
	REQUIRE(table);
	CHECK(table->file == scratch.path() / "NBFT");
}

TEST_CASE("the network output for scripts has a line for each interface", "[nbft]")
{
	const std::vector<nbft::BootTable> tables{parsedWell(wholeBoot())};
	CHECK(nbftNetwork(tables) == "52:54:00:12:34:56 - 192.168.10.77/24 192.168.10.1 500 static\n"
				     "52:54:00:12:34:57 7 fd00::7/64 - - dhcp\n");
}

TEST_CASE("the text output has all objects and problems", "[nbft]")
{
	std::vector<nbft::BootTable> tables{parsedWell(wholeBoot())};
	tables[0].problems.emplace_back("subsystem 9: it has no NQN");
	const std::string text = formatNbft(tables);
	for (const char *part :
	     {"nqn.2024-01.com.example:node7", "192.168.10.77/24", "[fd00::5]:4421",
	      "uuid 6f1b2c3d-0000-4000-8000-0123456789ab", "the firmware could not reach it",
	      "requires authentication or TLS", "nvme+tcp://[fd00::5]:8009/", "subsystem 9: it has no NQN"}) {
		CAPTURE(part, text);
		CHECK(text.find(part) != std::string::npos);
	}
}
