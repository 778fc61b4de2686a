// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parse.h"

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/client.h>

#include "exit_code.h"
#include "help.h"
#include "suggest.h"
#include "table.h"
#include "unsupported.h"

namespace {

using Words = std::vector<std::string>;
using Options = std::vector<Option>;

const Option *findOption(const Options &options, std::string_view name)
{
	for (const Option &option : options)
		if (!option.positional() && (option.longName == name || option.shortName == name))
			return &option;
	return nullptr;
}

std::string unknownOption(const Options &options, const std::string &name)
{
	if (std::optional<std::string> saying = unsupportedOption(name))
		return *saying;
	Words names;
	for (const Option &option : options)
		if (!option.positional())
			names.push_back(option.longName);
	std::optional<std::string> meant = name.starts_with("--") ? closest(name, names) : std::nullopt;
	return fmt::format("there is no option {}{}", name, meant ? fmt::format("; did you mean {}?", *meant) : "");
}

// One step on the command line: an option with its value, a word that is none, or what is wrong.
struct Step {
	const Option *option = nullptr;
	std::optional<std::string> value = {};
	std::string trouble = {};
};

// Takes a line apart: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, -gG; after -- there are no more options.
class Steps {
public:
	Steps(const Options &options, const Words &words) : options_(options), words_(words) {}

	bool done() const { return cluster_.empty() && at_ == words_.size(); }
	std::size_t at() const { return at_; }
	Step next();

private:
	Step longOption(const std::string &word);
	Step shortOption();
	Step withValue(const Option &option, const std::string &name);
	bool isOption(const std::string &word) const;

	const Options &options_;
	const Words &words_;
	std::size_t at_ = 0;
	std::string cluster_; // what is left of a word such as -gG
	bool onlyWords_ = false;
};

Step Steps::next()
{
	if (!cluster_.empty())
		return shortOption();
	const std::string &word = words_[at_++];
	if (onlyWords_ || word.size() < 2 || word.front() != '-')
		return {.value = word};
	if (word == "--") {
		onlyWords_ = true;
		return {};
	}
	if (word.starts_with("--"))
		return longOption(word);
	cluster_ = word.substr(1);
	return shortOption();
}

Step Steps::longOption(const std::string &word)
{
	std::size_t equals = word.find('=');
	std::string name = word.substr(0, equals); // what follows may be a secret
	const Option *option = findOption(options_, name);
	if (!option)
		return {.trouble = unknownOption(options_, name)};
	if (equals == word.npos)
		return option->flag() || option->mayLackValue ? Step{.option = option} : withValue(*option, name);
	if (option->flag())
		return {.trouble = name + " takes no value"};
	return {.option = option, .value = word.substr(equals + 1)};
}

Step Steps::shortOption()
{
	std::string name = "-" + cluster_.substr(0, 1), rest = cluster_.substr(1);
	cluster_.clear();
	const Option *option = findOption(options_, name);
	if (!option)
		return {.trouble = unknownOption(options_, name)};
	if (option->flag()) {
		cluster_ = rest;
		return {.option = option};
	}
	return rest.empty() ? withValue(*option, name) : Step{.option = option, .value = rest};
}

Step Steps::withValue(const Option &option, const std::string &name)
{
	if (at_ == words_.size() || isOption(words_[at_]))
		return {.trouble = fmt::format("{} needs a value: {} {}", name, name, option.value)};
	return {.option = &option, .value = words_[at_++]};
}

bool Steps::isOption(const std::string &word) const
{
	return findOption(options_, std::string_view(word).substr(0, word.find('='))) != nullptr;
}

// Those of all commands, to find the command on a line that begins with options. A test sees to it that an option of
// one name takes a value in all commands or in none.
const Options &everyOption()
{
	static const Options all = [] {
		Options options;
		for (const Command &command : commands())
			options.insert(options.end(), optionsOf(command).begin(), optionsOf(command).end());
		return options;
	}();
	return all;
}

CommandLine answer(std::string text, int exitCode = 0)
{
	return {.command = nullptr, .args = {}, .text = std::move(text), .exitCode = exitCode};
}

CommandLine usage(const std::string &command, const std::string &message)
{
	std::string help = command.empty() ? "nvmeofctl --help" : fmt::format("nvmeofctl {} --help", command);
	return answer(fmt::format("nvmeofctl: {}{}{} (see '{}')\n", command, command.empty() ? "" : ": ",
				  nofctl::printable(message), help),
		      static_cast<int>(ExitCode::usage));
}

CommandLine unknownCommand(const std::string &word)
{
	if (std::optional<std::string> saying = unsupportedCommand(word))
		return usage("", *saying);
	Words names;
	for (const Command &command : commands())
		if (!command.hidden)
			names.push_back(command.name);
	std::optional<std::string> meant = closest(word, names);
	return usage("", fmt::format("'{}' is not a command{}", word,
				     meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
}

// The words of one command: fills the Args, and keeps the first thing that is wrong.
class Line {
public:
	explicit Line(const Command &command) : command_(command) {}

	void take(const Step &step);
	void placeWords();
	void findMissing();

	bool helpWanted() const { return args_.has("help"); }
	const std::string &trouble() const { return trouble_; }
	Args &args() { return args_; }

private:
	void wrong(std::string what)
	{
		if (trouble_.empty())
			trouble_ = std::move(what);
	}
	void put(const Option &option, const std::string &name, const std::string &value);

	const Command &command_;
	Args args_;
	Words words_; // that belong to no option
	std::string trouble_;
};

void Line::put(const Option &option, const std::string &name, const std::string &value)
{
	if (!option.repeated && !option.flag() && args_.has(option.key()))
		return wrong(name + " is given twice");
	bool empty = option.flag() || (option.mayLackValue && value.empty());
	if (std::optional<std::string> refusal = empty ? std::nullopt : refusalOf(option, value))
		return wrong(name + ": " + *refusal);
	args_.add(option.key(), value);
}

void Line::take(const Step &step)
{
	if (!step.trouble.empty())
		wrong(step.trouble);
	else if (step.option)
		put(*step.option, step.option->longName, step.value.value_or(""));
	else if (step.value)
		words_.push_back(*step.value);
}

void Line::placeWords()
{
	auto word = words_.begin();
	for (const Option &option : optionsOf(command_)) {
		if (!option.positional() || (args_.has(option.key()) && !option.repeated))
			continue; // by its other spelling
		for (; word != words_.end(); ++word) {
			put(option, option.longName, *word);
			if (!option.repeated) {
				++word;
				break;
			}
		}
	}
	if (word != words_.end())
		wrong(fmt::format("'{}' is not expected here", *word));
}

void Line::findMissing()
{
	Words missing;
	for (const Option &option : optionsOf(command_))
		if (option.required && !args_.has(option.key()))
			missing.push_back(option.positional() ? option.longName : option.longName + " " + option.value);
	if (!missing.empty())
		wrong(fmt::format("{} {} missing", fmt::join(missing, " and "), missing.size() > 1 ? "are" : "is"));
}

CommandLine parseCommand(const Command &command, const Words &words)
{
	Line line(command);
	for (Steps steps(optionsOf(command), words); !steps.done();)
		line.take(steps.next());
	if (line.helpWanted())
		return answer(helpOf(command));
	line.placeWords();
	line.findMissing();
	if (!line.trouble().empty())
		return usage(command.name, line.trouble());
	return {.command = &command, .args = std::move(line.args()), .text = {}, .exitCode = 0};
}

// Of a line without a command
CommandLine parseNone(const std::optional<Step> &first)
{
	if (!first)
		return usage("", "no command given");
	if (!first->trouble.empty())
		return usage("", first->trouble);
	return usage("", fmt::format("{} is given, but no command", first->option ? first->option->longName : "--"));
}

std::string versionText()
{
	return fmt::format("nvmeofctl {}\n", nvmeof::libraryVersion());
}

} // namespace

CommandLine parseCommandLine(const std::vector<std::string> &words)
{
	std::optional<Step> first, trouble;
	bool help = false;
	for (Steps steps(everyOption(), words); !steps.done();) {
		std::size_t at = steps.at();
		if (at < words.size() && (words[at] == "--version" || words[at] == "-v"))
			return answer(versionText());
		Step step = steps.next();
		if (!step.option && step.value) {
			const Command *command = findCommand(*step.value);
			if (!command) // after an unknown option it may be its value, and secret
				return trouble ? usage("", trouble->trouble) : unknownCommand(*step.value);
			Words rest = words;
			rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
			return parseCommand(*command, rest);
		}
		help = help || (step.option && step.option->key() == "help");
		if (!trouble && !step.trouble.empty())
			trouble = step;
		if (!first)
			first = step;
	}
	return help ? answer(helpOfAll()) : parseNone(first);
}
