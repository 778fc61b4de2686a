// SPDX-License-Identifier: LGPL-2.1-or-later
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "run.h"

#include <cstdio>

namespace {

// Quotes a test name: Catch2 gives commas and brackets in a test specification a meaning.
std::string inQuotes(const std::string &name)
{
	std::string text;
	for (char c : name)
		text += (c == ',' || c == '[' || c == '\\' || c == '"' ? "\\" : "") + std::string(1, c);
	return '"' + text + '"';
}

#ifdef NVMEOF_CATCH3
constexpr Catch::WarnAbout::What noTests = Catch::WarnAbout::UnmatchedTestSpec;

TestCaseFacts factsOf(const Catch::TestCaseHandle &test)
{
	const Catch::TestCaseInfo &info = test.getTestCaseInfo();
	TestCaseFacts facts{info.name, info.lineInfo.file, {}};
	for (const Catch::Tag &tag : info.tags)
		facts.tags.emplace_back(tag.original);
	return facts;
}
#else
constexpr Catch::WarnAbout::What noTests = Catch::WarnAbout::NoTests;

TestCaseFacts factsOf(const Catch::TestCase &test)
{
	return {test.name, test.lineInfo.file, test.lcaseTags};
}
#endif

// Names of the selected test cases that `keep` accepts, as a test specification. Empty: no case is left.
std::string selection(Catch::ConfigData data, const std::function<bool(const TestCaseFacts &)> &keep)
{
	if (data.testsOrTags.empty())
		data.testsOrTags = {"~[.]"}; // not the hidden ones
	Catch::Config config(data);
	std::string names;
	for (auto &test : Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config))
		if (TestCaseFacts facts = factsOf(test); keep(facts))
			names += (names.empty() ? "" : ",") + inQuotes(facts.name);
	return names;
}

} // namespace

int runTests(int argc, char **argv, const std::function<bool(const TestCaseFacts &)> &keep)
{
	Catch::Session session;
	if (int bad = session.applyCommandLine(argc, argv))
		return bad;
	// a selection that matches no test case is an error
	auto &config = session.configData();
	config.warnings = static_cast<Catch::WarnAbout::What>(config.warnings | noTests);
	if (keep) {
		config.testsOrTags = {selection(config, keep)};
		if (config.testsOrTags[0].empty()) {
			std::puts("no test case is left");
			return 1;
		}
	}
	return session.run();
}
