// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "admission.h"

using namespace cdc;
using Verdict = Admission::Verdict;

namespace {

std::vector<std::uint64_t> admissionOrder(Admission &admission)
{
	std::vector<std::uint64_t> turns;
	while (auto one = admission.next()) {
		turns.push_back(*one);
		CHECK(admission.leave(*one));
	}
	return turns;
}

} // namespace

TEST_CASE("admission serves a limited number, queues a limited number and refuses the rest", "[admission]")
{
	Admission admission({2, 2});
	CHECK(admission.ask(1, "a", true) == Verdict::now);
	CHECK(admission.ask(2, "b", true) == Verdict::now);
	CHECK(admission.ask(3, "c", true) == Verdict::later);
	CHECK(admission.ask(4, "d", true) == Verdict::later);
	CHECK(admission.ask(5, "e", true) == Verdict::busy);
	CHECK_FALSE(admission.next());
	CHECK(admission.leave(1));
	CHECK(admission.next() == 3u);
	CHECK_FALSE(admission.next());
	CHECK(admission.ask(6, "f", true) == Verdict::later); // client 3 left the queue, which has room again
	CHECK_FALSE(admission.leave(4));                      // it was waiting, not being served
	CHECK(admission.leave(2));
	CHECK(admission.next() == 6u);
	CHECK(admission.waiting() == 0);
	CHECK(admission.active() == 2);
}

TEST_CASE("hosts are admitted in turn, however many connections one host opens", "[admission]")
{
	Admission admission({1, 100});
	REQUIRE(admission.ask(1, "first", true) == Verdict::now);
	for (std::uint64_t i = 10; i < 15; i++)
		admission.ask(i, "greedy", true);
	admission.ask(20, "modest", true);
	admission.ask(21, "shy", true);
	admission.leave(1);
	CHECK(admissionOrder(admission) == std::vector<std::uint64_t>{10, 20, 21, 11, 12, 13, 14});
}

TEST_CASE("a host whose first choice is another instance waits longer, but is admitted in the end", "[admission]")
{
	Admission admission({1, 100});
	REQUIRE(admission.ask(1, "x", true) == Verdict::now);
	for (std::uint64_t i = 0; i < 2; i++)
		admission.ask(100 + i, "other" + std::to_string(i), false);
	for (std::uint64_t i = 0; i < 10; i++)
		admission.ask(10 + i, "mine" + std::to_string(i), true);
	admission.leave(1);
	CHECK(admissionOrder(admission) ==
	      std::vector<std::uint64_t>{10, 11, 12, 13, 14, 15, 16, 17, 100, 18, 19, 101});
}

TEST_CASE("when the queue is full, a host of this instance displaces a host of another one", "[admission]")
{
	Admission admission({1, 2});
	REQUIRE(admission.ask(1, "x", true) == Verdict::now);
	CHECK(admission.ask(2, "other1", false) == Verdict::later);
	CHECK(admission.ask(3, "other2", false) == Verdict::later);
	CHECK(admission.ask(4, "other3", false) == Verdict::busy);
	CHECK(admission.ask(5, "mine", true) == Verdict::later);
	CHECK(admission.displaced() == std::vector<std::uint64_t>{3});
	CHECK(admission.displaced().empty());
	admission.leave(1);
	CHECK(admissionOrder(admission) == std::vector<std::uint64_t>{5, 2});
	CHECK_FALSE(admission.leave(99)); // unknown client
}
