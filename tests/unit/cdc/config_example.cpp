// SPDX-License-Identifier: LGPL-2.1-or-later
// The installed example of the configuration, and the defaults that it shows
#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <sstream>

#include "config.h"

using namespace cdc;

namespace {

std::string example()
{
	std::ostringstream text;
	text << std::ifstream(std::string(NVMEOF_SOURCES) + "/../../tools/nvmeof-cdc/cdc.toml").rdbuf();
	return text.str();
}

Rules parsedRules(const std::string &text)
{
	RulesReading reading = parseRules(text, "cdc.toml");
	for (const nvmeof::ConfigProblem &problem : reading.problems)
		FAIL(problem.place.toString() << ": " << problem.message);
	return reading.rules;
}

bool sameFront(const FrontRules &a, const FrontRules &b)
{
	return a.digests == b.digests && a.connections.all == b.connections.all &&
	       a.connections.each == b.connections.each && a.admission.active == b.admission.active &&
	       a.admission.waiting == b.admission.waiting && a.stepMs == b.stepMs && a.idleMs == b.idleMs;
}

void checkDefaults(const Rules &rules)
{
	const Rules usual;
	CHECK(rules.listen == usual.listen);
	CHECK(rules.advertise == usual.advertise); // advertise-networks has only an example
	CHECK(rules.threads == usual.threads);
	CHECK(rules.views.unzoned == usual.views.unzoned);
	CHECK(rules.state == usual.state);
	CHECK(rules.control == usual.control);
	CHECK(rules.web == usual.web);
	CHECK(rules.drainMs == usual.drainMs);
	RegistrationRules registration = rules.registration;
	registration.ddcs.clear(); // an example
	CHECK(registration == usual.registration);
	SecurityRules security = rules.security;
	security.keys.clear(); // an example
	CHECK(security == usual.security);
	CHECK(rules.store.engine == usual.store.engine);
	CHECK(rules.store.file == usual.store.file);
	CHECK(rules.store.etcd.prefix == usual.store.etcd.prefix);
	CHECK(sameFront(rules.front, usual.front));
}

} // namespace

TEST_CASE("the example as installed changes no default", "[toml]")
{
	const Rules rules = parsedRules(example());
	checkDefaults(rules);
	CHECK(rules.nqn.empty());
	CHECK(rules.targets.empty());
	CHECK(rules.zones.empty());
	CHECK(rules.pulls.empty());
	CHECK(rules.store.etcd.endpoints.empty());
}

TEST_CASE("with its comments removed, the example still has the defaults, entries marked as examples aside", "[toml]")
{
	const std::string bare = std::regex_replace(example(), std::regex("(^|\n)#(?=[a-z\\[])"), "$1");
	const Rules rules = parsedRules(bare);
	checkDefaults(rules);
	REQUIRE(rules.targets.size() == 1);
	Target target = rules.targets[0];
	Target usual;
	usual.nqn = target.nqn;
	usual.traddr = target.traddr;
	usual.origin = target.origin;
	CHECK(target == usual);
	REQUIRE(rules.pulls.size() == 1);
	CHECK(rules.pulls[0].ana == PullSource().ana);
	CHECK(rules.zones.size() == 1);
	CHECK(rules.store.etcd.endpoints.size() == 3);
}

// A new key of the parser has to be added to the example.
TEST_CASE("the example has every key", "[toml]")
{
	std::ostringstream source;
	source << std::ifstream(std::string(NVMEOF_SOURCES) + "/../../tools/nvmeof-cdc/config.cpp").rdbuf();
	const std::string parser = source.str(), text = example();
	const std::regex added("add\\(\"([a-z-]+)\"");
	int keys = 0;
	for (std::sregex_iterator one(parser.begin(), parser.end(), added), end; one != end; ++one, ++keys) {
		const std::string key = (*one)[1];
		CAPTURE(key);
		if (key == "registration-lease") // a key of earlier versions
			continue;
		const bool told = std::regex_search(
			text, std::regex("\n#?(" + key + " = |\\[\\[?(registration\\.)?" + key + "\\])"));
		CHECK(told);
	}
	CHECK(keys > 30);
}
