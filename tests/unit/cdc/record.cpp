// SPDX-License-Identifier: LGPL-2.1-or-later
// Records are encoded and decoded: as JSON, and as entries of a discovery log.
#include "record.h"

#include "support.h"

using namespace cdc;
using namespace nofctl::wire;
using Catch::Contains;

namespace {

template <typename T> void comesBack(const T &record)
{
	const auto again = T::of(Json::parse(record.json().dump()));
	INFO((again ? "" : again.error().message));
	REQUIRE(again.ok());
	CHECK(*again == record);
}

template <typename T> std::string recordRefusal(const std::string &json)
{
	const auto record = T::of(Json::parse(json));
	return record ? "" : record.error().message;
}

} // namespace

TEST_CASE("records survive a round trip through JSON", "[cdc][record]")
{
	Target target = aTarget("a", "fe80::1%eth0");
	comesBack(target);
	target.type = sub_referral;
	target.trsvcid = "8009";
	target.portid = 65535;
	target.treq = treq_required;
	target.sectype = sec_tls13;
	target.state = ana_inaccessible;
	target.origin = {.source = "push", .owner = "nqn.2024-01.io.nvmeof:target", .ends = 2000000000};
	comesBack(target);
	target.transport = tr_rdma;
	target.sectype = sec_none;
	target.qptype = qp_datagram;
	target.prtype = pr_iwarp;
	comesBack(target);
	comesBack(aZone("z", {"nqn.a:*", "nqn.b:c"}, {"nqn.t:?"}));
	Host host = aHost("h");
	host.hostid = "id";
	host.interfaces = {"tcp 10.0.0.1", "rdma 10.0.1.1"};
	comesBack(host);
	Instance instance = anInstance("i");
	instance.draining = true;
	instance.addresses.push_back("[fe80::1%eth0]:8009");
	comesBack(instance);
}

TEST_CASE("a target survives a round trip through its log entry", "[cdc][record]")
{
	for (TransportType transport : {tr_tcp, tr_rdma}) {
		Target target = aTarget("a", "10.0.0.7");
		target.transport = transport;
		target.trsvcid = "4421";
		target.portid = 3;
		if (transport == tr_tcp)
			target.sectype = sec_tls13;
		else
			target.prtype = pr_roce;
		const auto again = Target::of(target.entry());
		REQUIRE(again.ok());
		CHECK(*again == target);
	}
	DiscoveryEntry entry = aTarget("a").entry();
	entry.trtype = tr_fc;
	CHECK_FALSE(Target::of(entry).ok());
	entry = aTarget("a").entry();
	entry.subtype = sub_current;
	CHECK_FALSE(Target::of(entry).ok());
	entry = aTarget("a").entry();
	entry.traddr[0] = 'x';
	CHECK_FALSE(Target::of(entry).ok());
}

TEST_CASE("a key has the kind and the name of its record", "[cdc][record]")
{
	CHECK(aTarget("a").key() == "targets/nqn.2024-01.io.nvmeof:a tcp 10.0.0.1 4420");
	CHECK(kindOf(aTarget("a").key()) == Kind::target);
	CHECK(kindOf(aZone("z").key()) == Kind::zone);
	CHECK(kindOf(aHost("h").key()) == Kind::host);
	CHECK(kindOf(anInstance("i").key()) == Kind::instance);
	CHECK_FALSE(kindOf("zone/z").has_value());
	CHECK(nameOf("zones/z") == "z");
	CHECK(affectsLogs(Kind::instance));
	CHECK_FALSE(affectsLogs(Kind::host));
}

TEST_CASE("an invalid record is refused with the reason", "[cdc][record]")
{
	CHECK_THAT(recordRefusal<Target>("[]"), Contains("must be an object"));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":"nqn.a:b"})"), Contains("traddr is missing"));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":7,"traddr":"10.0.0.1"})"), Contains("nqn is not a string"));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":"nqn.a:b","traddr":"nowhere"})"), Contains("target: "));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":"nqn.a:b","traddr":"10.0.0.1","trsvcid":"99999"})"),
		   Contains("not a port"));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":"nqn.a:b","traddr":"10.0.0.1","portid":65536})"),
		   Contains("portid"));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":"nqn.a:b","traddr":"10.0.0.1","state":"fine"})"),
		   Contains("'fine'"));
	CHECK_THAT(recordRefusal<Target>(R"({"nqn":"nqn.a:b","traddr":"10.0.0.1","transport":"fc"})"),
		   Contains("'fc'"));
	CHECK_THAT(recordRefusal<Zone>(R"({"name":"a/b"})"), Contains("slash"));
	CHECK_THAT(recordRefusal<Zone>(R"({"name":"a","hosts":"nqn"})"), Contains("hosts must be a list"));
	CHECK_THAT(recordRefusal<Zone>(R"({"name":"a","hosts":[1]})"), Contains("an element of hosts"));
	CHECK_THAT(recordRefusal<Instance>(R"({"id":"a","nqn":"n","addresses":["nowhere"]})"), Contains("instance: "));
	CHECK_THAT(recordRefusal<Instance>(R"({"id":"a","nqn":"n","draining":"no"})"),
		   Contains("must be true or false"));
}
