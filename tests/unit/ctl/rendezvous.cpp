// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include <nvmeof/rendezvous.h>

using namespace nvmeof;

namespace {

std::string hostName(int i)
{
	return "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-" + std::to_string(100000000000 + i);
}

std::vector<std::string> services(int count)
{
	std::vector<std::string> names;
	for (int i = 0; i < count; i++)
		names.push_back("tcp 10.0.0." + std::to_string(i + 1) + ":8009");
	return names;
}

} // namespace

// Values from a second implementation: hosts and services of all versions have to agree.
TEST_CASE("the weight of a pair of names never changes", "[rendezvous]")
{
	CHECK(rendezvousWeight("", "") == 0xb9034ad37056f5fb);
	CHECK(rendezvousWeight("nqn.host", "tcp 10.0.0.1:8009") == 0x6b201b086c6e54ae);
	CHECK(rendezvousWeight("nqn.host", "tcp 10.0.0.2:8009") == 0xfcb5a4f9dac883ec);
	CHECK(rendezvousWeight("a", "bc") != rendezvousWeight("ab", "c"));
}

TEST_CASE("an order has each member once, and does not depend on the order of the list", "[rendezvous]")
{
	std::vector<std::string> names = services(7);
	std::vector<std::size_t> order = rendezvousOrder("nqn.host", names);
	std::vector<std::string> ordered;
	for (std::size_t i : order)
		ordered.push_back(names[i]);
	CHECK(std::is_permutation(ordered.begin(), ordered.end(), names.begin()));
	std::ranges::reverse(names);
	std::vector<std::string> again;
	for (std::size_t i : rendezvousOrder("nqn.host", names))
		again.push_back(names[i]);
	CHECK(again == ordered);
	CHECK(rendezvousOrder("nqn.host", {}).empty());
	CHECK(rendezvousOrder("nqn.host", std::vector<std::string>{"x", "x"}) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("hosts are distributed evenly over first and second choices", "[rendezvous]")
{
	constexpr int hosts = 4000, count = 4;
	std::map<std::size_t, int> first;
	std::map<std::pair<std::size_t, std::size_t>, int> both;
	for (int i = 0; i < hosts; i++) {
		auto order = rendezvousOrder(hostName(i), services(count));
		first[order[0]]++;
		both[{order[0], order[1]}]++;
	}
	REQUIRE(first.size() == count);
	REQUIRE(both.size() == count * (count - 1));
	for (const auto &[service, share] : first)
		CHECK(std::abs(share - hosts / count) < 120); // four standard deviations
	for (const auto &[pair, share] : both)
		CHECK(std::abs(share - hosts / 12) < 75);
}

TEST_CASE("only the hosts of a removed service move", "[rendezvous]")
{
	const std::vector<std::string> all = services(5), fewer = services(4);
	for (int i = 0; i < 1000; i++) {
		auto before = rendezvousOrder(hostName(i), all), after = rendezvousOrder(hostName(i), fewer);
		std::erase(before, 4);
		CHECK(before == after);
	}
}
