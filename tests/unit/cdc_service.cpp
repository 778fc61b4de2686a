// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole service: what registrations lead to, and how often hosts are told of changes.
#include "cdc_client.h"
#include "cdc_running.h"
#include "serving/guard.h"

#include <fstream>
#include <sstream>

using namespace cdc;
using namespace nofctl::wire;
using namespace std::chrono_literals;

namespace {

std::uint16_t portOf(const Running &running)
{
	return static_cast<std::uint16_t>(std::stoi(running.rules.listen[0].trsvcid));
}

template <typename Holds> bool within(std::chrono::seconds time, Holds holds)
{
	const auto end = std::chrono::steady_clock::now() + time;
	while (!holds()) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		std::this_thread::sleep_for(20ms);
	}
	return true;
}

// The status of a registration
int registers(Client &client, const Registration &registration)
{
	return client.run(dim(0), encodeRegistration(registration));
}

std::size_t hostsOf(Running &running)
{
	std::size_t hosts = 0;
	running.in([&] { hosts = running.service->model().hosts().size(); });
	return hosts;
}

} // namespace

TEST_CASE("no registration ends the service, and what is stored of it can be read at the next start", "[service]")
{
	Running running;
	running.start();
	const auto caught = serving::caughtExceptions();
	Client client(portOf(running));
	client.hello().enable();
	for (const std::string text : {"\xff", "\xc3", "a\x01", "\xed\xa0\x80"}) {
		Registration bad = someRegistration(1);
		bad.name = text;
		CHECK(registers(client, bad) == (st_invalid_discovery | st_dnr));
		bad = someRegistration(1);
		bad.version = text;
		CHECK(registers(client, bad) == (st_invalid_discovery | st_dnr));
		bad = someRegistration(1);
		bad.entity = dim_direct;
		bad.nqn = "nqn." + text;
		CHECK(registers(client, bad) == (st_denied | st_dnr));
	}
	CHECK(hostsOf(running) == 0);
	CHECK(registers(client, someRegistration(1)) == st_ok);
	CHECK(hostsOf(running) == 1);
	CHECK(serving::caughtExceptions() == caught);
	running.stop();
	running.start();
	CHECK(hostsOf(running) == 1);
}

TEST_CASE("a registration ends when its owner has gone, and not before", "[service]")
{
	Running running;
	running.rules.registration.leaseSeconds = 2;
	running.start();
	auto client = std::make_unique<Client>(portOf(running));
	client->hello().enable();
	REQUIRE(registers(*client, someRegistration(1)) == st_ok);
	std::this_thread::sleep_for(4s);
	CHECK(hostsOf(running) == 1);
	client.reset();
	CHECK(within(30s, [&] { return hostsOf(running) == 0; }));
}

TEST_CASE("hosts are told of a change at once, of many together, and of other hosts not at all", "[service]")
{
	Running running;
	running.start();
	Client client(portOf(running));
	client.hello().enable();
	auto told = [&] { return running.service->counters().pushed.load(); };
	auto generation = [&] {
		std::uint64_t views = 0, model = 0;
		running.in([&] {
			views = running.service->views().generation();
			model = running.service->model().generation();
		});
		return views == model;
	};
	REQUIRE(within(30s, generation));
	const auto before = told();
	CHECK(registers(client, someRegistration(1)) == st_ok);
	CHECK(told() == before);
	for (int i = 0; i < 60; i++)
		running.write({putOf(someTarget(i))});
	CHECK(within(30s, generation));
	CHECK(told() > before);
	CHECK(told() < before + 20);
	CHECK(running.service->counters().merged > 0);
	CHECK(client.readLog(62 * discovery_block) == st_ok);
	CHECK(get<std::uint64_t>(client.data, 8) == 61); // and itself
}
