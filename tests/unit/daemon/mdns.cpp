// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mdns_services.h"
#include "mdns.h"

#include <nvmeof/discovery.h>
#include <nvmeof/discovery_plan.h>

#include <catch2/catch.hpp>

using namespace nvmeof;
using namespace nvmeofd;

namespace {

MdnsRecord record(const char *type, std::vector<std::string> text, const char *address = "10.0.0.1")
{
	return {type, "eth0", address, 8009, std::move(text)};
}

MdnsService service(unsigned number, const char *interface = "eth0")
{
	MdnsService found;
	found.options.address = {"10.0.0." + std::to_string(number), "8009"};
	found.interface = interface;
	return found;
}

bool never(const std::string &)
{
	return false;
}

bool always(const std::string &)
{
	return true;
}

} // namespace

TEST_CASE("a service is decoded from its mDNS record", "[daemon][mdns]")
{
	Result<ConnectOptions> tcp = serviceOf(record(mdnsTcp, {"p=tcp", "nqn=nqn.2024-01.io.example:cdc"}));
	REQUIRE(tcp.ok());
	CHECK(tcp->transport == "tcp");
	CHECK(tcp->address.toString() == "10.0.0.1:8009");
	CHECK(tcp->subsysnqn == "nqn.2024-01.io.example:cdc");
	CHECK(tcp->hostIface.empty());
	CHECK(serviceOf(record(mdnsTcp, {}))->transport == "tcp");
	CHECK(serviceOf(record(mdnsTcp, {}))->subsysnqn == discoveryNqn);
	CHECK(serviceOf(record(mdnsUdp, {}))->transport == "rdma");
	CHECK(serviceOf(record(mdnsTcp, {"P=RoCE"}))->transport == "rdma");
	CHECK(serviceOf(record(mdnsUdp, {"p=tcp"}))->transport == "tcp");
	// Keys are case-insensitive (RFC 6763, 6.4), and some services use upper case.
	CHECK(serviceOf(record(mdnsTcp, {"NQN=nqn.a"}))->subsysnqn == "nqn.a");
	CHECK(serviceOf(record(mdnsTcp, {"", "=", "nqn", "x=y", "nqn=nqn.b"}))->subsysnqn == "nqn.b");
	CHECK(serviceOf(record(mdnsTcp, {}, "fe80::1"))->address.traddr == "fe80::1%eth0");
	CHECK(serviceOf(record(mdnsTcp, {}, "fd00::1"))->address.traddr == "fd00::1");
}

TEST_CASE("invalid mDNS records are refused", "[daemon][mdns]")
{
	CHECK_FALSE(serviceOf(record(mdnsTcp, {"p=fc"})).ok());
	CHECK_FALSE(serviceOf(record(mdnsTcp, {"nqn="})).ok());
	CHECK_FALSE(serviceOf(record(mdnsTcp, {"nqn=with blank"})).ok());
	CHECK_FALSE(serviceOf(record(mdnsTcp, {"nqn=" + std::string(300, 'n')})).ok());
	CHECK_FALSE(serviceOf(record(mdnsTcp, {}, "target.example")).ok());
	CHECK_FALSE(serviceOf(record(mdnsTcp, {}, "")).ok());
	MdnsRecord noPort = record(mdnsTcp, {});
	noPort.port = 0;
	CHECK_FALSE(serviceOf(noPort).ok());
}

TEST_CASE("a service that is no longer announced stays", "[daemon][mdns]")
{
	Config config;
	config.mdns = true;
	MdnsServices found({service(1)}); // from an earlier run
	CHECK(found.wanted(config).size() == 1);
	CHECK_FALSE(found.all()[0].announced);
	auto fresh = found.announce({service(1), service(2)}, always);
	REQUIRE(fresh.size() == 1);
	CHECK(fresh[0].options.address.traddr == "10.0.0.2");
	CHECK(found.all()[0].announced);
	CHECK(found.announce({service(2)}, always).empty());
	CHECK(found.wanted(config).size() == 2);
	CHECK_FALSE(found.find(serviceKey(service(1).options))->announced);
	found.forget(never);
	CHECK(found.all().size() == 2);
	found.forget(always);
	REQUIRE(found.all().size() == 1);
	CHECK(found.all()[0].announced); // an announced service is not forgotten
}

TEST_CASE("services on excluded interfaces are not used", "[daemon][mdns]")
{
	MdnsServices found({service(1, "eth0"), service(2, "eth1")});
	Config config;
	CHECK(found.wanted(config).empty());
	config.mdnsInterfaces["eth1"] = true;
	REQUIRE(found.wanted(config).size() == 1);
	CHECK(found.wanted(config)[0].address.traddr == "10.0.0.2");
}

TEST_CASE("the number of announced services is bounded", "[daemon][mdns]")
{
	std::vector<MdnsService> many;
	for (unsigned i = 0; i < 200; i++)
		many.push_back(service(i + 10));
	MdnsServices found({service(1)});
	CHECK(found.announce(many, always).size() == MdnsServices::max); // the silent one was displaced
	CHECK(found.all().size() == MdnsServices::max);
	CHECK(found.find(serviceKey(service(1).options)) == nullptr);
	CHECK(found.refused() == 200 - MdnsServices::max);
	CHECK(found.announce({service(2)}, always).size() == 1);
	CHECK(found.refused() == 0);
	CHECK(MdnsServices(many).all().size() == MdnsServices::max);
}

TEST_CASE("new services do not displace one that answers, and nothing is gone while services are missing",
	  "[daemon][mdns]")
{
	std::vector<MdnsService> many;
	for (unsigned i = 0; i < MdnsServices::max; i++)
		many.push_back(service(i + 10));
	MdnsServices found({service(1)});
	CHECK_FALSE(found.incomplete());
	CHECK(found.announce(many, never).size() == MdnsServices::max - 1);
	CHECK(found.find(serviceKey(service(1).options)));
	CHECK(found.refused() == 1);
	CHECK(found.incomplete());
	// also not by their order: an announced service stays
	std::vector<MdnsService> again{service(2), service(1)};
	again.insert(again.end(), many.begin(), many.end());
	CHECK(found.announce(again, always).empty());
	CHECK(found.find(serviceKey(service(1).options)));
	many.pop_back();
	CHECK(found.announce(many, always).empty());
	CHECK_FALSE(found.incomplete());
	CHECK(found.announce({service(2)}, always).size() == 1); // a silent one goes, and its log with it
	CHECK(found.refused() == 0);
	CHECK(found.incomplete());
	CHECK(found.displaced());
	MdnsServices later(found.all(), found.displaced()); // of the next daemon
	CHECK(later.incomplete());
	for (MdnsServices *one : {&found, &later}) {
		one->forget(never);
		CHECK_FALSE(one->incomplete());
	}
}
