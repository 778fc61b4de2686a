// SPDX-License-Identifier: LGPL-2.1-or-later
// Sample records, models and views for tests of the discovery service.
#pragma once

#include <catch2/catch.hpp>

#include "views.h"

namespace cdc {

inline constexpr const char *selfId = "11111111-2222-4333-8444-555555555555";

inline Target someTarget(int number, nofctl::wire::AnaState state = nofctl::wire::ana_optimized)
{
	Target target;
	target.nqn = "nqn.2024-01.com.example:s" + std::to_string(number);
	target.traddr = "10.0." + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
	target.state = state;
	return target;
}

inline Zone someZone(const std::string &name, std::vector<std::string> hosts, std::vector<std::string> targets)
{
	return {name, std::move(hosts), std::move(targets), {}};
}

template <typename T> Change putOf(const T &record)
{
	return {record.key(), record.json().dump()};
}

inline Change removalOf(const std::string &key)
{
	return {key, {}};
}

// A model that is changed as by a store
class Sample {
public:
	explicit Sample(int targets = 0, Unzoned unzoned = Unzoned::unlessZoned) : unzoned_(unzoned)
	{
		std::vector<Change> changes;
		for (int i = 0; i < targets; i++)
			changes.push_back(putOf(someTarget(i)));
		tell(std::move(changes));
	}

	void tell(std::vector<Change> changes)
	{
		REQUIRE(model.apply({false, std::move(changes), ++generation_}).empty());
		views = std::make_shared<const Views>(model, ViewRules{unzoned_}, views.get());
	}

	Model model{selfId};
	std::shared_ptr<const Views> views;

private:
	Unzoned unzoned_;
	std::uint64_t generation_ = 100;
};

} // namespace cdc
