// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the tests of a guest program and checks for leftovers after each of them.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include "reproduce.h"
#include "selection.h"
#include "host.h"
#include "kernel_log.h"
#include "program_table.h"
#include "run.h"
#include "transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

namespace {

using namespace guest;

int leftovers = 0;
int failedCases = 0;

class Listener : public Catch::TestEventListenerBase {
public:
	using Catch::TestEventListenerBase::TestEventListenerBase;

	void testCaseStarting(const Catch::TestCaseInfo &info) override
	{
		std::printf("test: %s\n", info.name.c_str());
		std::fflush(stdout);
		markKernelLog(caseBegins);
		begin_ = section_ = {};
		testCase_ = info.name;
		setCircumstances({});
		failed_.reset();
	}

	// Records the circumstances of the first failure, before later code changes them.
	AssertionEnded assertionEnded(const Catch::AssertionStats &stats) override
	{
		if (!stats.assertionResult.isOk() && !failed_)
			failed_ = choices();
		return AssertionEnded(false);
	}

	// Names each line of a table, so that the log shows one that hangs.
	void sectionStarting(const Catch::SectionInfo &info) override
	{
		section_ = {};
		before_.push_back(choices());
		if (info.name == testCase_)
			return;
		std::printf("section: %s\n", info.name.c_str());
		std::fflush(stdout);
	}

	void sectionEnded(const Catch::SectionStats &stats) override
	{
		auto &name = stats.sectionInfo.name;
		bool good = stats.assertions.allOk();
		double seconds = section_.elapsed().count() / 1000.0;
		if (good && name != testCase_) // the next table line starts with the circumstances from before
			setCircumstances(before_.back());
		before_.pop_back();
		if (name == testCase_ || (good && seconds < 5))
			return;
		std::printf("section: %s %s (%.1f s)\n", good ? "ok" : "FAILED", name.c_str(), seconds);
		if (!good)
			tellAgain();
		std::fflush(stdout);
	}

	void testCaseEnded(const Catch::TestCaseStats &stats) override
	{
		auto ms = begin_.elapsed().count();
		bool good = stats.totals.assertions.allOk();
		for (auto &line : log_.alarms())
			complain(good, "kernel: " + line);
		for (auto &line : remains())
			complain(good, line);
		failedCases += !good;
		std::printf("test: %s %s (%ld.%03ld s)\n", good ? "ok" : "FAILED", testCase_.c_str(), ms / 1000,
			    ms % 1000);
		if (!good && !told_)
			tellAgain();
		told_ = false;
		std::fflush(stdout);
	}

private:
	// Sections end before their test case: prints one command for each failed section, otherwise one for the test
	// case.
	void tellAgain()
	{
		auto command = reproduceTest(testCase_, failed_.value_or(choices()));
		if (!command.empty())
			std::printf("again: %s\n", command.c_str());
		failed_.reset();
		told_ = true;
	}

	static void complain(bool &good, const std::string &what)
	{
		good = false;
		leftovers++;
		std::printf("left behind: %s\n", what.c_str());
	}

	static std::vector<std::string> remains()
	{
		std::vector<std::string> found;
		if (!Host::loaded())
			return found;
		auto client = nvmeof::Client::open();
		if (!client)
			return {client.error().message};
		for (auto &c : take(client->controllers()))
			found.push_back("controller " + c.name + ", " + nvmeof::toString(c.state));
		for (auto &p : take(client->paths()))
			found.push_back("path " + p.name + ", " + std::to_string(p.inflight) + " in flight");
		for (auto &n : take(client->namespaces()))
			found.push_back("namespace " + n.name + ", " + std::to_string(n.waiting) + " waiting");
		if (!found.empty())
			(void)client->disconnectAll();
		return found;
	}

	KernelLog log_;
	Stopwatch begin_, section_;
	std::string testCase_;
	std::vector<Choices> before_; // of each open section
	std::optional<Choices> failed_;
	bool told_ = false;
};

CATCH_REGISTER_LISTENER(Listener)

// One executable contains the test cases of all guest programs; a program is a link to it. Whether this program
// contains those of the source file: /nvmeof/tests/recovery contains those of the files that CMakeLists.txt lists for
// it; the executable itself contains all.
bool inThisProgram(const std::string &sourceFile)
{
	static const std::string name = program_invocation_short_name;
	static const bool ownName = std::filesystem::read_symlink("/proc/self/exe").filename() == name;

	return ownName || std::ranges::any_of(programTable, [&](auto &entry) {
		       return name == entry.program && sourceFile.ends_with(std::string("/") + entry.file);
	       });
}

// Selects the test cases of this program. Those for the other transport are skipped and named in the log.
bool keep(const TestCaseFacts &test)
{
	if (!inThisProgram(test.file))
		return false;
	if (!std::ranges::count(test.tags, overRdma() ? "tcp" : "rdma"))
		return true;
	std::printf("not for %s: %s\n", overRdma() ? "rdma" : "tcp", test.name.c_str());
	std::fflush(stdout);
	return false;
}

} // namespace

// qemu/judge repeats failed test cases only if nothing else went wrong: the last line says that the program ran to its
// end and failed for no other reason.
int main(int argc, char **argv)
{
	const char *name = program_invocation_short_name;
	std::printf("program: %s\n", name);
	std::fflush(stdout);
	int failed = runTests(argc, argv, keep);
	if (leftovers)
		std::printf("%d things left behind by tests\n", leftovers);
	auto missed = unusedSelections();
	if (!missed.empty())
		std::printf("nothing was played of%s\n", missed.c_str());
	else if (!failed || failedCases)
		std::printf("program: %s: ended, %d cases failed\n", name, failedCases);
	return failed || leftovers || !missed.empty() ? 1 : 0;
}
