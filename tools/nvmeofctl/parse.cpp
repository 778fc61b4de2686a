// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/client.h>
#include <nvmeof/suggest.h>

#include "context.h"
#include "libctl/keys/source.h"
#include "setting_texts.h"
#include "table.h"
#include "when.h"

namespace {

using Words = std::vector<std::string>;
using Options = std::vector<Option>;

const Option *findOption(const Options &options, std::string_view name)
{
	for (const Option &option : options)
		if (!name.empty() && !option.positional() && (option.longName == name || option.shortName == name))
			return &option;
	return nullptr;
}

bool looksLikeOption(const std::string &word)
{
	return word.size() > 1 && word.front() == '-';
}

// Parses the options of a command by CLI11. Positional options are not registered, and unknown options are allowed;
// both are in rest(). CLI11 would assign a word to the first positional option before it knows whether "-d NAME"
// follows, and report a missing value before an unknown option.
class Reader {
public:
	explicit Reader(const Options &options);

	// Stops parsing at the first word that is not an option.
	void endAtWord() { app_.prefix_command(); }
	// Returns an error message, or an empty text.
	std::string read(const Words &words);

	bool has(const std::string &name) const;
	bool asksForHelp() const { return help_ || has("--help") || has("-h"); }
	Words values(const Option &option) const { return app_.get_option(option.longName)->results(); }
	Words rest() const { return app_.remaining(); }

private:
	std::string misused(const Words &words) const;
	std::string refusal(const Option &option, const std::string &value) const;

	const Options &options_;
	CLI::App app_;
	bool help_ = false;
};

Reader::Reader(const Options &options) : options_(options)
{
	app_.set_help_flag();
	app_.allow_extras();
	for (const Option &option : options) {
		if (option.positional())
			continue;
		const std::string names = (option.shortName.empty() ? "" : option.shortName + ",") + option.longName;
		if (option.alone()) { // misused() checks a value given by =
			app_.add_flag(names)->take_all();
			continue;
		}
		CLI::Option *added = app_.add_option(names)->take_all();
		added->check([this, &option](const std::string &value) { return refusal(option, value); });
	}
}

std::string Reader::refusal(const Option &option, const std::string &value) const
{
	const std::string name = value.substr(0, value.find('='));
	if (findOption(options_, name))
		return fmt::format("needs a value, and {} is an option", name);
	return refusalOf(option, value).value_or("");
}

// Checks values of flags itself: CLI11 reads --json=true, --json={} and --json= as --json.
std::string Reader::misused(const Words &words) const
{
	for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
		const std::size_t equals = word->find('=');
		const Option *option = equals == word->npos ? nullptr : findOption(options_, word->substr(0, equals));
		if (!option || !option->alone())
			continue;
		const std::string name = word->substr(0, equals), value = word->substr(equals + 1);
		if (option->flag())
			return name + ": takes no value";
		if (std::optional<std::string> refused = value.empty() ? std::nullopt : refusalOf(*option, value))
			return name + ": " + *refused;
	}
	return {};
}

std::string Reader::read(const Words &words)
{
	if (std::string trouble = misused(words); !trouble.empty())
		return trouble;
	// If the option before it lacks its value, CLI11 takes --help as the value.
	help_ = std::any_of(words.begin(), std::ranges::find(words, "--"),
			    [](const std::string &word) { return word == "-h" || word == "--help"; });
	try {
		app_.parse(Words(words.rbegin(), words.rend()));
	} catch (const CLI::ArgumentMismatch &) { // the last option lacks its value
		const std::string &last = words.back();
		const std::string name = last.starts_with("--") ? last : "-" + last.substr(last.size() - 1);
		const Option *option = findOption(options_, name);
		return fmt::format("{} needs a value: {} {}", name, name, option ? option->value : "");
	} catch (const CLI::Error &error) {
		return error.what();
	}
	return {};
}

bool Reader::has(const std::string &name) const
{
	const CLI::Option *option = app_.get_option_no_throw(name);
	return option && option->count();
}

// All options, to find the command on a line that begins with options. A test checks that an option takes a value in
// all commands or in none.
const Options &everyOption()
{
	static const Options all = [] {
		Options options{{"", "-v", "", ""}, {"", "--version", "", ""}};
		std::set<std::string> seen{""};
		for (const Command *command : everyCommand())
			for (const Option &option : optionsOf(*command))
				for (const std::string &name : {option.shortName, option.longName})
					if (!option.positional() && seen.insert(name).second) {
						options.push_back({"", name, option.value, ""});
						options.back().mayLackValue = option.mayLackValue;
					}
		return options;
	}();
	return all;
}

// Splits "--name=" into "--name" and an empty word: CLI11 would take the next word as the value.
Words withEmptyValues(Words words)
{
	for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
		const std::string name = word->substr(0, word->find('='));
		const Option *option = name.size() + 1 == word->size() ? findOption(everyOption(), name) : nullptr;
		if (!option || option->alone())
			continue;
		*word = name;
		word = words.insert(word + 1, "");
	}
	return words;
}

CommandLine answer(std::string text, int exitCode = 0)
{
	return {.command = nullptr, .args = {}, .text = std::move(text), .exitCode = exitCode, .notices = {}};
}

CommandLine usage(const Command *command, const std::string &message)
{
	const std::string name = command ? command->path + ": " : "", help = command ? command->path + " " : "";
	const std::string said = nofctl::containsSecret(message) ? nofctl::secretError().message : message;
	return answer(fmt::format("nvmeofctl: {}{} (see 'nvmeofctl {}--help')\n", name, nofctl::printable(said), help),
		      static_cast<int>(ExitCode::usage));
}

// Must not repeat a value in @word, which may be a secret.
std::string unknownOption(const Command *command, const std::string &word)
{
	const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
	Words others, names;
	for (const Command *other : everyCommand())
		if (command && sameFamily(*other, *command) && findOption(optionsOf(*other), name))
			others.push_back("'" + other->path + "'");
	if (!others.empty())
		return fmt::format("{} is an option of {}, not of '{}'", name, fmt::join(others, ", "), command->path);
	if (std::optional<std::string> saying = unsupportedOption(name))
		return *saying;
	for (const Option &option : command ? optionsOf(*command) : everyOption())
		if (!option.positional() && !option.old)
			names.push_back(option.longName);
	std::optional<std::string> meant = name.starts_with("--") ? nvmeof::closest(name, names) : std::nullopt;
	return fmt::format("there is no option {}{}", name, meant ? fmt::format("; did you mean {}?", *meant) : "");
}

CommandLine unknownName(const Command *command, const std::string &word)
{
	if (std::optional<std::string> saying = command ? std::nullopt : unsupportedCommand(word))
		return usage(nullptr, *saying);
	Words names = namesOf(command ? command->verbs : commands());
	if (command && command->hidden) // an old spelling, whose verbs are hidden as well
		std::ranges::transform(command->verbs, std::back_inserter(names), &Command::name);
	const std::optional<std::string> meant = nvmeof::closest(word, names);
	const std::string what = command ? fmt::format("none of {}", fmt::join(names, ", ")) : "not a command";
	return usage(command,
		     fmt::format("'{}' is {}{}", word, what, meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
}

CommandLine noName(const Command *command, const Words &words)
{
	if (command)
		return usage(command, fmt::format("one of {} is missing", fmt::join(namesOf(command->verbs), ", ")));
	if (words.empty())
		return answer(helpOfAll(), static_cast<int>(ExitCode::usage));
	return usage(nullptr,
		     fmt::format("{} is given, but no command", words.front().substr(0, words.front().find('='))));
}

// Options before the name of a command or a verb
struct Front {
	std::size_t words = 0;
	bool help = false, version = false;
	std::string trouble;
};

Front frontOf(const Words &words)
{
	Front front;
	if (words.empty() || !looksLikeOption(words.front()))
		return front;
	Reader reader(everyOption());
	reader.endAtWord();
	front.trouble = reader.read(words);
	const Words rest = reader.rest();
	const bool mark = !rest.empty() && rest.front() == "--";
	if (!rest.empty() && !mark && looksLikeOption(rest.front())) // the next word may be its value, and a secret
		front.trouble = unknownOption(nullptr, rest.front());
	front.words = words.size() - rest.size() + mark;
	front.help = reader.asksForHelp();
	front.version = reader.has("--version") || reader.has("-v");
	return front;
}

// Whether "-d 0.5" means an interval, as in older versions, and not a device
bool isFormerNumber(const Option &option, const std::string &value)
{
	return !option.wasNumber.empty() && !value.empty() &&
	       (std::isdigit(static_cast<unsigned char>(value.front())) || value.front() == '.');
}

// Adds values of options and words to @line. Returns an error message, or an empty text.
std::string assignValues(const Command &command, const Reader &reader, const Words &words, CommandLine &line)
{
	const Options &options = optionsOf(command);
	Args &args = line.args;
	auto twice = [&](const Option &option) { return !option.repeated && !option.flag() && args.has(option.key()); };
	for (const Option &given : options)
		for (const std::string &value : given.positional() ? Words() : reader.values(given)) {
			const bool former = isFormerNumber(given, value);
			const Option &option = former ? *findOption(options, given.wasNumber) : given;
			if (std::optional<std::string> refusal = former ? refusalOf(option, value) : std::nullopt)
				return option.longName + ": " + *refusal;
			if (twice(option))
				return option.longName + " is given twice";
			args.add(option.key(), option.alone() && value == "true" ? "" : value);
			if (former)
				line.notices.push_back(fmt::format(
					"'{} {}' is an old spelling of '{} {}'; {} names a device", given.shortName,
					option.value, option.longName, option.value, given.shortName));
			if (given.old)
				line.notices.push_back(
					fmt::format("{} is an old spelling of --{}", given.longName, given.key()));
		}
	auto word = words.begin();
	for (const Option &option : options)
		while (option.positional() && word != words.end() && !twice(option)) {
			if (std::optional<std::string> refusal = refusalOf(option, *word))
				return option.longName + ": " + *refusal;
			args.add(option.key(), *word++);
		}
	if (word != words.end())
		return fmt::format("'{}' is not expected here", *word);
	Words missing;
	for (const Option &option : options)
		if (option.required && !args.has(option.key()))
			missing.push_back(option.positional() ? option.longName : option.longName + " " + option.value);
	if (missing.empty())
		return {};
	const std::string verbs =
		command.verbs.empty() ? "" : fmt::format(", or one of {},", fmt::join(namesOf(command.verbs), ", "));
	return fmt::format("{}{} {} missing", fmt::join(missing, " and "), verbs, missing.size() > 1 ? "are" : "is");
}

CommandLine parseCommand(const Command &command, const Words &words)
{
	Reader reader(optionsOf(command));
	std::string trouble = reader.read(words);
	if (reader.asksForHelp())
		return answer(helpOf(command));
	Words rest = reader.rest();
	const auto mark = std::ranges::find(rest, "--");
	if (const auto unknown = std::find_if(rest.begin(), mark, looksLikeOption); unknown != mark)
		return usage(&command, unknownOption(&command, *unknown));
	if (mark != rest.end())
		rest.erase(mark);
	CommandLine line{.command = &command, .args = {}, .text = {}, .exitCode = 0, .notices = {}};
	if (trouble.empty())
		trouble = assignValues(command, reader, rest, line);
	if (!trouble.empty())
		return usage(&command, trouble);
	return line;
}

} // namespace

CommandLine parseCommandLine(const std::vector<std::string> &line)
{
	Words words = withEmptyValues(line);
	const Command *command = nullptr;
	for (const std::vector<Command> *names = &commands(); !names->empty(); names = &command->verbs) {
		const Front front = frontOf(words);
		const bool named = front.words < words.size() && front.trouble.empty();
		if (front.version && !command)
			return answer(fmt::format("nvmeofctl {}\n", nvmeof::libraryVersion()));
		if (front.help && !named)
			return answer(command ? helpOf(*command) : helpOfAll());
		if (!front.trouble.empty())
			return usage(command, front.trouble);
		if (!named && command && (command->run || !command->instead.empty()))
			break; // a command that runs without a verb as well
		if (!named)
			return noName(command, words);
		const std::string &word = words[front.words];
		const Command *next = findCommand(*names, word);
		if (!next)
			return unknownName(command, word);
		words.erase(words.begin() + static_cast<std::ptrdiff_t>(front.words));
		command = next;
	}
	CommandLine parsed = parseCommand(currentOf(*command), words);
	if (!command->instead.empty())
		parsed.notices.push_back(
			fmt::format("'{}' is an old spelling of '{}'", command->path, command->instead));
	return parsed;
}

nvmeof::Error usageError(std::string message)
{
	nvmeof::Error error;
	error.code = nvmeof::ErrorCode::invalid;
	error.message = std::move(message);
	return error;
}

std::optional<std::string> Args::text(const std::string &option) const
{
	auto found = values_.find(option);
	if (found == values_.end() || found->second.empty())
		return std::nullopt;
	return found->second.back();
}

std::string Args::textOr(const std::string &option, const std::string &fallback) const
{
	return text(option).value_or(fallback);
}

const std::vector<std::string> &Args::all(const std::string &option) const
{
	static const std::vector<std::string> none;
	auto found = values_.find(option);
	return found == values_.end() ? none : found->second;
}

std::optional<std::uint32_t> Args::number(const std::string &option) const
{
	std::optional<std::string> given = text(option);
	std::uint32_t value = 0;
	if (!given || std::from_chars(given->data(), given->data() + given->size(), value).ec != std::errc())
		return std::nullopt;
	return value;
}

std::optional<std::chrono::milliseconds> Args::seconds(const std::string &option) const
{
	std::optional<std::string> given = text(option);
	if (!given)
		return std::nullopt;
	nvmeof::Result<std::chrono::milliseconds> time = parseSeconds(*given, Never::allowed);
	return time ? std::optional(*time) : std::nullopt;
}

// ---- options and commands that nvme-cli has and nvmeofctl lacks

namespace {

struct UnsupportedName {
	std::string_view shortName, name;
	const char *instead;
};

constexpr const char *keyFile = "write the secret into a file with mode 0600, and use --dhchap-key FILE";
constexpr const char *ctrlKeyFile = "write the secret into a file with mode 0600, and use --dhchap-ctrl-key FILE";
constexpr const char *noKeyring = "TLS keys are in the keyring .nvme: omit it";
constexpr const char *noFile = "the configuration is in /etc/nvmeof/nvmeof.toml: 'nvmeofctl import' converts such a "
			       "file, 'nvmeofctl connect-all' connects its targets";
constexpr const char *byIoctl = "use nvme-cli for it: its commands work on /dev/nvmeof0c1 and /dev/nvmeof0n1";

constexpr UnsupportedName options[] = {
	{"-S", "--dhchap-secret", keyFile},
	{"-C", "--dhchap-ctrl-secret", ctrlKeyFile},
	{"", "--tls-key-identity", "use --tls-key keyring:IDENTITY"},
	{"", "--keyring", noKeyring},
	{"-W", "--nr-write-queues",
	 "omit it: separate write queues are not supported, reads and writes share the queues"},
	{"", "--disable-sqflow", "omit it: SQ flow control is off unless --sq-flow is given"},
	{"-J", "--config", noFile},
	{"-O", "--dump-config", "'nvmeofctl list-subsys --json' shows what is connected"},
	{"", "--context", "omit it: connections have no context"},
	{"", "--application", "omit it: connections have no application name"},
	{"-m", "--matching", "omit it: another path joins its subsystem automatically"},
	{"-p", "--persistent", "use it with 'nvmeofctl connect-all', or connect to the discovery service"},
	{"-r", "--raw", "use --json"},
	{"-v", "--verbose", "omit it: 'nvmeofctl show NAME' and --json show all details"},
};

constexpr UnsupportedName verbs[] = {
	{"", "ns-rescan", "use 'nvmeofctl rescan'"},
	{"", "show-topology", "use 'nvmeofctl list-subsys' or 'nvmeofctl show NAME'"},
	{"", "id-ctrl", byIoctl},
	{"", "id-ns", byIoctl},
	{"", "list-ns", byIoctl},
	{"", "smart-log", byIoctl},
	{"", "error-log", byIoctl},
	{"", "get-log", byIoctl},
	{"", "get-feature", byIoctl},
	{"", "set-feature", byIoctl},
	{"", "format", byIoctl},
	{"", "flush", byIoctl},
	{"", "read", byIoctl},
	{"", "write", byIoctl},
};

std::optional<std::string> unsupportedText(const auto &habits, std::string name)
{
	std::ranges::replace(name, '_', '-'); // nvme-cli accepts both
	for (const UnsupportedName &habit : habits)
		if (name == habit.name || (name == habit.shortName && !name.empty()))
			return fmt::format("{} is not supported here; {}", habit.name, habit.instead);
	return std::nullopt;
}

} // namespace

std::optional<std::string> unsupportedOption(std::string_view name)
{
	return unsupportedText(options, std::string(name));
}

std::optional<std::string> unsupportedCommand(std::string_view name)
{
	return unsupportedText(verbs, std::string(name));
}

// ---- help

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
	if (!command.exitStatus.empty())
		text += "\n" + wrapped("Exit status: " + command.exitStatus, 0);
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
	std::string text = "Usage: nvmeofctl COMMAND [VERB] [OPTION]..., or nvmeofctl --version\n\n", title;
	for (const Command &command : commands()) {
		if (command.hidden)
			continue;
		text += fmt::format("{:<{}}  {:<{}}  {}\n", command.group == title ? "" : command.group, titleWidth,
				    command.name, nameWidth, command.summary);
		title = command.group;
	}
	return text + "\n'nvmeofctl COMMAND --help' describes a command, 'man nvmeofctl' the exit codes.\n";
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
