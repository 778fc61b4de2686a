// SPDX-License-Identifier: LGPL-2.1-or-later
// Identify and other admin commands without privilege: permitted CNS values, concurrency, memory accounting, time
// limits
#include "namespaces_document.h"
#include "nobody.h"
#include "security_document.h"
#include "support/block.h"
#include "support/stalled_writes.h"
#include "support/multi.h"
#include "support/ports.h"
#include "support/rig.h"
#include "target/acts.h"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

namespace guest::nobody_identify {

using namespace guest::nobody;
using nvmeof::ControllerState;

namespace {

// Parses "... (CNS 00h, 01h, 05h) ..." in a document
std::set<unsigned> openByDocument(const std::string &document)
{
	std::smatch list;
	REQUIRE(std::regex_search(document, list, std::regex("CNS ((?:[0-9A-F]{2}h(?:, )?)+)")));
	const std::string text = list[1];
	const std::regex one("[0-9A-F]{2}");
	std::set<unsigned> open;
	for (std::sregex_iterator at(text.begin(), text.end(), one), end; at != end; ++at)
		open.insert(static_cast<unsigned>(std::stoul(at->str(), nullptr, 16)));
	return open;
}

} // namespace

TEST_CASE("Identify without privilege: the CNS values that SECURITY.md and namespaces.md list",
	  "[nobody][ioctl][documents]")
{
	Rig rig;
	rig.connect();
	File disk(rig.disk(), O_RDONLY);
	std::set<unsigned> open;
	for (unsigned cns = 0; cns < 256; cns++)
		if (as(Who::nobody, [&] { return identify(disk.fd, 1, cns); }) != EACCES)
			open.insert(cns);
	CHECK(open == openByDocument(securityDocument));
	CHECK(open == openByDocument(namespacesDocument));
}

TEST_CASE("Identify without privilege: at most four at a time, for all users together", "[nobody][ioctl][bounds]")
{
	static const auto unanswered = target::acts::always(target::Hook::command, [](target::Strike &s) {
		return target::acts::verdict(s.identify(target::cns_ns), s, target::Verdict::drop);
	});
	Ports ports({target::Config{}});
	auto c = ports.connectAll()[0];
	File disk(ports.disk(), O_RDONLY), node("/dev/" + c.name, O_RDWR);
	ports[0].script().arm(unanswered, target::Script::forever);
	std::vector<std::unique_ptr<Pending>> callers;
	for (int i = 0; i < 16; i++)
		callers.push_back(std::make_unique<Pending>(
			[&disk] { return as(Who::nobody, [&disk] { return identify(disk.fd, 1, 0); }); }));
	CHECK(ports[0].script().waitStrikes(4, scaled(10s)));
	std::this_thread::sleep_for(500ms);
	CHECK(ports[0].script().strikes() == 4);
	CHECK(identify(node.fd, 0, 1) == 0); // privileged callers do not wait for them
	ports[0].script().disarm();
	ports[0].dropConnections();
	for (auto &one : callers) {
		REQUIRE(one->join(scaled(20s)));
		CHECK(one->status() != preparation);
	}
	CHECK(ports.host.waitState(c.name, ControllerState::live, 10s));
	CHECK(identify(node.fd, 1, 0) == 0);
}

namespace {

// Kernel memory charged to a cgroup, bytes
std::uint64_t kernelMemory(const std::string &container)
{
	return std::stoull(must("awk '$1 == \"kernel\" { print $2 }' " + container + "/memory.stat"));
}

} // namespace

TEST_CASE("the buffer of a command is charged to its sender's cgroup", "[nobody][ioctl][memory]")
{
	static const auto unanswered = target::acts::always(target::Hook::command, [](target::Strike &s) {
		return target::acts::verdict(s.log(target::log_smart), s, target::Verdict::drop);
	});
	const std::string root = "/sys/fs/cgroup", container = root + "/memory-test";
	constexpr std::uint64_t length = 1 << 20;
	must("mountpoint -q " + root + " || mount -t cgroup2 none " + root + "; echo +memory > " + root +
	     "/cgroup.subtree_control; mkdir -p " + container);
	{
		Ports ports({target::Config{}});
		auto c = ports.connectAll()[0];
		ports[0].script().arm(unanswered, target::Script::forever);
		auto dwords = length / 4 - 1; // NUMDL and NUMDU
		Background sender("echo $$ > " + container + "/cgroup.procs; exec nvme admin-passthru /dev/" + c.name +
				  " --opcode=2 --namespace-id=0xffffffff --read --data-len=" + std::to_string(length) +
				  " --cdw10=" + std::to_string(2 | (dwords & 0xffff) << 16) +
				  " --cdw11=" + std::to_string(dwords >> 16));
		REQUIRE(ports[0].script().waitStrikes(1, scaled(10s)));
		auto used = kernelMemory(container);
		INFO(used << " bytes");
		CHECK(used >= length);
		CHECK(used < 2 * length);
		ports[0].script().disarm();
		ports[0].dropConnections();
		CHECK(sender.wait(scaled(10s)).status > 0);
		CHECK(eventually([&] { return kernelMemory(container) < length / 2; }, scaled(10s)));
	}
	must("rmdir " + container);
}

TEST_CASE("only privileged callers set a time limit, which never ends the association", "[nobody][ioctl][timeout]")
{
	Multi rig({.lanes = 1});
	auto c = rig.host.connect(rig.options(0));
	File disk(rig.disk(), O_RDONLY), node("/dev/" + c.name, O_RDWR);
	rig.lane(0).link().impair("delay 20ms");
	for (int i = 0; i < 5; i++) {
		CHECK(as(Who::nobody, [&] { return identify(disk.fd, 1, 0, 4096, 1ms); }) == 0);
		// the kernel's target completes an Abort without aborting anything
		CHECK(identify(node.fd, 1, 0, 4096, 1ms) == 0);
	}
	CHECK(identify(node.fd, 1, 0, 4096, 5s) == 0); // in time
	rig.lane(0).repair();
	CHECK(rig.host.state(c.name) == ControllerState::live);
	CHECK(rig.host.controller(c.name).reconnects == c.reconnects);
}

} // namespace guest::nobody_identify
