// SPDX-License-Identifier: LGPL-2.1-or-later
// Namespaces and controllers whose identity changes or conflicts.
#include "support/stalled_writes.h"
#include "support/intree.h"
#include "support/ports.h"
#include "target/acts.h"
#include "target/connection.h"
#include "target/identify.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

namespace guest::hostile_identity {

using target::acts::always;
using target::acts::failed;
using target::acts::verdict;
using target::acts::when;

namespace {

constexpr std::uint64_t size = 1 << 20;
constexpr std::size_t block = 4096;

// The disk of a store, found by its UUID because its name may change. Empty if there is none.
std::string nodeOf(const target::Store &store)
{
	nvmeof::Uuid uuid{store.uuid()};
	std::error_code none;
	for (auto &entry : std::filesystem::directory_iterator("/sys/block", none))
		if (readFile(entry.path() / "uuid") == uuid.toString())
			return "/dev/" + entry.path().filename().string();
	return {};
}

// Write continuously to the disk of one namespace from several threads, even if the disk is replaced meanwhile.
class Writers {
public:
	explicit Writers(const target::Store &store) : store_(store)
	{
		for (std::uint32_t i = 0; i < 4; i++)
			threads_.emplace_back([this, i](const std::stop_token &stop) { write(stop, i); });
	}

	// Waits until this many more writes have completed.
	bool progress(std::uint64_t more)
	{
		auto end = done_ + more;
		return eventually([&] { return done_ >= end; }, 20s);
	}

private:
	void write(const std::stop_token &stop, std::uint32_t which)
	{
		Buffer buffer(block);
		while (!stop.stop_requested()) {
			auto node = nodeOf(store_);
			Disk disk(node.empty() ? "/dev/none" : node);
			for (std::uint32_t i = which; disk.fd() >= 0 && !stop.stop_requested(); i += 4) {
				buffer.fill(i + 1);
				if (disk.write(i % (size / block) * block, buffer))
					break;
				done_++;
			}
			std::this_thread::sleep_for(10ms);
		}
	}

	const target::Store &store_;
	std::atomic<std::uint64_t> done_{0};
	std::vector<std::jthread> threads_; // destroyed first
};

// Number of blocks that were written
std::size_t written(const target::Store &store)
{
	const target::Bytes none(block);
	std::size_t count = 0;
	for (std::uint64_t at = 0; at < size; at += block)
		count += store.peek(at, block) != none;
	return count;
}

// Restarts a port with another set of namespaces; null restores its own.
void swap(target::Server &port, target::Stores *view)
{
	port.stop();
	port.show(view);
	port.start();
}

// A target that was set up again: another serial number, and firmware revision
std::atomic<const char *> serial = "OTHER";
const auto otherIdentity = always(target::Hook::adminData, [](target::Strike &s) {
	return when(s.identify(target::cns_ctrl), [&] {
		put(*s.data, target::at::serial, std::string(serial), ' ');
		put(*s.data, target::at::firmware, std::string("2.0"), ' ');
	});
});

const auto noIdentifiers = always(target::Hook::adminData, [](target::Strike &s) {
	auto clear = [&](std::size_t at, std::size_t length) { std::fill_n(s.data->begin() + at, length, 0); };
	return when(s.identify(target::cns_descs), [&] { clear(0, s.data->size()); }) ||
	       when(s.identify(target::cns_ns), [&] { clear(104, 16); }); // NGUID
});

nvmeof::Subsystem subsystemOf(Host &host)
{
	auto all = take(host.client().subsystems());
	REQUIRE(all.size() == 1);
	return all.front();
}

bool allUsable(Host &host, std::size_t count)
{
	auto paths = host.paths();
	return paths.size() == count && std::ranges::all_of(paths, [](auto &p) { return p.usable; });
}

} // namespace

// The writers have requests waiting or in flight when the connection fails and returns to another namespace.
TEST_CASE("a namespace that replaces another during a connection loss gets none of its writes",
	  "[hostile][paths][identity]")
{
	std::size_t count = 0;
	SECTION("one path")
	{
		count = 1;
	}
	SECTION("two paths, one of which leads to the other namespace")
	{
		count = 2;
	}
	auto foreign = std::make_shared<target::Store>(2, size);
	target::Stores other;
	other.put(1, foreign);
	Ports ports(std::vector<target::Config>(count), size);
	ports.connectAll();
	Writers writers(ports.store());
	auto right = [&] {
		std::size_t n = 0;
		for (auto &p : ports.host.paths())
			n += p.usable && "/dev/" + p.nameSpace == nodeOf(ports.store());
		return n;
	};
	for (int i = 0; i < 100; i++) {
		INFO("swap " << i);
		REQUIRE(eventually([&] { return right() == count; }, 20s));
		REQUIRE(writers.progress(20));
		swap(ports[0], &other);
		auto seen = [&] { return count == 1 ? !nodeOf(*foreign).empty() : ports.host.paths().size() == 1; };
		REQUIRE(eventually(seen, 20s));
		REQUIRE(written(*foreign) == 0);
		swap(ports[0], nullptr);
	}
	CHECK(written(ports.store()) > 0);
}

TEST_CASE("a target that was set up again may have another serial number", "[hostile][paths][identity][trap38]")
{
	Ports ports(std::vector<target::Config>(2));
	auto list = ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	REQUIRE(subsystemOf(ports.host).serial == "TARGET0001");
	Watch watch;
	for (std::size_t i : {0, 1}) {
		ports[i].stop();
		ports[i].script().arm(otherIdentity, target::Script::forever);
	}
	for (std::size_t i : {0, 1})
		ports[i].start();
	auto told = [](const nvmeof::Event &e) {
		return e.type == nvmeof::EventType::changed && e.subsystem() && e.subsystem()->serial == "OTHER" &&
		       e.subsystem()->firmware == "2.0";
	};
	CHECK(watch.find(told, 15s));
	CHECK(eventually([&] { return allUsable(ports.host, 2); }, 15s));
	CHECK(subsystemOf(ports.host).serial == "OTHER");
	CHECK(ports.work(disk) == 0); // the identifiers are the same, so the disk is

	serial = "THIRD"; // at one port only, it contradicts the other port
	ports[1].dropConnections();
	CHECK(eventually([&] {
		return ports.host.controller(list[1].name).lastError.find("serial number") != std::string::npos;
	}));
	CHECK(allUsable(ports.host, 2) == false);
	CHECK(ports.work(disk) == 0);
	serial = "OTHER";
	CHECK(eventually([&] { return allUsable(ports.host, 2); }, 15s));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("a namespace without identifiers has the same wwid as with the in-tree driver", "[hostile][identity][intree]")
{
	target::Config config;
	config.port = 4420;
	Ports ports({config});
	ports[0].script().arm(noIdentifiers, target::Script::forever);
	ports.connect(0);
	auto ours = ports.disk();
	InTree intree(here(), config.nqn);
	REQUIRE_FALSE(intree.disk().empty());
	CHECK(readFile("/sys/block/" + ours.substr(5) + "/wwid") == readFile("/sys/block/" + intree.disk() + "/wwid"));
}

TEST_CASE("a namespace without identifiers becomes another one when the serial number changes",
	  "[hostile][identity][trap38]")
{
	Ports ports(std::vector<target::Config>(1));
	ports[0].script().arm(noIdentifiers, target::Script::forever);
	ports.connect(0);
	auto wwid = [&] {
		auto list = take(ports.host.client().namespaces());
		return list.size() == 1 ? list.front().wwid : "";
	};
	auto before = wwid();
	// vendor ID, serial number and model in hexadecimal, NSID
	CHECK(before.starts_with("nvme.0000-54415247455430303031-"));
	auto name = ports.disk();
	Disk disk(name);
	REQUIRE(ports.work(disk) == 0);
	ports[0].dropConnections();
	CHECK(eventually([&] { return allUsable(ports.host, 1) && ports.work(disk) == 0; }, 15s));
	CHECK(wwid() == before);

	static const auto both = always(target::Hook::adminData, [](target::Strike &s) {
		bool struck = noIdentifiers.act(s);
		return otherIdentity.act(s) || struck;
	});
	ports[0].stop();
	ports[0].script().arm(both, target::Script::forever);
	ports[0].start();
	CHECK(eventually([&] { return wwid().starts_with("nvme.") && wwid() != before; }, 15s));
	Buffer buffer(4096);
	CHECK(disk.write(0, buffer) < 0); // the disk of the old namespace is gone
}

TEST_CASE("of two controllers with one ID that connect at the same time, one becomes live",
	  "[hostile][paths][identity][trap20]")
{
	// The first command after Identify Controller, by which each has looked for a duplicate
	static const auto hold = always(target::Hook::command, [](target::Strike &s) {
		return verdict(s.admin(target::op_set_features), s, target::Verdict::hold);
	});
	target::Server one(reachable()), other(reachable()); // each assigns controller IDs from 1
	for (auto *server : {&one, &other})
		server->stores().add(1, size);
	Host host;
	auto options = [&](target::Server &server) {
		auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
		o.ioQueues = 1;
		return o;
	};
	for (int i = 0; i < 5; i++) {
		for (auto *server : {&one, &other}) {
			server->script().arm(hold, 1);
			REQUIRE(host.client().connect(options(*server), nvmeof::WaitFor::none).ok());
			REQUIRE(server->script().waitStrikes(1, scaled(5s)));
		}
		one.releaseHeld();
		other.releaseHeld();
		CHECK(eventually([&] {
			auto list = take(host.client().controllers());
			return list.size() == 1 && list.front().state == nvmeof::ControllerState::live;
		}));
		CHECK(eventually([&] { return allUsable(host, 1); }));
		host.disconnectAll();
	}
}

TEST_CASE("an old target that fails the descriptor list without DNR is used", "[hostile][identity]")
{
	static const auto unknown = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.identify(target::cns_descs), s, target::st_internal);
	});
	target::Config config;
	config.version = 0x10200;
	Ports ports({config});
	ports[0].script().arm(unknown, target::Script::forever);
	ports.connect(0);
	CHECK(ports[0].script().strikes() > 0);
	Disk disk(ports.disk());
	CHECK(ports.work(disk) == 0);
	CHECK(take(ports.host.client().namespaces()).front().wwid.starts_with("eui."));
}

// A path that was refused because of another path's namespace is scanned again when that is removed, in any order.
TEST_CASE("every path returns after namespaces have changed their NSIDs at random",
	  "[hostile][paths][identity][trap40]")
{
	constexpr std::size_t ports_ = 6, namespaces = 4;
	const int rounds = std::stoi(environment("NVMEOF_REMAPS", "25"));
	std::mt19937 random(static_cast<unsigned>(std::stoul(environment("NVMEOF_SEED", "1"))));
	target::Config config;
	config.ana = true;
	Ports ports(std::vector<target::Config>(ports_, config), size);
	std::vector<std::shared_ptr<target::Store>> stores;
	for (std::uint32_t i = 0; i < namespaces; i++)
		stores.push_back(std::make_shared<target::Store>(i + 1, size, 9, i % 3 + 1));
	std::vector<std::uint32_t> ids(6);
	std::iota(ids.begin(), ids.end(), 1);
	auto remap = [&] {
		std::map<std::uint32_t, std::shared_ptr<target::Store>> map;
		std::ranges::shuffle(ids, random);
		for (std::size_t i = 0; i < namespaces; i++)
			map[ids[i]] = stores[i];
		ports.subsystem().stores().replace(map);
	};
	for (std::uint32_t i = 0; i < ports_; i++) // each group is optimized at two of the ports
		for (std::uint32_t group = 1; group <= 3; group++)
			ports[i].setAnaState(group,
					     i % 3 + 1 == group ? target::ana_optimized : target::ana_non_optimized);
	remap();
	ports.connectAll();
	auto whole = [&] {
		return allUsable(ports.host, ports_ * namespaces) &&
		       take(ports.host.client().namespaces()).size() == namespaces;
	};
	Millis longest{0};
	for (int i = 0; i < rounds; i++) {
		INFO("remap " << i << ": " << ports.paths());
		remap();
		Stopwatch time;
		for (std::size_t p = 0; p < ports_; p++)
			ports[p].namespacesChanged();
		auto sees = [&] { // with the new NSIDs
			for (std::size_t n = 0; n < namespaces; n++) {
				auto node = nodeOf(*stores[n]);
				if (node.empty() ||
				    readFile("/sys/block/" + node.substr(5) + "/nsid") != std::to_string(ids[n]))
					return false;
			}
			return whole();
		};
		REQUIRE(eventually(sees, 5s));
		longest = std::max(longest, time.elapsed());
	}
	std::printf("figure: remaps: %d, the longest took %ld ms\n", rounds, longest.count());
	for (auto &store : stores) {
		Disk disk(nodeOf(*store));
		CHECK(disk.verified(0, block, store->nsid()) == 0);
		CHECK(written(*store) == 1);
	}
}

TEST_CASE("a capacity change that one path sees first does not keep another path out",
	  "[hostile][paths][identity][trap40]")
{
	Ports ports(std::vector<target::Config>(2));
	ports.connect(0);
	ports.store().resize(16 << 20); // without an event
	auto second = ports.host.client().connect(ports.options(1), nvmeof::WaitFor::namespaces, scaled(10s));
	CHECK(second.ok());
	CHECK(eventually([&] { return allUsable(ports.host, 2); }, 5s));
	Disk disk(ports.disk());
	CHECK(disk.size() == 16 << 20);
	CHECK(ports.work(disk) == 0);
}

namespace {

// formatting is set from Format NVM until the next Identify of the namespace; meanwhile counts writes in that time.
std::atomic<bool> formatting, asked;
std::atomic<unsigned> meanwhile;

const auto takesItsTime = always(target::Hook::command, [](target::Strike &s) {
	if (s.admin(0x80)) { // Format NVM
		formatting = asked = true;
		std::this_thread::sleep_for(500ms);
	} else if (s.identify(target::cns_ns) || s.identify(target::cns_descs)) {
		formatting = false;
	} else if (s.ioWrite() && formatting) {
		meanwhile++;
	}
	return false;
});

} // namespace

TEST_CASE("no write is sent while passthrough may change the format of a namespace",
	  "[hostile][paths][identity][passthrough]")
{
	Ports ports(std::vector<target::Config>(2));
	auto controllers = ports.connectAll();
	const auto words = "nvme admin-passthru /dev/" + controllers[0].name + " -o 0x80 -n 1";
	formatting = asked = false;
	meanwhile = 0;
	SECTION("no new write")
	{
		Writers writers(ports.store());
		REQUIRE(writers.progress(20));
		for (std::size_t i : {0, 1})
			ports[i].script().arm(takesItsTime, target::Script::forever);
		auto format = run(words);
		INFO(format.text);
		CHECK(asked);
		CHECK(meanwhile == 0);
		CHECK(writers.progress(20));
	}
	SECTION("outstanding writes complete first")
	{
		static const auto hold = always(target::Hook::command, [](target::Strike &s) {
			asked = asked || s.admin(0x80);
			return verdict(s.ioWrite(), s, target::Verdict::hold);
		});
		auto node = ports.disk();
		REQUIRE(ports.work(Disk(node)) == 0);
		for (std::size_t i : {0, 1})
			ports[i].script().arm(hold, target::Script::forever);
		Pending write([node] { return writeTo(Disk(node), 0, 7); });
		auto strikes = [&] { return ports[0].script().strikes() + ports[1].script().strikes(); };
		REQUIRE(eventually([&] { return strikes() == 1; }));
		Background format("exec " + words);
		std::this_thread::sleep_for(500ms);
		CHECK_FALSE(asked);
		for (std::size_t i : {0, 1})
			ports[i].releaseHeld();
		CHECK(write.join(scaled(5s)));
		CHECK(write.status() == 0);
		CHECK(eventually([] { return asked.load(); }));
		(void)format.wait(scaled(5s));
		for (std::size_t i : {0, 1})
			ports[i].script().disarm();
	}
	CHECK(eventually([&] { return allUsable(ports.host, 2); }, 5s));
}

} // namespace guest::hostile_identity
