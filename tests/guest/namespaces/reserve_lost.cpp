// SPDX-License-Identifier: LGPL-2.1-or-later
// Reservation commands lost without an answer, and targets that violate the protocol in reservations
#include "hostile/hostile_tally.h"
#include "support/reproduce.h"
#include "support/two_hosts.h"
#include "target/acts.h"
#include "target/connection.h"

#include <functional>

#include <linux/nvme_ioctl.h>

namespace guest::reserve_lost {

using target::Expect;
using target::Hook;
using target::acts::always;

namespace {

// Cuts the connection on a command, executed or not
template <bool executed, std::uint8_t opcode> bool cut(target::Strike &s)
{
	if (!s.io() || !s.is(opcode))
		return false;
	auto *conn = &s.conn;
	if (executed) { // the response is lost
		s.after = [conn] { conn->end(true); };
		return true;
	}
	s.verdict = target::Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

// Only the first path is optimized, so it is known which port gets a command.
struct Scene : TwoHosts {
	Scene()
	{
		ports[1].setAnaState(1, target::ana_non_optimized);
		REQUIRE(eventually([this] {
			return std::ranges::all_of(ports.host.paths(), [](auto &p) {
				return p.anaState == nvmeof::AnaState::optimized ||
				       p.anaState == nvmeof::AnaState::nonOptimized;
			});
		}));
	}
	void settle()
	{
		REQUIRE(both(0));
		REQUIRE(both(1));
	}
};

constexpr auto reg = target::op_resv_register, acquire = target::op_resv_acquire, release = target::op_resv_release;

} // namespace

TEST_CASE("a reservation command that was lost takes effect once", "[reserve][lost][short]")
{
	Scene s;
	auto a = s.pr(0), b = s.pr(1);
	auto &target = s.reservations();
	auto &script = s.ports[0].script();
	// the hook precedes execution; where the command shall be executed, the test does it itself
	const auto lostRegister = always(Hook::execute, cut<false, reg>),
		   lostAcquire = always(Hook::execute, cut<false, acquire>),
		   lostRelease = always(Hook::execute, cut<false, release>);
	auto doneRegister = always(Hook::execute, [](target::Strike &t) {
		if (!t.io() || !t.is(reg))
			return false;
		target::Reservations::Notices none;
		t.conn.server().stores().find(1)->reservations().registerKey(
			t.conn.server().subsystem().associations().all().front()->hostid, t.cmd->cdw10 & 7,
			t.cmd->cdw10 >> 3 & 1, target::get<std::uint64_t>(*t.data, 0),
			target::get<std::uint64_t>(*t.data, 8), none);
		return cut<false, reg>(t);
	});

	script.arm(lostRegister);
	CHECK(a.registerKey(0xa) == 0);
	CHECK(target.keyOf(s.ids[0]) == 0xa);
	s.settle();
	script.arm(lostRegister); // replaces the key
	CHECK(a.registerKey(0xaa, 0xa) == 0);
	CHECK(target.keyOf(s.ids[0]) == 0xaa);
	s.settle();
	script.arm(lostAcquire);
	CHECK(a.reserve(0xaa, PR_EXCLUSIVE_ACCESS) == 0);
	CHECK(target.holds(s.ids[0]));
	s.settle();
	script.arm(lostRelease);
	CHECK(a.release(0xaa, PR_EXCLUSIVE_ACCESS) == 0);
	CHECK_FALSE(target.holds(s.ids[0]));
	s.settle();
	REQUIRE(b.registerKey(0xb) == 0);
	REQUIRE(b.reserve(0xb, PR_EXCLUSIVE_ACCESS) == 0);
	script.arm(lostAcquire);
	CHECK(a.preempt(0xaa, 0xb, PR_EXCLUSIVE_ACCESS) == 0);
	CHECK(target.holds(s.ids[0]));
	s.settle();
	script.arm(lostRelease);
	CHECK(a.clear(0xaa) == 0);
	CHECK(target.registrants() == 0);
	s.settle();

	// executed, but the response is lost: executing it again would be a conflict
	REQUIRE(a.registerKey(0xa) == 0);
	auto changes = target.changes();
	script.arm(doneRegister);
	CHECK(a.registerKey(0xad, 0xa) == 0);
	CHECK(target.keyOf(s.ids[0]) == 0xad);
	CHECK(target.changes() == changes + 1);
	s.settle();
	script.arm(doneRegister);
	CHECK(a.registerKey(0, 0xad) == 0);
	CHECK(target.registrants() == 0);
	CHECK(target.changes() == changes + 2);
	s.settle();
	CHECK(eventually([&] { return s.ports.host.busy() == 0; }, 5s));
}

namespace {

// As if the lost command, or another one, had been executed meanwhile
void enrollAt(Scene &s, unsigned host, std::uint8_t action, std::uint64_t key, std::uint64_t newKey)
{
	target::Reservations::Notices none;
	s.reservations().registerKey(s.ids[host], action, false, key, newKey, none);
}

void acquireAt(Scene &s, unsigned host, std::uint8_t action, pr_type type, std::uint64_t key, std::uint64_t victim = 0)
{
	target::Reservations::Notices none;
	s.reservations().acquire(s.ids[host], action, std::uint8_t(type), key, victim, none);
}

// Called at the target before the connection is cut
std::function<void()> happens;

template <std::uint8_t opcode> bool cutAfter(target::Strike &s)
{
	if (!s.io() || !s.is(opcode))
		return false;
	happens();
	return cut<false, opcode>(s);
}

constexpr std::uint8_t plain = 0, end = 1, preempts = 1;

} // namespace

TEST_CASE("an unregister that is executed late removes no later registration",
	  "[reserve][lost][fencing][trap47][short]")
{
	Scene s;
	REQUIRE(s.pr(0).registerKey(0xa) == 0);
	const auto lost = always(Hook::execute, cut<false, reg>);
	s.ports[0].script().arm(lost);
	Pending pending([&s] {
		int ret = s.pr(0).registerKey(0, 0xa);
		return ret ? ret : s.pr(0).registerKey(0xa);
	});
	REQUIRE(s.ports[0].script().waitStrikes(1, scaled(5s)));
	std::this_thread::sleep_for(scaled(1500ms));
	enrollAt(s, 0, end, 0xa, 0);
	REQUIRE(pending.join(15s));
	CHECK(pending.status() == 0);
	CHECK(s.reservations().keyOf(s.ids[0]) == 0xa);
}

TEST_CASE("a lost command does not re-register a host that was preempted meanwhile", "[reserve][lost][trap48][short]")
{
	Scene s;
	auto a = s.pr(0);
	REQUIRE(s.pr(1).registerKey(0xb) == 0);
	happens = [&s] {
		enrollAt(s, 0, plain, 0, 0xa);
		acquireAt(s, 1, preempts, PR_WRITE_EXCLUSIVE, 0xb, 0xa);
	};
	const auto registered = always(Hook::execute, cutAfter<reg>);
	s.ports[0].script().arm(registered);
	CHECK(a.registerKey(0xa) == prOutcomeUnknown);
	CHECK(s.reservations().keyOf(s.ids[0]) == 0);
	s.settle();

	REQUIRE(s.pr(1).clear(0xb) == 0);
	REQUIRE(s.pr(1).registerKey(0xb) == 0);
	REQUIRE(a.registerKey(0xa) == 0);
	happens = [&s] {
		acquireAt(s, 0, plain, PR_WRITE_EXCLUSIVE, 0xa);
		acquireAt(s, 1, preempts, PR_WRITE_EXCLUSIVE, 0xb, 0xa);
	};
	const auto acquired = always(Hook::execute, cutAfter<acquire>);
	s.ports[0].script().arm(acquired);
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == prOutcomeUnknown);
	CHECK(s.reservations().holds(s.ids[1]));
	s.settle();
}

TEST_CASE("a lost preempt succeeds only if it has taken effect", "[reserve][lost][trap48][short]")
{
	Scene s;
	auto a = s.pr(0), b = s.pr(1);
	auto &script = s.ports[0].script();
	REQUIRE(a.registerKey(0xa) == 0);
	REQUIRE(b.registerKey(0xb) == 0);
	// of a registrant without reservation; was executed
	happens = [&s] { acquireAt(s, 0, preempts, PR_WRITE_EXCLUSIVE, 0xa, 0xb); };
	const auto done = always(Hook::execute, cutAfter<acquire>);
	REQUIRE(a.reserve(0xa, PR_WRITE_EXCLUSIVE_REG_ONLY) == 0);
	script.arm(done);
	CHECK(a.preempt(0xa, 0xb, PR_WRITE_EXCLUSIVE) == 0);
	CHECK(s.reservations().registrants() == 1);
	s.settle();

	// of all others; was not executed
	REQUIRE(a.release(0xa, PR_WRITE_EXCLUSIVE_REG_ONLY) == 0);
	REQUIRE(b.registerKey(0xb) == 0);
	REQUIRE(a.reserve(0xa, PR_WRITE_EXCLUSIVE_ALL_REGS) == 0);
	const auto lost = always(Hook::execute, cut<false, acquire>);
	script.arm(lost);
	CHECK(a.preempt(0xa, 0, PR_WRITE_EXCLUSIVE_ALL_REGS) == 0);
	CHECK(s.reservations().registrants() == 1);
	CHECK(s.reservations().keyOf(s.ids[1]) == 0);
	s.settle();
}

namespace {

// A release that was executed, but whose connection was cut: the fence holds it, then its effect is judged
Pending lostRelease(Scene &s)
{
	must("nvmeofctl set nvmeof" + std::to_string(s.subsystemOf(0)) + " fencing=safe quiesce-tmo=0");
	REQUIRE(s.pr(0).registerKey(0xa) == 0);
	REQUIRE(s.pr(0).reserve(0xa, PR_EXCLUSIVE_ACCESS) == 0);
	happens = [&s] {
		target::Reservations::Notices none;
		s.reservations().release(s.ids[0], plain, PR_EXCLUSIVE_ACCESS, 0xa, none);
	};
	static const auto released = always(Hook::execute, cutAfter<release>);
	s.ports[0].script().arm(released);
	Pending pending([&s] { return s.pr(0).release(0xa, PR_EXCLUSIVE_ACCESS); });
	REQUIRE(s.ports[0].script().waitStrikes(1, scaled(5s)));
	// a command sent before the host has noticed the loss would be lost, too
	REQUIRE(eventually([&s] { return readFile("/sys/block/" + s.names[0] + "/held") != "0"; }, scaled(5s)));
	return pending;
}

} // namespace

TEST_CASE("a lost release does not release a later reservation of another process on this host",
	  "[reserve][lost][trap48]")
{
	Scene s;
	auto first = lostRelease(s);
	std::this_thread::sleep_for(scaled(200ms));
	Pending second([&s] { return s.pr(0).reserve(0xa, PR_EXCLUSIVE_ACCESS); });
	REQUIRE(first.join(15s));
	REQUIRE(second.join(15s));
	CHECK(first.status() == 0);
	CHECK(second.status() == 0);
	CHECK(s.reservations().holds(s.ids[0]));
}

TEST_CASE("a lost release does not release a reservation acquired by passthrough", "[reserve][lost][trap48]")
{
	Scene s;
	auto first = lostRelease(s);
	REQUIRE(eventually([&s] { return !s.reservations().holds(s.ids[0]); }));
	// passthrough takes no lock of the driver: it completes while the release is held
	std::uint64_t keys[2] = {0xa, 0};
	nvme_passthru_cmd64 cmd{};
	cmd.opcode = acquire;
	cmd.nsid = 1;
	cmd.addr = reinterpret_cast<std::uintptr_t>(keys);
	cmd.data_len = sizeof(keys);
	cmd.cdw10 = PR_EXCLUSIVE_ACCESS << 8;
	CHECK(::ioctl(s.disks[0]->fd(), NVME_IOCTL_IO64_CMD, &cmd) == 0);
	CHECK(first.waits());
	CHECK(s.reservations().holds(s.ids[0]));
	REQUIRE(first.join(15s));
	CHECK(first.status() == prOutcomeUnknown);
	CHECK(s.reservations().holds(s.ids[0]));
}

TEST_CASE("with fencing=safe a lost change waits until the old command can no longer execute",
	  "[reserve][lost][fencing]")
{
	Scene s;
	must("nvmeofctl set nvmeof" + std::to_string(s.subsystemOf(0)) + " fencing=safe quiesce-tmo=0");
	REQUIRE(s.pr(0).registerKey(0xa) == 0);
	const auto lost = always(Hook::execute, cut<false, reg>);
	s.ports[0].script().arm(lost);
	auto changes = s.reservations().changes();
	Pending pending([&s] { return s.pr(0).registerKey(0xaa, 0xa); });
	std::this_thread::sleep_for(scaled(1s)); // the fence lasts 2 x 1.5 s
	CHECK(pending.waits());
	CHECK(s.reservations().changes() == changes);
	REQUIRE(pending.join(15s));
	CHECK(pending.status() == 0);
	CHECK(s.reservations().keyOf(s.ids[0]) == 0xaa);
	CHECK(s.reservations().changes() == changes + 1);
}

TEST_CASE("a reservation conflict is final, with and without Do Not Retry", "[reserve][hostile][short]")
{
	Scene s;
	for (auto *name : {"resv-conflict-dnr", "resv-conflict-again"}) {
		INFO(name);
		auto before = s.failovers(0);
		auto &script = s.ports[0].script();
		script.arm(*target::findMisbehaviour(name), target::Script::forever);
		Stopwatch watch;
		CHECK(s.write(0, 0, 1) == -EBADE);
		CHECK(watch.elapsed() < scaled(500ms));
		CHECK(script.strikes() >= 1);
		script.disarm();
		CHECK(s.failovers(0) == before);
		CHECK(s.usable(0, 2));
		tellPlayed(*target::findMisbehaviour(name), script.strikes());
	}
}

TEST_CASE("a target ignores, rejects or keeps failing a reservation command: the caller gets an error",
	  "[reserve][hostile]")
{
	Scene s;
	auto a = s.pr(0);
	auto &script = s.ports[0].script();
	auto play = [&](const char *name) {
		script.arm(*target::findMisbehaviour(name), target::Script::forever);
		tellPlayed(*target::findMisbehaviour(name), 1);
	};
	play("resv-register-forgotten");
	CHECK(a.registerKey(0xa) == 0); // the host cannot know
	script.disarm();
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == prConflict);
	play("resv-register-unknown");
	CHECK(a.registerKey(0xa) == -EOPNOTSUPP);
	script.disarm();
	CHECK(a.registerKey(0xa) == 0);
	play("resv-acquire-busy");
	s.ports[1].script().arm(*target::findMisbehaviour("resv-acquire-busy"), target::Script::forever);
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) > 0); // retries are exhausted
	script.disarm();
	s.ports[1].script().disarm();
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == 0);
	CHECK(a.clear(0xa) == 0);
}

// A lost change makes the host read a reservation report; an inconsistent one is rejected.
TEST_CASE("a target that reports wrong reservations is not believed", "[reserve][hostile][table]")
{
	Scene s;
	auto a = s.pr(0);
	const auto lost = always(Hook::execute, cut<false, reg>);
	std::uint64_t key = 0xa;
	REQUIRE(a.registerKey(key) == 0);
	for (auto &m : target::reservationMisbehaviours()) {
		if (!isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			continue;
		INFO(m.name);
		recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
		auto &script = s.ports[1].script();
		script.arm(m, target::Script::forever);
		s.ports[0].script().arm(lost);
		Stopwatch watch;
		Pending pending([a, key] { return a.registerKey(key + 1, key); });
		REQUIRE(s.ports[0].script().waitStrikes(1, scaled(5s)));
		// the first port may be back when the fence ends: both ports report wrongly
		s.ports[0].script().arm(m, m.expect == Expect::refused ? target::Script::forever : 1);
		REQUIRE(pending.join(20s));
		s.ports[0].script().disarm();
		CHECK(pending.status() == (m.expect == Expect::refused ? prOutcomeUnknown : 0));
		CHECK(watch.elapsed() < scaled(10s));
		auto strikes = script.strikes() + s.ports[0].script().strikes();
		CHECK(strikes > 0);
		tellPlayed(m, strikes);
		script.disarm();
		key = s.reservations().keyOf(s.ids[0]);
		CHECK(key != 0);
		s.settle();
		CHECK(s.write(0, 0, 1) == 0);
	}
	CHECK(eventually([&] { return s.ports.host.busy() == 0; }, 5s));
}

} // namespace guest::reserve_lost
