// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <initializer_list>
#include <limits>

extern "C" {
#include <linux/jiffies.h>

#include "core/probation.h"
}

namespace {

using Jiffies = unsigned long;

constexpr Jiffies second = HZ, minute = 60 * second;

// A controller, by its own clock
struct Ctrl {
	nof_probation p = {};
	Jiffies now;

	explicit Ctrl(Jiffies begin = 1000000) : now(begin) {}

	void pass(Jiffies time) { now += time; }
	// Becomes live, and is lost after so long
	nof_loss lose(Jiffies after)
	{
		auto liveAt = now;
		pass(after);
		return nof_probation_loss(&p, now, liveAt);
	}
	bool take(bool read) { return nof_probation_trial_begin(&p, now, read); }
	bool answer(bool answered = true) { return nof_probation_trial_end(&p, now, answered); }
	// How long until a request of this kind is taken, looked at once a jiffy; too long: a minute
	Jiffies waitFor(bool read)
	{
		auto begin = now;
		while (now - begin < minute && !take(read))
			now++;
		return now - begin;
	}
	void begin()
	{
		for (int i = 0; i < NOF_PROBATION_LOSSES; i++)
			lose(second);
		REQUIRE(p.on);
	}
	// Eight answers
	void endure()
	{
		for (int i = 0; i < NOF_PROBATION_TRIALS; i++)
			answer();
		nof_probation_end(&p, now);
		REQUIRE_FALSE(p.on);
	}
};

} // namespace

TEST_CASE("probation: begins with the third loss soon after the controller had become live", "[probation]")
{
	Ctrl c;
	CHECK(c.lose(1) == NOF_LOSS_NOTED);
	CHECK(c.lose(minute - 1) == NOF_LOSS_NOTED);
	CHECK_FALSE(c.p.on);
	CHECK(c.lose(second) == NOF_LOSS_BEGINS);
	CHECK(c.p.on);
	CHECK(c.p.losses == 3);
}

TEST_CASE("probation: what lasts a minute between losses counts anew", "[probation]")
{
	Ctrl c;
	for (int round = 0; round < 10; round++) {
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(minute) == NOF_LOSS_NOTED);
		CHECK(c.p.losses == 0);
	}
	// the loss of one that had lasted is none of the three
	CHECK(c.lose(1000 * minute) == NOF_LOSS_NOTED);
	CHECK(c.lose(second) == NOF_LOSS_NOTED);
	CHECK(c.lose(second) == NOF_LOSS_NOTED);
	CHECK_FALSE(c.p.on);
	CHECK(c.lose(second) == NOF_LOSS_BEGINS);
}

TEST_CASE("probation: each further loss doubles the distance of trials, up to a bound", "[probation]")
{
	Ctrl c;
	c.begin();
	for (u32 gap : {1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000}) {
		CHECK(c.p.interval_ms == gap);
		CHECK(c.take(true)); // the first is due at once
		c.answer();
		CHECK(c.waitFor(true) == msecs_to_jiffies(gap));
		// also one that had lasted for long
		CHECK(c.lose(gap % 4000 ? second : 5 * minute) == NOF_LOSS_PROLONGS);
	}
	CHECK(c.p.on);
}

TEST_CASE("probation: trials go one at a time", "[probation]")
{
	Ctrl c;
	c.begin();
	REQUIRE(c.take(true));
	CHECK_FALSE(c.take(true)); // nor on another CPU
	SECTION("the next a distance after the answer")
	{
		c.pass(second / 2);
		c.answer();
		CHECK(c.waitFor(true) == second);
	}
	SECTION("without an answer another one after two seconds, or the distance")
	{
		CHECK(c.waitFor(true) == 2 * second);
		c.lose(second), c.lose(second); // now 4 s
		REQUIRE(c.take(true));
		CHECK(c.waitFor(true) == 4 * second);
	}
	SECTION("at once when it was not sent")
	{
		nof_probation_trial_cancel(&c.p, c.now);
		CHECK(c.take(true));
		CHECK_FALSE(c.take(true));
	}
}

TEST_CASE("probation: four reads, then writes; where one kind does not come, the other will do", "[probation]")
{
	Ctrl c;
	c.begin();
	SECTION("both kinds")
	{
		for (bool read : {true, true, true, true, false, false, false, false}) {
			CHECK_FALSE(c.take(!read));
			CHECK(c.take(read));
			c.answer();
			CHECK_FALSE(c.take(read));
			c.pass(second);
		}
	}
	SECTION("one kind alone")
	{
		auto read = GENERATE(true, false);
		for (int i = 0; i < NOF_PROBATION_TRIALS; i++) {
			bool due = read == (i < NOF_PROBATION_READS);
			// it is waited for the other kind: beyond the second, so one jiffy more
			CHECK(c.waitFor(read) == (i ? second : 0) + (due ? 0 : second + 1));
			c.answer();
		}
	}
}

TEST_CASE("probation: ends after eight answers in a row", "[probation]")
{
	Ctrl c;
	c.begin();
	for (int i = 0; i < NOF_PROBATION_TRIALS - 1; i++)
		CHECK_FALSE(c.answer());
	SECTION("one that is not answered begins the row anew")
	{
		CHECK_FALSE(c.answer(false));
		for (int i = 0; i < NOF_PROBATION_TRIALS - 1; i++)
			CHECK_FALSE(c.answer());
		CHECK(c.answer());
	}
	SECTION("so does a loss")
	{
		CHECK(c.lose(second) == NOF_LOSS_PROLONGS);
		for (int i = 0; i < NOF_PROBATION_TRIALS - 1; i++)
			CHECK_FALSE(c.answer());
		CHECK(c.answer());
	}
	SECTION("once")
	{
		CHECK(c.answer());
		CHECK_FALSE(c.answer()); // one that was under way
	}
	nof_probation_end(&c.p, c.now);
	CHECK_FALSE(c.p.on);
}

TEST_CASE("probation: a loss within ten minutes of its end is a relapse, a later one is not", "[probation]")
{
	Ctrl c;
	c.begin();
	c.endure();
	SECTION("relapse, also long after it became live: trials are twice as far apart")
	{
		CHECK(c.lose(10 * minute - 1) == NOF_LOSS_RELAPSE);
		CHECK(c.p.on);
		CHECK(c.p.interval_ms == 2 * NOF_PROBATION_INTERVAL_MS);
		c.endure();
		CHECK(c.lose(second) == NOF_LOSS_RELAPSE);
		CHECK(c.p.interval_ms == 4 * NOF_PROBATION_INTERVAL_MS);
	}
	SECTION("later: counted from the beginning, with the first distance")
	{
		CHECK(c.lose(10 * minute) == NOF_LOSS_NOTED);
		CHECK_FALSE(c.p.on);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_BEGINS);
		CHECK(c.p.interval_ms == NOF_PROBATION_INTERVAL_MS);
	}
}

TEST_CASE("probation: jiffies may wrap at any point", "[probation]")
{
	// the wrap meets each part of the story: losses, trials, the time after
	for (Jiffies before : {Jiffies(0), Jiffies(1), second, 2 * second, 3 * second + 1, 5 * second, 8 * second,
			       15 * second, minute, 9 * minute, 9 * minute + 40 * second}) {
		CAPTURE(before);
		Ctrl c(std::numeric_limits<Jiffies>::max() - before);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_BEGINS);
		for (int i = 0; i < NOF_PROBATION_TRIALS; i++) { // with writes alone
			bool due = i >= NOF_PROBATION_READS;
			CHECK(c.waitFor(false) == (i ? second : 0) + (due ? 0 : second + 1));
			CHECK_FALSE(c.take(false));
			CHECK(c.answer() == (i == NOF_PROBATION_TRIALS - 1));
		}
		nof_probation_end(&c.p, c.now);
		CHECK(c.lose(9 * minute) == NOF_LOSS_RELAPSE);
		c.endure();
		CHECK(c.lose(11 * minute) == NOF_LOSS_NOTED);
	}
}
