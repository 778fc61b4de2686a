// SPDX-License-Identifier: LGPL-2.1-or-later
// The log is encoded with libnvme's structures and decoded by this library.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>

#include <endian.h>
#include <nvme/types.h>

#include "discover.h"
#include "libctl/discovery/discovery_log.h"

using namespace nvmeof;

namespace {

constexpr std::size_t block = nofctl::wire::discoveryBlock;

template <std::size_t room> void put(char (&field)[room], const std::string &text, char padding = ' ')
{
	std::fill_n(field, room, padding);
	text.copy(field, room);
}

nvmf_disc_log_entry good()
{
	nvmf_disc_log_entry raw{};
	raw.trtype = NVMF_TRTYPE_TCP;
	raw.adrfam = NVMF_ADDR_FAMILY_IP4;
	raw.subtype = NVME_NQN_NVME;
	raw.treq = NVMF_TREQ_NOT_REQUIRED | NVMF_TREQ_DISABLE_SQFLOW;
	raw.portid = htole16(7);
	raw.cntlid = htole16(0xffff);
	raw.asqsz = htole16(32);
	put(raw.trsvcid, "4420");
	put(raw.subnqn, "nqn.2024-01.io.nvmeof:a", 0);
	put(raw.traddr, "192.0.2.1");
	return raw;
}

DiscoveryEntry decoded(const nvmf_disc_log_entry &raw)
{
	nofctl::wire::DiscoveryEntry same;
	std::memcpy(static_cast<void *>(&same), &raw, block);
	return nofctl::describe(same);
}

std::string defect(void (*change)(nvmf_disc_log_entry &))
{
	nvmf_disc_log_entry raw = good();
	change(raw);
	return decoded(raw).defect;
}

using Raw = nvmf_disc_log_entry;

// A discovery service with a number of entries, and a hook that runs after each read
class Service : public nofctl::LogSource {
public:
	explicit Service(std::size_t entries) { fill(entries); }

	void fill(std::size_t entries)
	{
		log_.assign((entries + 1) * block, std::byte());
		setNumber(0, generation);
		setNumber(8, entries);
		for (std::size_t i = 1; i <= entries; i++) {
			nvmf_disc_log_entry raw = good();
			raw.portid = htole16(static_cast<std::uint16_t>(i));
			std::memcpy(&log_[i * block], &raw, block);
		}
	}
	void setNumber(std::size_t at, std::uint64_t value)
	{
		value = htole64(value);
		std::memcpy(&log_[at], &value, sizeof(value));
	}

	Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool retain) override
	{
		reads++;
		lastRetained = retain;
		if (Error *error = failing ? failing(reads, offset) : nullptr)
			return *error;
		if (ignoresOffset)
			offset = 0;
		if (offset > log_.size())
			return refusal(0x2);
		for (std::size_t i = 0; i < to.size(); i++)
			to[i] = offset + i < log_.size() ? log_[offset + i] : std::byte();
		if (after)
			after(reads);
		return {};
	}
	std::size_t max() const override { return maxBytes; }
	bool offsets() const override { return takesOffset; }
	bool again(int) override { return hasTime; }

	static Error refusal(std::uint16_t status)
	{
		Error error;
		error.code = ErrorCode::refused;
		error.nvmeStatus = status;
		error.message = "refused";
		return error;
	}

	std::uint64_t generation = 5;
	std::size_t maxBytes = 4 * block;
	bool takesOffset = true, ignoresOffset = false, hasTime = true, lastRetained = true;
	int reads = 0;
	std::function<Error *(int read, std::uint64_t offset)> failing;
	std::function<void(int read)> after;

private:
	std::vector<std::byte> log_;
};

std::string errorOf(Service &service)
{
	auto log = nofctl::readDiscoveryLog(service);
	REQUIRE_FALSE(log);
	return log.error().message;
}

} // namespace

TEST_CASE("an entry of a discovery log is decoded", "[discovery]")
{
	DiscoveryEntry entry = decoded(good());
	CHECK(entry.defect.empty());
	CHECK(entry.kind == EntryKind::subsystem);
	CHECK(entry.transport == "tcp");
	CHECK(entry.addressFamily == "ipv4");
	CHECK(entry.traddr == "192.0.2.1");
	CHECK(entry.trsvcid == "4420");
	CHECK(entry.subsysnqn == "nqn.2024-01.io.nvmeof:a");
	CHECK(entry.portId == 7);
	CHECK(entry.cntlid == 0xffff);
	CHECK(entry.adminQueueSize == 32);
	CHECK(entry.secureChannel == SecureChannel::notRequired);
	CHECK(entry.sqFlowOff);
	CHECK_FALSE(entry.persistent);
	CHECK_FALSE(entry.duplicate);
}

TEST_CASE("the transport specific address subtype is decoded", "[discovery]")
{
	Raw raw = good();
	using Known = std::pair<std::uint8_t, TcpSecurity>;
	for (auto [sectype, security] :
	     {Known(NVMF_TCP_SECTYPE_NONE, TcpSecurity::none), Known(NVMF_TCP_SECTYPE_TLS, TcpSecurity::tls12),
	      Known(NVMF_TCP_SECTYPE_TLS13, TcpSecurity::tls13), Known(77, TcpSecurity::unknown)}) {
		raw.tsas.tcp.sectype = sectype;
		CHECK(decoded(raw).tcpSecurity == security);
		CHECK_FALSE(decoded(raw).rdma);
	}
	raw.trtype = NVMF_TRTYPE_RDMA;
	raw.tsas.rdma = {
		NVMF_RDMA_QPTYPE_CONNECTED, NVMF_RDMA_PRTYPE_ROCEV2, NVMF_RDMA_CMS_RDMA_CM, {}, htole16(0x8001), {}};
	auto entry = decoded(raw);
	CHECK_FALSE(entry.tcpSecurity);
	REQUIRE(entry.rdma);
	CHECK(entry.rdma->queuePair == RdmaQueuePair::connected);
	CHECK(entry.rdma->provider == RdmaProvider::roceV2);
	CHECK(entry.rdma->connectionManagement == RdmaConnectionManagement::rdmaCm);
	CHECK(entry.rdma->partitionKey == 0x8001);
	Json json = toJson(DiscoveryLog{1, {entry}})["entries"][0]["rdma"];
	CHECK(json == Json{{"queue_pair", "reliable connected"},
			   {"provider", "RoCEv2"},
			   {"connection_management", "RDMA_CM"},
			   {"partition_key", 0x8001}});
	raw.tsas.rdma.qptype = raw.tsas.rdma.prtype = raw.tsas.rdma.cms = 0;
	entry = decoded(raw);
	CHECK(entry.defect.empty());
	CHECK(toString(entry.rdma->queuePair) == std::string("unknown"));
	CHECK(toString(entry.rdma->provider) == std::string("unknown"));
	CHECK(toString(entry.rdma->connectionManagement) == std::string("unknown"));
	raw.trtype = NVMF_TRTYPE_FC;
	CHECK_FALSE(decoded(raw).rdma);
}

TEST_CASE("valid entries have no defect", "[discovery]")
{
	CHECK(defect([](Raw &e) { put(e.traddr, "192.0.2.1", 0); }).empty());
	CHECK(defect([](Raw &e) { e.adrfam = NVMF_ADDR_FAMILY_IP6, put(e.traddr, "2001:db8::1"); }).empty());
	CHECK(defect([](Raw &e) { e.subtype = NVME_NQN_CURR, put(e.subnqn, discoveryNqn, 0); }).empty());
	CHECK(defect([](Raw &e) { e.subtype = NVME_NQN_DISC, put(e.subnqn, discoveryNqn, 0); }).empty());
	CHECK(defect([](Raw &e) { e.trtype = NVMF_TRTYPE_RDMA; }).empty());
	CHECK(defect([](Raw &e) { e.trtype = NVMF_TRTYPE_LOOP, e.adrfam = NVMF_ADDR_FAMILY_LOOP; }).empty());
	CHECK(defect([](Raw &e) { e.treq = NVMF_TREQ_REQUIRED, e.tsas.tcp.sectype = NVMF_TCP_SECTYPE_TLS13; }).empty());
	CHECK(defect([](Raw &e) { e.cntlid = htole16(0xffef); }).empty());
	CHECK(defect([](Raw &e) { e.eflags = 0xffff; }).empty());
	CHECK(defect([](Raw &e) { e.asqsz = 0; }).empty());
}

TEST_CASE("entries that no host can use have a defect", "[discovery]")
{
	CHECK(defect([](Raw &e) { e = {}; }) == "SUBTYPE is unknown");
	CHECK(defect([](Raw &e) { e.subtype = 77; }) == "SUBTYPE is unknown");
	CHECK(defect([](Raw &e) { e.trtype = 42; }) == "TRTYPE is unknown");
	CHECK(defect([](Raw &e) { e.adrfam = 9; }) == "ADRFAM is not valid for the transport");
	CHECK(defect([](Raw &e) { e.adrfam = NVMF_ADDR_FAMILY_IP6; }) == "TRADDR is not an IPv6 address");
	CHECK(defect([](Raw &e) { put(e.traddr, "2001:db8::1"); }) == "TRADDR is not an IPv4 address");
	CHECK(defect([](Raw &e) { put(e.traddr, "target.invalid"); }) == "TRADDR is not a numeric address");
	CHECK(defect([](Raw &e) { put(e.traddr, ""); }) == "TRADDR is not a numeric address");
	CHECK(defect([](Raw &e) { put(e.traddr, "127.0.0.", '1'); }) == "TRADDR is not a numeric address");
	for (const char *many : {"0.0.0.0", "224.0.0.1", "255.255.255.255"}) {
		nvmf_disc_log_entry raw = good();
		put(raw.traddr, many);
		CHECK(decoded(raw).defect == "TRADDR is not a unicast address");
	}
	CHECK(defect([](Raw &e) { e.adrfam = NVMF_ADDR_FAMILY_IP6, put(e.traddr, "ff02::1"); }) ==
	      "TRADDR is not a unicast address");
	for (const char *many : {"::ffff:0.0.0.0", "::ffff:224.0.0.1", "::"}) {
		nvmf_disc_log_entry raw = good();
		raw.adrfam = NVMF_ADDR_FAMILY_IP6;
		put(raw.traddr, many);
		CHECK(decoded(raw).defect == "TRADDR is not a unicast address");
	}
	for (const char *port : {"", "0", "-1", "4420x", "69956", " 4420", "+4420"}) {
		nvmf_disc_log_entry raw = good();
		put(raw.trsvcid, port);
		CHECK(decoded(raw).defect == "TRSVCID is not a port");
	}
	CHECK(defect([](Raw &e) { put(e.subnqn, "", 0); }) == "SUBNQN is not an NQN");
	CHECK(defect([](Raw &e) { put(e.subnqn, "nqn.a:", 'x'); }) == "SUBNQN is not an NQN");
	CHECK(defect([](Raw &e) { put(e.subnqn, "nqn.a:\x1b[2J", 0); }) == "SUBNQN is not an NQN");
	CHECK(defect([](Raw &e) {
		      put(e.subnqn,
			  "nqn.a:\xc2\x9b"
			  "2J",
			  0);
	      }) == "SUBNQN is not an NQN"); // a C1 control character
	CHECK(defect([](Raw &e) { put(e.subnqn, "nqn.a:\xc3\xa9\xc2", 0); }).empty());
	CHECK(defect([](Raw &e) { put(e.subnqn, discoveryNqn, 0); }) == "SUBNQN of a subsystem is the discovery NQN");
	CHECK(defect([](Raw &e) { e.cntlid = htole16(0xfff5); }) == "CNTLID has a reserved value");
	CHECK(defect([](Raw &e) { e.treq = 0xff; }) == "TREQ has a reserved value");
}

TEST_CASE("a discovery log is read in pieces", "[discovery]")
{
	for (std::size_t entries : {0, 1, 3, 4, 100}) {
		Service service(entries);
		auto log = nofctl::readDiscoveryLog(service);
		REQUIRE(log);
		CHECK(log->generation == 5);
		REQUIRE(log->entries.size() == entries);
		for (std::size_t i = 0; i < entries; i++)
			CHECK(log->entries[i].portId == i + 1);
		CHECK_FALSE(service.lastRetained); // the last read clears the event
	}
}

TEST_CASE("a controller without log page offset support", "[discovery]")
{
	Service small(3);
	small.takesOffset = false;
	CHECK(nofctl::readDiscoveryLog(small));
	Service large(4);
	large.takesOffset = false;
	CHECK(errorOf(large) ==
	      "the discovery log is unusable: it has 5120 bytes, but the controller allows to read only 4096");
}

TEST_CASE("a discovery log that changes during the read", "[discovery]")
{
	Service service(10);
	SECTION("is read again")
	{
		service.after = [&](int read) {
			if (read == 3)
				service.generation++, service.fill(2);
		};
		auto log = nofctl::readDiscoveryLog(service);
		REQUIRE(log);
		CHECK(log->generation == 6);
		CHECK(log->entries.size() == 2);
	}
	SECTION("is read again when a piece was refused because the log is shorter now")
	{
		service.after = [&](int read) {
			if (read == 1)
				service.generation++, service.fill(0);
		};
		auto log = nofctl::readDiscoveryLog(service);
		REQUIRE(log);
		CHECK(log->entries.empty());
	}
	SECTION("is given up after ten reads")
	{
		service.after = [&](int) { service.setNumber(0, ++service.generation); };
		CHECK(errorOf(service) == "the discovery log is unusable: it changed while it was read, 10 times");
		CHECK(service.reads == 10 * 5);
	}
	SECTION("is not read again without time left")
	{
		service.hasTime = false;
		service.after = [&](int) { service.setNumber(0, ++service.generation); };
		CHECK(errorOf(service) == "the discovery log is unusable: it changed while it was read, 1 time");
	}
	SECTION("is read again when the target reports Discover Restart")
	{
		Error restart = Service::refusal(0x190);
		service.failing = [&](int read, std::uint64_t) { return read < 4 ? &restart : nullptr; };
		auto log = nofctl::readDiscoveryLog(service);
		REQUIRE(log);
		CHECK(log->entries.size() == 10);
	}
}

TEST_CASE("an unreadable discovery log is an error", "[discovery]")
{
	Service service(10);
	SECTION("because the target refuses a read")
	{
		Error error = Service::refusal(0x6);
		service.failing = [&](int, std::uint64_t offset) { return offset ? &error : nullptr; };
		CHECK(errorOf(service) == "refused");
	}
	SECTION("because the format is unknown")
	{
		service.setNumber(16, 1);
		CHECK(errorOf(service) == "the discovery log is unusable: its format 1 is not supported");
	}
	SECTION("because the number of entries is above the limit")
	{
		auto many = GENERATE(as<std::uint64_t>{}, nofctl::wire::maxDiscoveryEntries + 1, 1ull << 54, ~0ull);
		service.setNumber(8, many);
		CHECK(errorOf(service).find("it has " + std::to_string(many) + " entries") != std::string::npos);
	}
	SECTION("because the target ignores offsets")
	{
		service.ignoresOffset = true;
		CHECK(errorOf(service) == "the discovery log is unusable: reads at an offset return its beginning");
	}
}

TEST_CASE("entries beyond the end of a log have a defect, or their read is refused", "[discovery]")
{
	Service service(10);
	service.setNumber(8, 11);
	auto log = nofctl::readDiscoveryLog(service);
	REQUIRE(log);
	REQUIRE(log->entries.size() == 11);
	CHECK(log->entries[9].defect.empty());
	CHECK(log->entries[10].defect == "SUBTYPE is unknown");
	service.setNumber(8, 12); // the target refuses a read at this offset
	CHECK(errorOf(service) == "refused");
}

TEST_CASE("discover prints the log as text and as JSON", "[discovery]")
{
	DiscoveryLog log;
	CHECK(formatLog(log) == "0 entries, generation 0\n");
	log.generation = 3;
	log.entries.push_back(decoded(good()));
	nvmf_disc_log_entry raw = good();
	raw.treq = NVMF_TREQ_REQUIRED;
	raw.subtype = NVME_NQN_CURR;
	raw.eflags = htole16(NVMF_DISC_EFLAGS_EPCSD);
	put(raw.traddr, "\x1b[2J");
	log.entries.push_back(decoded(raw));
	CHECK(formatLog(log) == "2 entries, generation 3\n"
				"KIND       TRANSPORT  ADDRESS         PORT  NQN                      NOTES\n"
				"---------  ---------  --------------  ----  -----------------------  "
				"-----------------------------------------------------------------------------\n"
				"subsystem  tcp        192.0.2.1:4420     7  nqn.2024-01.io.nvmeof:a\n"
				"service    tcp        ?[2J:4420          7  nqn.2024-01.io.nvmeof:a  "
				"unusable: TRADDR is not a numeric address, needs a secure channel, persistent\n");
	log.entries[1].traddr = "\xc2\x9b\x7f";
	CHECK(dump(toJson(log), -1).find("\\u009b\\u007f") != std::string::npos);
	log.entries[1].traddr = "\x1b[2J";
	Json json = toJson(log);
	CHECK(json["entries"][0]["usable"] == true);
	CHECK_FALSE(json["entries"][0].contains("cntlid"));
	CHECK(json["entries"][1]["defect"] == "TRADDR is not a numeric address");
	CHECK(json["entries"][0]["tcp_security"] == "none");

	auto notes = [](std::uint8_t treq, std::uint8_t sectype) {
		Raw e = good();
		e.treq = treq;
		e.tsas.tcp.sectype = sectype;
		std::string text = formatLog(DiscoveryLog{1, {decoded(e)}});
		return text.substr(text.find("io.nvmeof:a") + 11);
	};
	CHECK(notes(NVMF_TREQ_NOT_REQUIRED, NVMF_TCP_SECTYPE_NONE) == "\n");
	CHECK(notes(NVMF_TREQ_REQUIRED, NVMF_TCP_SECTYPE_TLS13) == "  needs TLS 1.3\n");
	CHECK(notes(NVMF_TREQ_NOT_REQUIRED, NVMF_TCP_SECTYPE_TLS) == "  offers TLS 1.2\n");
	CHECK(notes(NVMF_TREQ_REQUIRED, 9) == "  needs an unknown security type\n");
}
