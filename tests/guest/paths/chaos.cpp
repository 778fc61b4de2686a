// SPDX-License-Identifier: LGPL-2.1-or-later
// Random faults under verified load on one namespace and a file system on another: ANA changes, paths that are cut,
// silenced, removed and added, targets that restart, policies that change. As long as a path returns within its limits
// there is no error and no wrong data, and nothing is left at the end. A run of two minutes or more must perform every
// action at least once.
//
// NVMEOF_CHAOS_SECONDS: duration [180]; NVMEOF_CHAOS_SEED: seed of the random choices, printed.
#include "support/reproduce.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

namespace guest::chaos {

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned laneCount = 4;
constexpr unsigned groups = 2;

class Chaos {
public:
	Chaos(Multi &rig, unsigned seed);

	void run(Millis time);
	void heal();
	std::string counts() const;
	std::string missing() const; // actions that were never performed
	std::uint64_t failovers() const;

private:
	struct Action {
		const char *name;
		unsigned weight;
		bool (Chaos::*act)();       // false: not possible now
		const char *only = nullptr; // on lanes of this transport
	};
	static const Action all[];

	struct Repair {
		Clock::time_point at;
		std::function<void()> act;
	};

	unsigned upTo(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n)(random_); }
	unsigned anyLane() { return upTo(laneCount - 1); }
	Millis between(unsigned low, unsigned high) { return Millis(low + upTo(high - low)); }
	void later(Millis time, std::function<void()> act)
	{
		repairs_.push_back({Clock::now() + time, std::move(act)});
	}
	void repairDue(bool all);
	void countFailovers();
	const Action &choose();
	bool has(unsigned lane, const std::string &transport) { return rig_.lane(lane).transport() == transport; }
	bool take(unsigned lane);
	void giveBack(unsigned lane) { touched_[lane] = false; }

	bool flipAna();
	bool loseForGood();
	bool silence();
	bool interfaceDown();
	bool slow();
	bool removeDevice();
	bool restartPort();
	bool unlinkPort();
	bool disconnect();
	bool reset();
	bool policy();
	bool moveGroup();
	void ensureConnected();

	Multi &rig_;
	std::mt19937 random_;
	std::vector<Action> actions_; // possible on at least one lane
	std::vector<Repair> repairs_;
	bool touched_[laneCount] = {}; // link or port is impaired
	unsigned away_ = laneCount;    // the lane that is disconnected
	unsigned lossy_ = laneCount;   // the lane that reports persistent loss
	std::map<std::string, unsigned> done_;
	std::map<std::string, std::uint64_t> counters_; // as last read, by path
	std::uint64_t failovers_ = 0;                   // sum over all paths
};

const Chaos::Action Chaos::all[] = {
	{"ANA flip", 6, &Chaos::flipAna},
	{"persistent loss", 1, &Chaos::loseForGood},
	{"silence", 3, &Chaos::silence, "tcp"},
	{"interface down", 2, &Chaos::interfaceDown, "tcp"},
	{"slow link", 2, &Chaos::slow, "tcp"},
	{"device removal", 3, &Chaos::removeDevice, "rdma"},
	{"port restart", 2, &Chaos::restartPort},
	{"port unlink", 2, &Chaos::unlinkPort},
	{"disconnect", 2, &Chaos::disconnect},
	{"reset", 1, &Chaos::reset},
	{"policy", 2, &Chaos::policy},
	{"group move", 1, &Chaos::moveGroup},
};

Chaos::Chaos(Multi &rig, unsigned seed) : rig_(rig), random_(seed)
{
	for (auto &a : all)
		for (unsigned lane = 0; lane < laneCount; lane++)
			if (!a.only || has(lane, a.only)) {
				actions_.push_back(a);
				break;
			}
}

// Chooses by weight; in a quarter of the cases an action that was never performed goes first.
const Chaos::Action &Chaos::choose()
{
	if (upTo(3) == 0)
		for (auto &a : actions_)
			if (!done_.contains(a.name))
				return a;
	unsigned sum = 0;
	for (auto &a : actions_)
		sum += a.weight;
	auto at = upTo(sum - 1);
	for (auto &a : actions_) {
		if (at < a.weight)
			return a;
		at -= a.weight;
	}
	return actions_[0];
}

// Reserves a lane, so that its link or port has one fault at a time.
bool Chaos::take(unsigned lane)
{
	return !std::exchange(touched_[lane], true);
}

bool Chaos::flipAna()
{
	static const char *states[] = {"optimized", "optimized", "non-optimized", "inaccessible", "change"};
	auto lane = anyLane(), group = 1 + upTo(groups - 1), state = upTo(4);
	if (lane == lossy_)
		return false;
	rig_.lane(lane).setAna(group, states[state]);
	// A change that outlasts ANATT counts as failed, and without a path that may return I/O fails.
	if (state >= 3)
		later(between(100, 3000), [this, lane, group] {
			if (lane != lossy_)
				rig_.lane(lane).setAna(group, "optimized");
		});
	return true;
}

// On one lane at most, and not while another is disconnected: one path that may return always remains.
bool Chaos::loseForGood()
{
	if (lossy_ != laneCount || away_ != laneCount)
		return false;
	lossy_ = anyLane();
	rig_.lane(lossy_).setAna(1, "persistent-loss");
	later(between(200, 2000), [this] {
		rig_.lane(lossy_).setAna(1, "optimized");
		lossy_ = laneCount;
	});
	return true;
}

bool Chaos::silence()
{
	auto lane = anyLane();
	if (!has(lane, "tcp") || !take(lane))
		return false;
	auto &link = rig_.lane(lane).link();
	switch (upTo(4)) {
	case 0:
		link.impairToTarget("loss 100%");
		break;
	case 1:
		link.impairToHost("loss 100%");
		break;
	case 2:
		link.swallow(64);
		break;
	case 3:
		link.swallow(1024);
		break;
	default:
		link.impair("loss 100%");
	}
	later(between(100, 4000), [this, lane] {
		rig_.lane(lane).link().repair();
		giveBack(lane);
	});
	return true;
}

bool Chaos::interfaceDown()
{
	auto lane = anyLane();
	if (!has(lane, "tcp") || !take(lane))
		return false;
	upTo(1) ? rig_.lane(lane).link().hostDown() : rig_.lane(lane).link().targetDown();
	later(between(100, 3000), [this, lane] {
		rig_.lane(lane).link().repair();
		giveBack(lane);
	});
	return true;
}

bool Chaos::slow()
{
	auto lane = anyLane();
	if (!has(lane, "tcp") || !take(lane))
		return false;
	rig_.lane(lane).link().impair("delay " + std::to_string(1 + upTo(50)) + "ms loss " + std::to_string(upTo(2)) +
				      "%");
	later(between(500, 5000), [this, lane] {
		rig_.lane(lane).link().repair();
		giveBack(lane);
	});
	return true;
}

// Host and target lose the device. The target listens again when it is back.
bool Chaos::removeDevice()
{
	auto lane = anyLane();
	if (!has(lane, "rdma") || !take(lane))
		return false;
	rig_.lane(lane).nic().remove();
	later(between(50, 2500), [this, lane] {
		rig_.lane(lane).repair();
		rig_.lane(lane).reopen();
		giveBack(lane);
	});
	return true;
}

bool Chaos::restartPort()
{
	auto lane = anyLane();
	if (!take(lane))
		return false;
	rig_.lane(lane).close();
	later(between(50, 2500), [this, lane] {
		rig_.lane(lane).open();
		giveBack(lane);
	});
	return true;
}

bool Chaos::unlinkPort()
{
	auto lane = anyLane();
	if (!take(lane))
		return false;
	rig_.lane(lane).unlink();
	later(between(50, 2500), [this, lane] {
		rig_.lane(lane).relink();
		giveBack(lane);
	});
	return true;
}

// One lane at a time: a controller that may return always remains.
bool Chaos::disconnect()
{
	auto lane = anyLane();
	auto name = rig_.name(lane);
	if (away_ != laneCount || lossy_ != laneCount || name.empty())
		return false;
	away_ = lane;
	auto done = rig_.host.client().disconnect(name);
	INFO((done ? "" : done.error().message));
	// A controller whose first connect has just failed is removed by the kernel.
	CHECK((done || done.error().code == nvmeof::ErrorCode::noSuchObject));
	later(between(50, 2000), [this] { away_ = laneCount; });
	return true;
}

bool Chaos::reset()
{
	auto name = rig_.name(anyLane());
	return !name.empty() && rig_.host.client().reset(name).ok(); // refused unless it is live
}

bool Chaos::policy()
{
	static const char *values[] = {"",
				       " spill-us=0 spill-depth=0",
				       " spill-us=3000",
				       " spill-depth=8",
				       " degrade=on",
				       " degrade=off",
				       " fencing=safe quiesce-tmo=1",
				       " fencing=auto",
				       " fencing=immediate"};
	auto all = rig_.policies();
	rig_.set("iopolicy=" + all[upTo(static_cast<unsigned>(all.size()) - 1)] +
		 values[upTo(static_cast<unsigned>(std::size(values)) - 1)]);
	return true;
}

bool Chaos::moveGroup()
{
	rig_.subsystem().moveGroup(2, 1 + upTo(groups - 1));
	return true;
}

// A first connect is a single attempt, so the test repeats it.
void Chaos::ensureConnected()
{
	for (unsigned n = 0; n < laneCount; n++)
		if (n != away_ && rig_.name(n).empty())
			(void)rig_.host.client().start(rig_.options(n));
}

void Chaos::repairDue(bool all)
{
	auto due = std::stable_partition(repairs_.begin(), repairs_.end(),
					 [all](auto &r) { return !all && r.at > Clock::now(); });
	std::vector<Repair> now(std::make_move_iterator(due), std::make_move_iterator(repairs_.end()));
	repairs_.erase(due, repairs_.end());
	for (auto &r : now)
		r.act();
}

void Chaos::countFailovers()
{
	for (auto &p : rig_.host.paths()) {
		auto &before = counters_[p.name];
		// A new path reuses the name of an old one and counts from 0.
		failovers_ += p.failoversFrom - (p.failoversFrom >= before ? before : 0);
		before = p.failoversFrom;
	}
}

std::uint64_t Chaos::failovers() const
{
	return failovers_;
}

void Chaos::run(Millis time)
{
	Stopwatch watch, word;
	while (watch.elapsed() < time) {
		auto &action = choose();
		if ((this->*action.act)())
			done_[action.name]++;
		pause(between(10, 400));
		repairDue(false);
		countFailovers();
		ensureConnected();
		if (word.elapsed() < 20s)
			continue;
		word = {};
		std::printf("chaos: %ld s: %s\n", static_cast<long>(watch.elapsed().count() / 1000), counts().c_str());
		std::fflush(stdout);
	}
}

void Chaos::heal()
{
	repairDue(true);
	away_ = laneCount;
	for (unsigned n = 0; n < laneCount; n++)
		for (unsigned group = 1; group <= groups; group++)
			rig_.lane(n).setAna(group, "optimized");
	CHECK(eventually(
		[&] {
			ensureConnected();
			auto first = rig_.host.nameSpace(1), second = rig_.host.nameSpace(2);
			return first && second && first->usablePaths == laneCount && second->usablePaths == laneCount;
		},
		60s));
}

std::string Chaos::counts() const
{
	std::string text;
	for (auto &[name, count] : done_)
		text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
	return text;
}

std::string Chaos::missing() const
{
	std::string text;
	for (auto &a : actions_)
		if (!done_.contains(a.name))
			text += std::string(a.name) + " ";
	return text;
}

std::string pathTable(Multi &rig)
{
	std::string text;
	for (auto &p : rig.host.paths())
		text += p.name + ": " + std::to_string(p.ios) + " I/Os, " + std::to_string(p.errors) + " errors, " +
			std::to_string(p.retries) + " retries, " + std::to_string(p.inflight) + " in flight\n";
	return text;
}

FioJob severalJobs(const std::string &disk, unsigned seconds)
{
	return {.file = disk,
		.rw = "randrw",
		.depth = 8,
		.size = "6m",
		.seconds = seconds,
		.more = "--bsrange=4k-64k --numjobs=3 --offset_increment=8m --verify_backlog=64"};
}

} // namespace

TEST_CASE("chaos: verified load and a file system survive random faults", "[chaos]")
{
	auto seconds = static_cast<unsigned>(std::stoul(environment("NVMEOF_CHAOS_SECONDS", "180")));
	auto seed = static_cast<unsigned>(seedFrom("NVMEOF_CHAOS_SEED"));
	INFO("seed " << seed);

	std::vector<std::string> transports; // NVMEOF_CHAOS_MIXED: half of the lanes each
	if (!environment("NVMEOF_CHAOS_MIXED", "").empty())
		transports = {"tcp", "rdma", "tcp", "rdma"};
	Multi rig({.lanes = laneCount, .namespaces = {32 * mib, 384 * mib}, .transports = transports});
	rig.connectAll();
	REQUIRE(rig.waitPaths(laneCount));
	auto raw = rig.disk(1), files = rig.disk(2);
	must("mkfs.xfs -q -f " + files + " && mkdir -p /mnt && mount " + files + " /mnt");
	FioLoad load(severalJobs(raw, seconds + 300)); // stopped earlier
	Background tree("/nvmeof/tests/xfs_load.sh /mnt " + std::to_string(seconds));
	Probe probe(raw, {.offset = 28 * mib});

	Chaos chaos(rig, seed);
	chaos.run(seconds * 1000ms);
	chaos.heal();
	CHECK(chaos.failovers() > 0);
	if (seconds >= 120)
		CHECK(chaos.missing() == "");
	std::printf("figure: chaos: %u s: %s\nchaos: %lu probe I/Os, the longest took %ld ms\n%s", seconds,
		    chaos.counts().c_str(), static_cast<unsigned long>(probe.ios()),
		    static_cast<long>(probe.longest().count()), pathTable(rig).c_str());

	expectGoodUntilNow(load);
	auto out = tree.wait(120s);
	INFO(out.text);
	CHECK(out.status == 0);
	expectGood(probe);
	std::printf("chaos: file system: %s", out.text.c_str());
	must("umount /mnt && xfs_repair -n " + files + " && mount " + files + " /mnt && umount /mnt");
	CHECK(run("dmesg | grep -E 'I/O error|XFS .*(shut|[Cc]orrupt|metadata I/O)'").text == "");
	CHECK(eventually([&] { return rig.host.busy() == 0; }, 10s));
	rig.host.disconnectAll();
	rig.host.forget();
	CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 10s));
	Host::load();
	rig.host.reopen();
}

} // namespace guest::chaos
