// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of connect and apply-policy about policy.conf. policy_file.cpp tests the parser.
#include <catch2/catch.hpp>

#include <cerrno>
#include <sstream>

#include "tests/unit/scratch.h"
#include "snapshot.h"
#include "parse.h"
#include "policy.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

struct Ran {
	int code = 0;
	std::string out, err;
};

bool outputHas(const std::string &text, const std::string &part)
{
	return text.find(part) != text.npos;
}

Ran run(std::vector<std::string> words, auto what)
{
	CommandLine line = parseCommandLine(words);
	REQUIRE(line.command);
	std::ostringstream out, err;
	Context context(*line.command, line.args, out, err);
	int code = what(context);
	return {code, out.str(), err.str()};
}

Ran applyWith(const std::filesystem::path &file, std::vector<std::string> more = {})
{
	std::vector<std::string> words{"apply-policy", "--policy-file", file};
	words.insert(words.end(), more.begin(), more.end());
	return run(words, runApplyPolicy);
}

} // namespace

TEST_CASE("a setting that was changed from the module's default stays", "[policy]")
{
	Subsystem subsystem = subsystemOf(0, "nqn.a");
	subsystem.iopolicy = *defaultSettings().iopolicy;
	SubsystemSettings rule, left;
	rule.iopolicy = "latency";
	rule.spillLatency = left.spillLatency = 500us;
	rule.degrade = true;
	CHECK(untouched(rule, subsystem) == rule);
	subsystem.iopolicy = "round-robin";
	subsystem.degrade = true;
	CHECK(untouched(rule, subsystem) == left);
}

TEST_CASE("a connect with a broken policy file gives a warning with the next step", "[policy]")
{
	std::vector<std::string> words{"connect", "-n", "nqn.a", "-a", "10.0.0.1", "--json"};
	ConfigDefaults rule{"nqn.*", {}, {}, {"/x/y.conf", 7}};
	Json entries;
	auto warn = [&](std::vector<PolicyOutcome> outcomes) {
		return run(words, [&](Context &context) {
			entries = warnOfPolicies(context, outcomes);
			return 0;
		});
	};
	Error broken = usageError("/etc/nvmeof/policy.conf:2: spill-us: what?");
	Ran ran = warn({{"nvmeof0", {}, broken}});
	CHECK(ran.err ==
	      "nvmeofctl: connect nvmeof0: warning: /etc/nvmeof/policy.conf:2: spill-us: what? "
	      "(connected, but not configured: correct the file, then run 'nvmeofctl apply-policy nvmeof0')\n");
	REQUIRE(entries.size() == 1);
	CHECK(entries[0]["subsystem"] == "nvmeof0");
	CHECK(entries[0]["error"]["code"] == "invalid");
	CHECK(outputHas(entries[0]["error"]["message"], "policy.conf:2"));

	words.insert(words.end(), {"--policy-file", "/x/y.conf"});
	ran = warn({{"nvmeof0", rule, usageError("there is no iopolicy 'x'")}});
	CHECK(outputHas(ran.err,
			"correct /x/y.conf line 7, then run 'nvmeofctl apply-policy nvmeof0 --policy-file /x/y.conf'"));
	ran = warn({{"nvmeof0", {}, errorFromErrno(EACCES)}});
	CHECK_FALSE(outputHas(ran.err, "correct"));
	CHECK(outputHas(ran.err, "'nvmeofctl apply-policy nvmeof0 --policy-file /x/y.conf' retries"));

	ran = warn({{"nvmeof0", rule, {}}, {"nvmeof1", {}, {}}});
	CHECK(ran.err.empty());
	REQUIRE(entries.size() == 1);
	CHECK(entries[0]["rule"]["line"] == 7);
	CHECK_FALSE(entries[0].contains("error"));
}

TEST_CASE("apply-policy fails for an unusable file", "[policy]")
{
	Scratch scratch;
	std::filesystem::path file = scratch.path() / "policy.conf";
	Ran ran = applyWith(file);
	CHECK(ran.code == 3);
	CHECK(ran.err == "nvmeofctl: apply-policy: there is no " + file.string() +
				 " (create the file with [[defaults]], or give rules 'NQN-PATTERN NAME=VALUE...' with "
				 "--policy-file FILE)\n");
	CHECK(applyWith(file, {"--new"}).code == 3); // a file named on the command line has to exist

	scratch.write("policy.conf", "nqn.* spill-us=lots\n");
	ran = applyWith(file, {"--json"});
	CHECK(ran.code == 2);
	CHECK(outputHas(ran.err, "policy.conf:1: spill-us"));
	CHECK(outputHas(ran.err, "(correct the file)"));
	CHECK(Json::parse(ran.out)["error"]["exit_code"] == 2);

	ran = applyWith(scratch.path()); // a directory
	CHECK(ran.code == 1);
	CHECK_FALSE(outputHas(ran.err, "correct the file"));
}

TEST_CASE("an error about an unknown iopolicy suggests a similar one", "[policy]")
{
	CHECK(noSelectorText("latncy", {"numa", "latency"}) ==
	      "there is no iopolicy 'latncy'; available: numa, latency; did you mean 'latency'?");
	CHECK(noSelectorText("sample", {"numa", "latency"}) ==
	      "there is no iopolicy 'sample'; available: numa, latency");
	for (const char *name : {"queue-length", "numa2", "queue-depth2", "queue"})
		CHECK(parseSubsystemSettings(std::vector{"iopolicy=" + std::string(name)}));
}
