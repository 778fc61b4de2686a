// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parse.h"

#include <algorithm>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "exit_code.h"

namespace {

// Where CLI11 leaves what it finds, one slot for each option of the command.
struct Slot {
	std::string key;
	bool flag = false;
	bool given = false;
	std::vector<std::string> values;
};

using Slots = std::vector<std::unique_ptr<Slot>>;

std::string namesOf(const Option &option)
{
	return option.shortName.empty() ? option.longName : option.shortName + "," + option.longName;
}

// CLI11 takes the 3 of "-b3" for the number -3. Nothing of ours begins with a dash.
std::string notAnOption(const std::string &value)
{
	return value.starts_with('-') ? "'" + value + "' is not an option" : "";
}

void addOption(CLI::App &app, const Option &option, Slots &slots)
{
	slots.push_back(std::make_unique<Slot>());
	Slot &slot = *slots.back();
	slot.key = option.key();
	slot.flag = option.flag();
	if (slot.flag) {
		app.add_flag(namesOf(option), slot.given, option.help);
		return;
	}
	CLI::Option *added = app.add_option(namesOf(option), slot.values, option.help)->type_name(option.value);
	bool list = option.repeated && option.positional();
	if (list)
		added->expected(1, CLI::detail::expected_max_vector_size);
	else
		added->expected(1)->allow_extra_args(false);
	added->multi_option_policy(option.repeated ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::Throw);
	if (option.required)
		added->required();
	if (!option.choices.empty())
		added->check(CLI::IsMember(option.choices));
	if (option.positional())
		added->check(notAnOption);
}

void fillArgs(const Slots &slots, Args &args)
{
	for (const std::unique_ptr<Slot> &slot : slots) {
		if (slot->given)
			args.add(slot->key, "");
		for (const std::string &value : slot->values)
			args.add(slot->key, value);
	}
}

CommandLine usage(std::string_view command, const std::string &message)
{
	CommandLine line;
	std::string help = command.empty() ? "nvmeofctl --help" : fmt::format("nvmeofctl {} --help", command);
	line.text = fmt::format("nvmeofctl: {}{}{} (see '{}')\n", command, command.empty() ? "" : ": ", message, help);
	line.exitCode = static_cast<int>(ExitCode::usage);
	return line;
}

// What an option was given twice looks like in CLI11's words is no help.
std::string inOurWords(const CLI::ParseError &error, const std::vector<std::string> &words)
{
	if (dynamic_cast<const CLI::RequiredError *>(&error) && words.empty())
		return "no command given";
	std::string message = error.what();
	std::replace(message.begin(), message.end(), '\n', ' ');
	return message;
}

} // namespace

CommandLine parseCommandLine(const std::vector<std::string> &words)
{
	CLI::App app("Control of the nvmeof NVMe-over-Fabrics host", "nvmeofctl");
	app.require_subcommand(1);
	std::vector<Slots> slots(commands().size());
	std::vector<CLI::App *> apps;
	for (std::size_t i = 0; i < commands().size(); i++) {
		const Command &command = commands()[i];
		CLI::App *sub = app.add_subcommand(command.name, command.summary);
		sub->group(command.hidden ? "" : "Commands");
		for (const Option &option : optionsOf(command))
			addOption(*sub, option, slots[i]);
		apps.push_back(sub);
	}
	// CLI11 would take an unknown first word for a stray argument of no command.
	if (!words.empty() && !words.front().starts_with('-') && !findCommand(words.front()))
		return usage("", fmt::format("'{}' is not a command", words.front()));
	try {
		app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
	} catch (const CLI::Success &success) {
		std::ostringstream help, unused;
		app.exit(success, help, unused);
		return {.command = nullptr, .args = {}, .text = help.str(), .exitCode = 0};
	} catch (const CLI::ParseError &error) {
		return usage(!words.empty() && findCommand(words.front()) ? words.front() : "",
			     inOurWords(error, words));
	}
	CommandLine line;
	for (std::size_t i = 0; i < apps.size(); i++) {
		if (!apps[i]->parsed())
			continue;
		line.command = &commands()[i];
		fillArgs(slots[i], line.args);
	}
	return line;
}
