// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the words of a command line, one a line.
#include "input.h"

#include <nvmeof/name.h>

#include "connect_plan.h"
#include "parse.h"
#include "setting_texts.h"

using namespace nvmeof;

namespace {

constexpr std::size_t max = 64; // bound of the words, because each option is searched among all of them

void checkOption(const Option &option, const Args &args, const std::vector<std::string> &words)
{
	const std::vector<std::string> &values = args.all(option.key());
	expect(!option.required || !values.empty(), "a required option is present");
	expect(option.repeated || option.flag() || values.size() <= 1, "an option that cannot be repeated occurs once");
	for (const std::string &value : values) {
		expect(option.choices.empty() || std::ranges::count(option.choices, value), "of choices one");
		auto has = [&](const std::string &word) { return word.find(value) != word.npos; };
		expect(std::ranges::any_of(words, has), "no value that was not typed");
	}
}

void checkAnswer(const CommandLine &line, bool noWord)
{
	expect(line.exitCode == 0 || line.exitCode == 2, "help, or wrong usage");
	expect(!line.text.empty() && line.text.back() == '\n', "in words");
	if (line.exitCode)
		expect(line.text.starts_with(noWord ? "Usage: " : "nvmeofctl: ") &&
			       line.text.find("--help'") != line.text.npos,
		       "that say where to look");
}

bool inRange(const std::optional<std::chrono::milliseconds> &time, int min)
{
	return !time || (time->count() >= min && time->count() <= INT32_MAX);
}

void checkConnect(const ConnectOptions &options)
{
	expect(checkNqn(options.subsysnqn).ok(), "a subsystem's NQN is an NQN");
	expect(!options.hostnqn || checkNqn(*options.hostnqn).ok(), "so is the host's");
	expect(!options.hostid || !options.hostid->isNil(), "a host's ID is one");
	const Result<Address> address = parseAddress(options.address.toString());
	expect(address && *address == options.address, "an address is one");
	expect(options.hostTraddr.empty() || parseTraddr(options.hostTraddr).ok(), "so is the local one");
	for (const auto &queues : {options.ioQueues, options.pollQueues})
		expect(!queues || *queues <= 1024, "not more queues than the kernel takes");
	expect(!options.queueSize || (*options.queueSize >= 16 && *options.queueSize <= 1024),
	       "a queue as long as the kernel takes");
	for (const auto &time :
	     {options.keepAlive, options.reconnectDelay, options.connectTimeout, options.stallTimeout})
		expect(inRange(time, 0), "a time in range");
	for (const auto &time : {options.ctrlLoss, options.fastIoFail})
		expect(inRange(time, -1), "a time in range, or never");
}

void checkPlan(const Args &args)
{
	const auto nobodyAsked = [](std::string_view text, std::string_view port) -> Result<std::vector<Address>> {
		Result<Address> one = parseAddress(text, port);
		return one ? Result<std::vector<Address>>(std::vector<Address>{*one}) : one.error();
	};
	const Result<ConnectPlan> plan = planConnect(args, {}, nobodyAsked);
	if (!plan) {
		expect(plan.error().message.starts_with("--"), "a refusal names the option");
		return;
	}
	expect(plan->options.size() == args.all("traddr").size(), "one controller for each address");
	expect(inRange(plan->timeout, 0), "an end to the waiting");
	for (const ConnectOptions &options : plan->options)
		checkConnect(options);
}

void checkSet(const Args &args)
{
	const std::optional<ObjectName> name = parseName(args.textOr("NAME", ""));
	if (!name)
		return;
	const Result<Settings> settings = parseSettings(name->kind(), args.all("NAME=VALUE"));
	expect(settings.ok() || !settings.error().message.empty(), "a refusal has a reason");
}

} // namespace

void fuzz(Input in)
{
	std::vector<std::string> words = lines(in.text());
	if (words.size() > max)
		return;
	const CommandLine line = parseCommandLine(words);
	if (!line.command)
		return checkAnswer(line, words.empty());
	for (const Option &option : optionsOf(*line.command))
		checkOption(option, line.args, words);
	if (line.command->name == "connect")
		checkPlan(line.args);
	if (line.command->name == "set")
		checkSet(line.args);
}
