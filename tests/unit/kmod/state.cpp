// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <utility>

extern "C" {
#include "core/state.h"
}

namespace {

using State = nvmeof_ctrl_state;

const std::set<std::pair<State, State>> legal = {
	{NVMEOF_CTRL_NEW, NVMEOF_CTRL_CONNECTING},      {NVMEOF_CTRL_NEW, NVMEOF_CTRL_DELETING},
	{NVMEOF_CTRL_CONNECTING, NVMEOF_CTRL_LIVE},     {NVMEOF_CTRL_CONNECTING, NVMEOF_CTRL_RECOVERING},
	{NVMEOF_CTRL_CONNECTING, NVMEOF_CTRL_DELETING}, {NVMEOF_CTRL_LIVE, NVMEOF_CTRL_RECOVERING},
	{NVMEOF_CTRL_LIVE, NVMEOF_CTRL_DELETING},       {NVMEOF_CTRL_RECOVERING, NVMEOF_CTRL_CONNECTING},
	{NVMEOF_CTRL_RECOVERING, NVMEOF_CTRL_DELETING}, {NVMEOF_CTRL_DELETING, NVMEOF_CTRL_DEAD},
	{NVMEOF_CTRL_CONNECTING, NVMEOF_CTRL_LOST},     {NVMEOF_CTRL_LOST, NVMEOF_CTRL_CONNECTING},
	{NVMEOF_CTRL_LOST, NVMEOF_CTRL_LIVE},           {NVMEOF_CTRL_LOST, NVMEOF_CTRL_DELETING},
};

} // namespace

TEST_CASE("controller states: exactly the legal transitions are allowed")
{
	for (int from = NVMEOF_CTRL_NEW; from <= NVMEOF_CTRL_LOST; ++from) {
		for (int to = NVMEOF_CTRL_NEW; to <= NVMEOF_CTRL_LOST; ++to) {
			CAPTURE(from, to);
			const auto pair = std::pair(State(from), State(to));
			CHECK(nof_state_may(pair.first, pair.second) == legal.contains(pair));
		}
	}
}

TEST_CASE("controller states: undefined values are refused")
{
	for (unsigned int other : {7u, 31u, 32u, 63u, 64u, 255u, 0x7fffffffu, 0xffffffffu}) {
		CAPTURE(other);
		CHECK_FALSE(nof_state_may(State(other), NVMEOF_CTRL_DELETING));
		CHECK_FALSE(nof_state_may(NVMEOF_CTRL_LIVE, State(other)));
		CHECK(std::string(nof_state_name(State(other))) == "unknown");
	}
}

TEST_CASE("controller states: each has a name")
{
	std::set<std::string> names;
	for (int state = NVMEOF_CTRL_NEW; state <= NVMEOF_CTRL_LOST; ++state)
		names.insert(nof_state_name(State(state)));
	CHECK(names == std::set<std::string>{"new", "connecting", "live", "recovering", "deleting", "dead", "lost"});
	CHECK(std::string(nof_state_name(NVMEOF_CTRL_RECOVERING)) == "recovering");
}

TEST_CASE("controller states: connecting and lost make attempts, deleting and dead are final")
{
	std::set<std::string> connect, end;
	for (int state = NVMEOF_CTRL_NEW; state <= NVMEOF_CTRL_LOST; ++state) {
		if (nof_state_connects(State(state)))
			connect.insert(nof_state_name(State(state)));
		if (nof_state_ends(State(state)))
			end.insert(nof_state_name(State(state)));
	}
	CHECK(connect == std::set<std::string>{"connecting", "lost"});
	CHECK(end == std::set<std::string>{"deleting", "dead"});
}
