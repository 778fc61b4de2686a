// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "message.h"
#include "libctl/netlink/decode.h"

using namespace nvmeof;
using namespace nofctl;

namespace {

Payload &putController(Payload &p, std::uint32_t state = NVMEOF_CTRL_LIVE)
{
	p.u32(NVMEOF_A_SUBSYS_ID, 0).u32(NVMEOF_A_CTRL_ID, 1).text(NVMEOF_A_CTRL_NAME, "nvmeof0c1");
	p.text(NVMEOF_A_SUBSYSNQN, "nqn.a").text(NVMEOF_A_TRANSPORT, "tcp").text(NVMEOF_A_TRADDR, "10.0.0.1");
	return p.text(NVMEOF_A_TRSVCID, "4420").u32(NVMEOF_A_CTRL_STATE, state);
}

} // namespace

TEST_CASE("a controller with all attributes is decoded", "[decode]")
{
	Payload p;
	putController(p)
		.u16(NVMEOF_A_CNTLID, 7)
		.s32(NVMEOF_A_CTRL_LOSS_TMO, -1)
		.u32(NVMEOF_A_KATO, 5000)
		.flag(NVMEOF_A_HDR_DIGEST);
	p.u16(NVMEOF_A_LAST_STATUS, 0x184)
		.u32(NVMEOF_A_LAST_ERRNO, 5)
		.text(NVMEOF_A_LAST_ERROR, "refused")
		.u8(NVMEOF_A_TOS, 8);
	Result<Controller> c = decodeController(p.attributes());
	REQUIRE(c);
	CHECK(c->name == "nvmeof0c1");
	CHECK(c->state == ControllerState::live);
	CHECK(c->cntlid == 7);
	CHECK(c->ctrlLoss.count() == -1);
	CHECK(c->keepAlive.count() == 5000);
	CHECK(c->hdrDigest);
	CHECK_FALSE(c->dataDigest);
	CHECK(c->lastStatus == 0x184);
	CHECK(c->lastErrno == 5);
	CHECK(c->tos == 8);
}

TEST_CASE("how a controller was authenticated is decoded", "[decode][keys]")
{
	Payload p;
	putController(p);
	CHECK_FALSE(decodeController(p.attributes())->authentication);
	CHECK_FALSE(decodeController(p.attributes())->authRequired);
	p.u8(NVMEOF_A_AUTH_HASH, 2).u8(NVMEOF_A_AUTH_DHGROUP, 1).u64(NVMEOF_A_AUTH_AT, 5000);
	SECTION("by the host only")
	{
		Result<Controller> c = decodeController(p.attributes());
		REQUIRE(c);
		REQUIRE(c->authentication);
		CHECK(c->authentication->hash == "SHA-384");
		CHECK(c->authentication->dhGroup == "ffdhe2048");
		CHECK_FALSE(c->authentication->mutual);
		CHECK(c->authentication->at.count() == 5000);
	}
	SECTION("by both")
	{
		p.flag(NVMEOF_A_AUTH_MUTUAL).flag(NVMEOF_A_AUTH_REQUIRED);
		p.u32(NVMEOF_A_DHCHAP_KEY, 17).u64(NVMEOF_A_AUTH_KEY_SINCE, 4000);
		CHECK(decodeController(p.attributes())->authKey->serial == 17);
		CHECK(decodeController(p.attributes())->authKey->since.count() == 4000);
		CHECK(decodeController(p.attributes())->authentication->mutual);
		CHECK(decodeController(p.attributes())->authRequired);
	}
}

TEST_CASE("TLS of a controller is decoded", "[decode][keys]")
{
	Payload none;
	putController(none);
	CHECK_FALSE(decodeController(none.attributes())->tls);
	Payload configured; // and not connected
	putController(configured).u32(NVMEOF_A_TLS_KEY, 17);
	Result<Controller> c = decodeController(configured.attributes());
	REQUIRE(c);
	REQUIRE(c->tls);
	CHECK(c->tls->cipher.empty());
	CHECK(c->tls->key == 17);
	CHECK(c->tls->keyUsed == 0);
	for (const auto &[number, name] : {std::pair<std::uint16_t, const char *>{51, "AES-GCM-128"},
					   {52, "AES-GCM-256"},
					   {54, "CHACHA20-POLY1305"},
					   {99, "unknown"}}) {
		Payload p;
		putController(p).u16(NVMEOF_A_TLS_CIPHER, number).u32(NVMEOF_A_TLS_KEY_USED, 18);
		p.u64(NVMEOF_A_TLS_AT, 5000).u64(NVMEOF_A_TLS_KEY_SINCE, 4000);
		c = decodeController(p.attributes());
		REQUIRE(c);
		REQUIRE(c->tls);
		CHECK(c->tls->cipher == name);
		CHECK(c->tls->keyUsed == 18);
		CHECK(c->tls->at.count() == 5000);
		CHECK(c->tls->keySince.count() == 4000);
	}
}

TEST_CASE("secure channel concatenation of a controller is decoded", "[decode][keys]")
{
	Payload waiting; // for its first connection, or the next one
	putController(waiting).flag(NVMEOF_A_CONCAT);
	Result<Controller> c = decodeController(waiting.attributes());
	REQUIRE(c);
	CHECK(c->concat);
	CHECK_FALSE(c->tls);
	Payload connected;
	putController(connected).flag(NVMEOF_A_CONCAT).u32(NVMEOF_A_TLS_KEY, 17).u16(NVMEOF_A_TLS_CIPHER, 51);
	c = decodeController(connected.attributes());
	REQUIRE(c);
	REQUIRE(c->tls);
	CHECK(c->tls->generated);
	Payload configured;
	putController(configured).u32(NVMEOF_A_TLS_KEY, 17);
	CHECK_FALSE(decodeController(configured.attributes())->concat);
	CHECK_FALSE(decodeController(configured.attributes())->tls->generated);
}

TEST_CASE("hash functions and groups of a newer module are unknown", "[decode][keys]")
{
	Payload p;
	putController(p).u8(NVMEOF_A_AUTH_HASH, 4).u8(NVMEOF_A_AUTH_DHGROUP, 6).u64(NVMEOF_A_AUTH_AT, 1);
	Result<Controller> c = decodeController(p.attributes());
	REQUIRE(c);
	CHECK(c->authentication->hash == "unknown");
	CHECK(c->authentication->dhGroup == "unknown");
}

TEST_CASE("a controller without its subsystem NQN is refused", "[decode]")
{
	Payload p;
	p.u32(NVMEOF_A_SUBSYS_ID, 0).u32(NVMEOF_A_CTRL_ID, 1).text(NVMEOF_A_CTRL_NAME, "nvmeof0c1");
	Result<Controller> c = decodeController(p.attributes());
	REQUIRE_FALSE(c);
	CHECK(c.error().message.find(std::to_string(NVMEOF_A_SUBSYSNQN)) != std::string::npos);
}

TEST_CASE("a value of the wrong size is refused", "[decode]")
{
	Payload p;
	putController(p);
	SECTION("too short")
	{
		p.u16(NVMEOF_A_KATO, 1);
	}
	SECTION("too long")
	{
		p.u64(NVMEOF_A_KATO, 1);
	}
	SECTION("empty")
	{
		p.flag(NVMEOF_A_KATO);
	}
	CHECK_FALSE(decodeController(p.attributes()));
}

TEST_CASE("a namespace is decoded", "[decode]")
{
	Payload p;
	p.u32(NVMEOF_A_SUBSYS_ID, 0)
		.text(NVMEOF_A_NS_NAME, "nvmeof0n1")
		.u32(NVMEOF_A_NSID, 1)
		.u64(NVMEOF_A_SIZE, 1ULL << 40);
	SECTION("with identifiers")
	{
		p.binary(NVMEOF_A_UUID, std::string(16, '\x11')).binary(NVMEOF_A_EUI64, std::string(8, '\x22'));
		Result<Namespace> ns = decodeNamespace(p.attributes());
		REQUIRE(ns);
		CHECK(ns->uuid->toString() == "11111111-1111-1111-1111-111111111111");
		CHECK((*ns->eui64)[7] == 0x22);
		CHECK(ns->size == 1ULL << 40);
		CHECK_FALSE(ns->zones);
		CHECK_FALSE(ns->csi); // the module does not report command sets
		CHECK(ns->reservations == 0);
	}
	SECTION("with reservations, protection information and atomic writes")
	{
		p.u8(NVMEOF_A_RESERVATIONS, 0x7f).u8(NVMEOF_A_PROTECTION, 2);
		p.u32(NVMEOF_A_ATOMIC_WRITE, 65536).u32(NVMEOF_A_ATOMIC_BOUNDARY, 131072);
		Result<Namespace> ns = decodeNamespace(p.attributes());
		REQUIRE(ns);
		CHECK(ns->reservations & nvmeof::reservationsPersist);
		CHECK(ns->reservations & nvmeof::exclusiveAccessAllRegistrants);
		CHECK(ns->protection == 2);
		CHECK(ns->atomicWrite == 65536);
		CHECK(ns->atomicBoundary == 131072);
	}
	SECTION("another command set")
	{
		p.u8(NVMEOF_A_CSI, 1).u32(NVMEOF_A_LBA_SIZE, 0);
		CHECK(decodeNamespace(p.attributes())->csi == 1);
	}
	SECTION("zoned")
	{
		p.u64(NVMEOF_A_ZONE_SIZE, 1 << 20).u32(NVMEOF_A_NR_ZONES, 8).u32(NVMEOF_A_OPEN_ZONES, 3);
		Result<Namespace> ns = decodeNamespace(p.attributes());
		REQUIRE(ns);
		REQUIRE(ns->zones);
		CHECK(ns->zones->size == 1 << 20);
		CHECK(ns->zones->count == 8);
		CHECK(ns->zones->maxOpen == 3);
		CHECK(ns->zones->maxActive == 0);
	}
}

TEST_CASE("a namespace with an identifier of a wrong size is refused", "[decode]")
{
	auto [type, size] = GENERATE(table<int, std::size_t>({{NVMEOF_A_UUID, 15},
							      {NVMEOF_A_UUID, 17},
							      {NVMEOF_A_NGUID, 15},
							      {NVMEOF_A_NGUID, 17},
							      {NVMEOF_A_EUI64, 7},
							      {NVMEOF_A_EUI64, 9}}));
	Payload p;
	p.u32(NVMEOF_A_SUBSYS_ID, 0).text(NVMEOF_A_NS_NAME, "nvmeof0n1").u32(NVMEOF_A_NSID, 1);
	REQUIRE(decodeNamespace(p.attributes()));
	p.binary(type, std::string(size, '\x11'));
	CAPTURE(type, size);
	CHECK_FALSE(decodeNamespace(p.attributes()));
}

TEST_CASE("a subsystem's policy is decoded", "[decode]")
{
	Payload p;
	p.u32(NVMEOF_A_SUBSYS_ID, 0).text(NVMEOF_A_SUBSYS_NAME, "nvmeof0").text(NVMEOF_A_SUBSYSNQN, "nqn.x");
	CHECK(decodeSubsystem(p.attributes())->fencing == Fencing::immediate); // older modules do not report fencing
	p.u32(NVMEOF_A_SPILL_US, 500).u32(NVMEOF_A_SPILL_DEPTH, 32).u8(NVMEOF_A_DEGRADE, 1);
	p.u32(NVMEOF_A_FENCING, NVMEOF_FENCING_SAFE).u32(NVMEOF_A_DELAYED_REMOVAL, 60).u32(NVMEOF_A_QUIESCE_TMO, 45);
	Result<Subsystem> s = decodeSubsystem(p.attributes());
	REQUIRE(s);
	CHECK(s->spillLatency == std::chrono::microseconds(500));
	CHECK(s->spillDepth == 32);
	CHECK(s->degrade);
	CHECK(s->fencing == Fencing::safe);
	CHECK(s->delayedRemoval == std::chrono::seconds(60));
	CHECK(s->quiesceTimeout == std::chrono::seconds(45));
}

TEST_CASE("a path with its statistics is decoded", "[decode]")
{
	Payload p;
	p.text(NVMEOF_A_PATH_NAME, "nvmeof0c1n1").text(NVMEOF_A_NS_NAME, "nvmeof0n1");
	p.text(NVMEOF_A_CTRL_NAME, "nvmeof0c1").u32(NVMEOF_A_NSID, 1);
	p.u64(NVMEOF_A_ANA_SINCE, 77).u8(NVMEOF_A_DEGRADED, 1).flag(NVMEOF_A_NVFS).u64(NVMEOF_A_FAILOVERS_FROM, 3);
	p.u64(NVMEOF_A_FAILOVERS_TO, 4).u32(NVMEOF_A_RECONNECTS, 2).text(NVMEOF_A_LAST_ERROR, "reset by peer");
	Histogram reads{};
	reads[0] = 1, reads[23] = UINT64_MAX;
	std::string raw(reinterpret_cast<const char *>(reads.data()), sizeof(reads));
	SECTION("the histogram has the right size")
	{
		Result<Path> path = decodePath(p.binary(NVMEOF_A_LATENCY_READ, raw).attributes());
		REQUIRE(path);
		CHECK(path->anaSince == std::chrono::nanoseconds(77));
		CHECK(path->degraded);
		CHECK_FALSE(path->p2p);
		CHECK(path->nvfs);
		CHECK(path->failoversFrom == 3);
		CHECK(path->failoversTo == 4);
		CHECK(path->reconnects == 2);
		CHECK(path->lastError == "reset by peer");
		CHECK(path->readLatency == reads);
		CHECK(path->writeLatency == Histogram{});
	}
	SECTION("the histogram has another size")
	{
		const int type = GENERATE(NVMEOF_A_LATENCY_READ, NVMEOF_A_LATENCY_WRITE);
		const std::string other = GENERATE_COPY(raw.substr(8), raw + std::string(8, '\0'), std::string());
		CHECK_FALSE(decodePath(p.binary(type, other).attributes()));
	}
}

TEST_CASE("a time beyond the range is bounded, so that differences of times do not overflow", "[decode]")
{
	Payload p;
	p.text(NVMEOF_A_PATH_NAME, "nvmeof0c1n1").text(NVMEOF_A_NS_NAME, "nvmeof0n1");
	p.text(NVMEOF_A_CTRL_NAME, "nvmeof0c1").u32(NVMEOF_A_NSID, 1);
	auto since = GENERATE(std::uint64_t(1) << 63, UINT64_MAX, std::uint64_t(INT64_MAX));
	p.u64(NVMEOF_A_ANA_SINCE, since).u64(NVMEOF_A_LATENCY_READ_NS, UINT64_MAX);
	Result<Path> path = decodePath(p.attributes());
	REQUIRE(path);
	CHECK(path->anaSince == std::chrono::nanoseconds(INT64_MAX / 2));
	CHECK(path->readLatencyTotal.count() == UINT64_MAX); // the sum over all requests is not bounded
}

TEST_CASE("text without a NUL ends with its attribute", "[decode]")
{
	Payload p;
	p.u32(NVMEOF_A_SUBSYS_ID, 0).text(NVMEOF_A_SUBSYS_NAME, "nvmeof0").binary(NVMEOF_A_SUBSYSNQN, "nqn.x");
	p.binary(NVMEOF_A_MODEL, std::string("ab\0cd", 5));
	Result<Subsystem> s = decodeSubsystem(p.attributes());
	REQUIRE(s);
	CHECK(s->nqn == "nqn.x");
	CHECK(s->model == "ab");
}

TEST_CASE("repeated attributes are collected, and unknown ones ignored", "[decode]")
{
	Payload p;
	p.u32(NVMEOF_A_API_VERSION, 1)
		.text(NVMEOF_A_TRANSPORT, "tcp")
		.text(NVMEOF_A_TRANSPORT, "rdma")
		.u32(NVMEOF_A_MAX + 1, 9);
	Result<ModuleVersion> v = decodeVersion(p.attributes());
	REQUIRE(v);
	CHECK(v->transports == std::vector<std::string>{"tcp", "rdma"});
}

TEST_CASE("every truncation of a message is decoded or refused without a read past its end", "[decode]")
{
	Payload p;
	std::vector<std::byte> whole = putController(p).bytes();
	std::size_t refused = 0;
	for (std::size_t length = 0; length < whole.size(); length++) {
		// An allocation of exactly this size, so that AddressSanitizer detects a read past the end.
		std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
		Result<Attributes> attributes = Attributes::parse(cut);
		refused += !attributes || !decodeController(*attributes);
	}
	CHECK(refused == whole.size()); // the last attribute, the state, is mandatory
}

TEST_CASE("wrong lengths are refused", "[decode]")
{
	Payload p;
	std::vector<std::byte> bytes = p.u32(NVMEOF_A_NSID, 1).u32(NVMEOF_A_SUBSYS_ID, 1).bytes();
	nlattr header;
	std::memcpy(&header, bytes.data(), sizeof(header));
	header.nla_len = GENERATE(0, 3, 17, 0xffff);
	std::memcpy(bytes.data(), &header, sizeof(header));
	CHECK_FALSE(Attributes::parse(bytes));
}

TEST_CASE("events are decoded", "[decode]")
{
	Payload p;
	SECTION("of a controller's state")
	{
		putController(p)
			.u32(NVMEOF_A_EVENT, NVMEOF_EVENT_STATE)
			.u64(NVMEOF_A_TIME, 5)
			.u32(NVMEOF_A_OLD_STATE, NVMEOF_CTRL_CONNECTING);
		auto event = decodeEvent(NVMEOF_CMD_CTRL_NTF, p.attributes());
		REQUIRE(event);
		REQUIRE(*event);
		CHECK((*event)->type == EventType::state);
		CHECK((*event)->name() == "nvmeof0c1");
		CHECK((*event)->oldState == ControllerState::connecting);
		CHECK((*event)->time.count() == 5);
	}
	SECTION("of the target")
	{
		p.u32(NVMEOF_A_EVENT, NVMEOF_EVENT_AEN)
			.text(NVMEOF_A_CTRL_NAME, "nvmeof0c1")
			.u8(NVMEOF_A_AEN_TYPE, 2)
			.u8(NVMEOF_A_AEN_INFO, 3);
		auto event = decodeEvent(NVMEOF_CMD_AEN_NTF, p.attributes());
		REQUIRE(event);
		REQUIRE((*event)->aen());
		CHECK((*event)->aen()->info == 3);
	}
	SECTION("of a failover")
	{
		p.u32(NVMEOF_A_SUBSYS_ID, 0).text(NVMEOF_A_NS_NAME, "nvmeof0n1").u32(NVMEOF_A_NSID, 1);
		p.u32(NVMEOF_A_EVENT, NVMEOF_EVENT_FAILOVER).text(NVMEOF_A_PATH_NAME, "nvmeof0c1n1");
		p.u32(NVMEOF_A_FAILOVER_IOS, 12).u64(NVMEOF_A_FAILOVER_NS, 3200000);
		auto event = decodeEvent(NVMEOF_CMD_NS_NTF, p.attributes());
		REQUIRE(event);
		REQUIRE((*event)->failover);
		CHECK((*event)->type == EventType::failover);
		CHECK((*event)->name() == "nvmeof0n1");
		CHECK((*event)->failover->path == "nvmeof0c1n1");
		CHECK((*event)->failover->ios == 12);
		CHECK((*event)->failover->duration == std::chrono::microseconds(3200));
	}
	SECTION("without a type: refused")
	{
		CHECK_FALSE(decodeEvent(NVMEOF_CMD_CTRL_NTF, putController(p).attributes()));
	}
	SECTION("unknown: ignored")
	{
		auto event = decodeEvent(NVMEOF_CMD_MAX + 1, p.attributes());
		REQUIRE(event);
		CHECK_FALSE(*event);
	}
}
