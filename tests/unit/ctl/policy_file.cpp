// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <nvmeof/policy_file.h>

#include "tests/unit/scratch.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Result<std::vector<PolicyRule>> parse(const std::string &text)
{
	return parsePolicy(text, "p.conf");
}

std::string errorOf(const std::string &text)
{
	auto rules = parse(text);
	REQUIRE_FALSE(rules);
	CHECK(rules.error().code == ErrorCode::invalid);
	return rules.error().message;
}

unsigned lineFor(const std::string &text, const std::string &nqn)
{
	auto rules = parse(text);
	REQUIRE(rules);
	const PolicyRule *rule = matchPolicy(*rules, nqn);
	return rule ? rule->line : 0;
}

} // namespace

TEST_CASE("a policy file is parsed", "[policy]")
{
	auto rules = parse("# defaults\n"
			   "\n"
			   "nqn.2024-01.com.example:*  iopolicy=latency spill-us=500 degrade=on # fast ones\n"
			   "\tnqn.2024-01.com.#other:?\tfencing=safe\r\n"
			   "* delayed-removal-secs=60");
	REQUIRE(rules);
	REQUIRE(rules->size() == 3);
	CHECK((*rules)[0].pattern == "nqn.2024-01.com.example:*");
	CHECK((*rules)[0].line == 3);
	CHECK((*rules)[0].settings.iopolicy == "latency");
	CHECK((*rules)[0].settings.spillLatency == 500us);
	CHECK((*rules)[0].settings.degrade == true);
	CHECK((*rules)[1].pattern == "nqn.2024-01.com.#other:?"); // # within a word is no comment
	CHECK((*rules)[1].settings.fencing == Fencing::safe);
	CHECK((*rules)[2].line == 5);
}

TEST_CASE("an empty policy file is valid", "[policy]")
{
	auto text = GENERATE(as<std::string>{}, "", "\n", "\n\n\n", "#", "   # only this", " \t\r\n", "#\n#\n");
	auto rules = parse(text);
	REQUIRE(rules);
	CHECK(rules->empty());
	CHECK(matchPolicy(*rules, "nqn.a") == nullptr);
}

TEST_CASE("the first rule that matches the whole NQN applies", "[policy]")
{
	std::string text = "nqn.a:exact iopolicy=numa\n"
			   "nqn.a:*\n" // a rule without settings leaves these subsystems unchanged
			   "nqn.[bc]:? degrade=on\n"
			   "nqn.d:\\* degrade=on\n"
			   "*:tail fencing=safe\n";
	CHECK(lineFor(text, "nqn.a:exact") == 1);
	CHECK(lineFor(text, "nqn.a:exactly") == 2);
	CHECK(lineFor(text, "nqn.a:tail") == 2);
	CHECK(lineFor(text, "nqn.b:1") == 3);
	CHECK(lineFor(text, "nqn.c:12") == 0);
	CHECK(lineFor(text, "nqn.d:*") == 4);
	CHECK(lineFor(text, "nqn.d:x") == 0);
	CHECK(lineFor(text, "nqn.x/y.z:tail") == 5); // * matches every character
	CHECK(lineFor(text, "nqn.x:tail2") == 0);
	CHECK(lineFor(text, "") == 0);
}

TEST_CASE("errors in a policy file name file and line", "[policy]")
{
	CHECK(errorOf("nqn.a degrade=on\n\nnqn.b spill-us=many\n") ==
	      "p.conf:3: spill-us: 'many' is not a number of microseconds from 0 to 60000000");
	CHECK(errorOf("nqn.a spill=1")
		      .starts_with("p.conf:1: there is no setting 'spill'; a subsystem has: iopolicy,"));
	CHECK(errorOf("nqn.a degrade").starts_with("p.conf:1: 'degrade' is not NAME=VALUE"));
	CHECK(errorOf("iopolicy=latency degrade=on") ==
	      "p.conf:1: the pattern 'iopolicy=latency' matches no NQN: an NQN begins with 'nqn.'");
	CHECK(errorOf("nqn.a degrade=on degrade=off") == "p.conf:1: degrade is given twice");
}

TEST_CASE("invalid rules in a policy file are refused", "[policy]")
{
	auto text = GENERATE(as<std::string>{}, "nq", "nqn", "NQN.* degrade=on", "example:* degrade=on", "=", "\x01",
			     "nqn.a\x7f degrade=on", "nqn.* = on", "nqn.* iopolicy=", "nqn.* stall-tmo=1",
			     "nqn.* degrade=on,fencing=safe", "\xff\xfe* degrade=on");
	CAPTURE(text);
	errorOf(text);
	CHECK_FALSE(parse("nqn.good degrade=on\n" + text)); // one invalid rule invalidates the file
}

TEST_CASE("NUL bytes are refused, and random bytes are refused or parsed", "[policy]")
{
	CHECK_FALSE(parse(std::string("nqn.a\0* degrade=on", 18)));
	CHECK_FALSE(parse(std::string("nqn.a degrade=on\0", 17)));
	std::uint32_t state = 7;
	for (int round = 0; round < 2000; round++) {
		std::string text;
		for (int i = 0; i < 60; i++) {
			state = state * 1664525 + 1013904223;
			text += "nq.* \n\t#=[]\\?:degra\xfe"[(state >> 16) % 21];
		}
		if (auto rules = parse(text))
			for (const PolicyRule &rule : *rules)
				matchPolicy({rule}, "nqn.2024-01.com.example:x");
	}
}

TEST_CASE("a policy file is read up to its largest size", "[policy]")
{
	Scratch dir;
	CHECK(readPolicy(dir.path() / "absent").error().code == ErrorCode::noSuchObject);
	dir.write("policy.conf", "* degrade=on\n");
	auto rules = readPolicy(dir.path() / "policy.conf");
	REQUIRE(rules);
	CHECK(rules->size() == 1);
	CHECK_FALSE(readPolicy(dir.path())); // a directory
	std::string rule = "nqn.a degrade=on\n", large;
	while (large.size() < 100000) // larger than one small read
		large += rule;
	dir.write("large", large);
	CHECK(readPolicy(dir.path() / "large")->size() == large.size() / rule.size());
	dir.write("huge", std::string((1 << 20) + 1, '\n'));
	CHECK(readPolicy(dir.path() / "huge").error().message.ends_with("larger than 1 MiB"));
}
