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

// A controller with its own clock
struct Ctrl {
	nof_probation p = {};
	Jiffies now;

	explicit Ctrl(Jiffies begin = 1000000) : now(begin) {}

	void pass(Jiffies time) { now += time; }
	// Becomes live, and is lost after this time.
	nof_loss lose(Jiffies after)
	{
		auto liveAt = now;
		pass(after);
		return nof_probation_loss(&p, now, liveAt);
	}
	bool take(bool read) { return nof_probation_trial_begin(&p, now, read); }
	bool answer(bool answered = true) { return nof_probation_trial_end(&p, now, answered); }
	// Returns how long it takes until a request of this kind is accepted, with an attempt in each jiffy; at most a
	// minute.
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
	void endure()
	{
		for (int i = 0; i < NOF_PROBATION_TRIALS; i++)
			answer();
		nof_probation_end(&p, now);
		REQUIRE_FALSE(p.on);
	}
};

} // namespace

TEST_CASE("probation: begins with the third early loss in a row", "[probation]")
{
	Ctrl c;
	CHECK(c.lose(1) == NOF_LOSS_NOTED);
	CHECK(c.lose(minute - 1) == NOF_LOSS_NOTED);
	CHECK_FALSE(c.p.on);
	CHECK(c.lose(second) == NOF_LOSS_BEGINS);
	CHECK(c.p.on);
	CHECK(c.p.losses == 3);
}

TEST_CASE("probation: a connection that lasts a minute resets the count of losses", "[probation]")
{
	Ctrl c;
	for (int round = 0; round < 10; round++) {
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(minute) == NOF_LOSS_NOTED);
		CHECK(c.p.losses == 0);
	}
	// the loss of a long connection does not count
	CHECK(c.lose(1000 * minute) == NOF_LOSS_NOTED);
	CHECK(c.lose(second) == NOF_LOSS_NOTED);
	CHECK(c.lose(second) == NOF_LOSS_NOTED);
	CHECK_FALSE(c.p.on);
	CHECK(c.lose(second) == NOF_LOSS_BEGINS);
}

TEST_CASE("probation: each further loss doubles the interval of trials, up to a bound", "[probation]")
{
	Ctrl c;
	c.begin();
	for (u32 gap : {1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000}) {
		CHECK(c.p.interval_ms == gap);
		CHECK(c.take(true)); // the first trial is due at once
		c.answer();
		CHECK(c.waitFor(true) == msecs_to_jiffies(gap));
		// a long connection that is lost counts, too
		CHECK(c.lose(gap % 4000 ? second : 5 * minute) == NOF_LOSS_PROLONGS);
	}
	CHECK(c.p.on);
}

TEST_CASE("probation: one trial at a time", "[probation]")
{
	Ctrl c;
	c.begin();
	REQUIRE(c.take(true));
	CHECK_FALSE(c.take(true)); // not on another CPU either
	SECTION("the next one an interval after the answer")
	{
		c.pass(second / 2);
		c.answer();
		CHECK(c.waitFor(true) == second);
	}
	SECTION("without an answer after two seconds or the interval, whichever is longer")
	{
		CHECK(c.waitFor(true) == 2 * second);
		c.lose(second), c.lose(second); // the interval is 4 s now
		REQUIRE(c.take(true));
		CHECK(c.waitFor(true) == 4 * second);
	}
	SECTION("at once if it was not sent")
	{
		nof_probation_trial_cancel(&c.p, c.now);
		CHECK(c.take(true));
		CHECK_FALSE(c.take(true));
	}
}

TEST_CASE("probation: four reads, then four writes; the other kind is taken after a wait", "[probation]")
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
			// a request of the wrong kind is taken after more than a second, so one jiffy later
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
	SECTION("a trial without an answer restarts the count")
	{
		CHECK_FALSE(c.answer(false));
		for (int i = 0; i < NOF_PROBATION_TRIALS - 1; i++)
			CHECK_FALSE(c.answer());
		CHECK(c.answer());
	}
	SECTION("a loss restarts the count")
	{
		CHECK(c.lose(second) == NOF_LOSS_PROLONGS);
		for (int i = 0; i < NOF_PROBATION_TRIALS - 1; i++)
			CHECK_FALSE(c.answer());
		CHECK(c.answer());
	}
	SECTION("it ends once")
	{
		CHECK(c.answer());
		CHECK_FALSE(c.answer()); // the answer of an outstanding trial
	}
	nof_probation_end(&c.p, c.now);
	CHECK_FALSE(c.p.on);
}

TEST_CASE("probation: a loss within ten minutes of its end is a relapse, a later one is not", "[probation]")
{
	Ctrl c;
	c.begin();
	c.endure();
	SECTION("a relapse doubles the interval, also after a long connection")
	{
		CHECK(c.lose(10 * minute - 1) == NOF_LOSS_RELAPSE);
		CHECK(c.p.on);
		CHECK(c.p.interval_ms == 2 * NOF_PROBATION_INTERVAL_MS);
		c.endure();
		CHECK(c.lose(second) == NOF_LOSS_RELAPSE);
		CHECK(c.p.interval_ms == 4 * NOF_PROBATION_INTERVAL_MS);
	}
	SECTION("a later loss is counted anew, with the first interval")
	{
		CHECK(c.lose(10 * minute) == NOF_LOSS_NOTED);
		CHECK_FALSE(c.p.on);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_BEGINS);
		CHECK(c.p.interval_ms == NOF_PROBATION_INTERVAL_MS);
	}
}

TEST_CASE("probation: jiffies may wrap at any time", "[probation]")
{
	// the wrap is in each phase: losses, trials, the time after
	for (Jiffies before : {Jiffies(0), Jiffies(1), second, 2 * second, 3 * second + 1, 5 * second, 8 * second,
			       15 * second, minute, 9 * minute, 9 * minute + 40 * second}) {
		CAPTURE(before);
		Ctrl c(std::numeric_limits<Jiffies>::max() - before);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_NOTED);
		CHECK(c.lose(second) == NOF_LOSS_BEGINS);
		for (int i = 0; i < NOF_PROBATION_TRIALS; i++) { // writes only
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
