// SPDX-License-Identifier: LGPL-2.1-or-later
#include "help.h"

#include <algorithm>
#include <ostream>
#include <span>

#include <fmt/format.h>

#include "context.h"
#include "settings_table.h"

namespace {

constexpr std::size_t lineWidth = 80;

// Lines of at most 80 characters, each indented by @indent blanks.
std::string wrapped(std::string_view text, std::size_t indent)
{
	std::string all, line;
	while (!text.empty()) {
		std::size_t end = std::min(text.find(' '), text.size());
		if (!line.empty() && indent + line.size() + 1 + end > lineWidth) {
			all += std::string(indent, ' ') + line + "\n";
			line.clear();
		}
		line += (line.empty() ? "" : " ") + std::string(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return line.empty() ? all : all + std::string(indent, ' ') + line + "\n";
}

std::string optionText(const Option &option)
{
	std::string note = valueNote(option);
	return fmt::format("  {}\n{}", option.heading(),
			   wrapped(option.help + (note.empty() ? "" : " (" + note + ")"), 10));
}

std::string optionsText(const char *title, const std::vector<Option> &options)
{
	if (options.empty())
		return {};
	std::string text = fmt::format("\n{}:\n", title);
	for (const Option &option : options)
		if (!option.old)
			text += optionText(option);
	return text;
}

std::string settingsText(const char *title, std::span<const SettingText> settings)
{
	std::string text = fmt::format("\n{}:\n", title);
	for (const SettingText &setting : settings)
		text += fmt::format(
			"  {}\n{}", setting.name,
			wrapped(fmt::format("{} ({}; default {})", setting.meaning, setting.values, setting.preset),
				10));
	return text;
}

std::string listOf(const std::vector<Command> &commands)
{
	std::size_t width = 0;
	for (const Command &command : commands)
		width = std::max(width, command.hidden ? 0 : command.name.size());
	std::string text;
	for (const Command &command : commands)
		if (!command.hidden)
			text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
	return text;
}

std::string examplesText(const Command &command)
{
	if (command.examples.empty())
		return {};
	std::string text = "\nExamples:\n";
	for (const Example &example : command.examples)
		text += fmt::format("  # {}\n  {}\n", example.what, example.line);
	return text;
}

} // namespace

std::string usageOf(const Command &command)
{
	std::string text = "nvmeofctl " + command.path;
	if (!command.run)
		return text + " VERB [OPTION]...";
	bool more = false;
	for (const Option &option : command.options) {
		std::string name = option.positional() ? option.longName : option.longName + " " + option.value;
		std::string dots = option.repeated ? "..." : "";
		if (option.required)
			text += " " + name + dots;
		else if (option.positional())
			text += " [" + name + dots + "]";
		else
			more = true;
	}
	return text + (more ? " [OPTION]..." : "");
}

std::string helpOf(const Command &called)
{
	const Command &command = currentOf(called);
	std::string text = fmt::format("Usage: {}\n", usageOf(command));
	if (command.run && !command.verbs.empty())
		text += fmt::format("       nvmeofctl {} VERB [OPTION]...\n", command.path);
	text += "\n" + wrapped(command.description, 0);
	if (!command.verbs.empty())
		text += fmt::format("\nVerbs:\n{}'nvmeofctl {} VERB --help' shows the options of a verb.\n",
				    listOf(command.verbs), command.path);
	text += optionsText("Options", command.options);
	if (command.settings) {
		text += settingsText("Settings of a subsystem", subsystemSettingTexts());
		text += settingsText("Settings of a controller", controllerSettingTexts());
	}
	text += optionsText("Options of every command", commonOptions());
	return text + examplesText(command);
}

std::string helpOfAll()
{
	std::size_t titleWidth = 0, nameWidth = 0;
	for (const Command &command : commands())
		if (!command.hidden) {
			titleWidth = std::max(titleWidth, command.group.size());
			nameWidth = std::max(nameWidth, command.name.size());
		}
	std::string text = "Usage: nvmeofctl COMMAND [VERB] [OPTION]...\n\n", title;
	for (const Command &command : commands()) {
		if (command.hidden)
			continue;
		text += fmt::format("{:<{}}  {:<{}}  {}\n", command.group == title ? "" : command.group, titleWidth,
				    command.name, nameWidth, command.summary);
		title = command.group;
	}
	return text + "\n'nvmeofctl COMMAND --help' lists the verbs, options and examples of a command.\n"
		      "'man nvmeofctl' describes files and "
		      "exit codes; --version prints the version.\n";
}

int runHelp(Context &context)
{
	std::string path = context.args().textOr("COMMAND", "");
	for (const std::string &verb : context.args().all("VERB"))
		path += " " + verb;
	const Command *command = findCommand(path);
	if (!command && !path.empty())
		return context.fail("", usageError("there is no command '" + path + "'"));
	context.out() << (command ? helpOf(*command) : helpOfAll());
	return 0;
}
