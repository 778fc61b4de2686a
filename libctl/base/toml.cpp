// SPDX-License-Identifier: LGPL-2.1-or-later
#include "toml.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nvmeof/address.h>
#include <nvmeof/suggest.h>

#include "make_error.h"
#include "text.h"

namespace nofctl {

using namespace nvmeof;

namespace {

Error wrongType(const toml::node &node, const char *wanted)
{
	auto name = [&]() -> std::string {
		if (node.is_string())
			return "a string";
		if (node.is_integer() || node.is_floating_point())
			return "a number";
		if (node.is_boolean())
			return "true or false";
		return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date or time";
	};
	return invalidError(std::string("expected ") + wanted + ", not " + name());
}

bool isSecret(std::string_view name)
{
	return name.find("secret") != name.npos || name.find("psk") != name.npos || name.starts_with("dhchap");
}

constexpr std::size_t maxProblems = 100; // limit for reports

// Line of the first non-ASCII character outside strings and comments; 0: none. TOML does not allow such characters
// there, and the parser of toml++ 3.3 misbehaves on some.
unsigned strayLine(std::string_view text)
{
	unsigned line = 1;
	std::string end; // terminator of the current string or comment; empty: outside
	for (std::size_t i = 0; i < text.size(); i++) {
		const char c = text[i];
		line += c == '\n';
		if (!end.empty()) {
			if (c == '\\' && end.front() == '"' && i + 1 < text.size())
				line += text[++i] == '\n';
			else if (text.substr(i).starts_with(end))
				i += std::exchange(end, "").size() - 1;
			else if (c == '\n' && end.size() == 1)
				end.clear();
			continue;
		}
		if (c == '#')
			end = "\n";
		else if (c == '"' || c == '\'')
			end = text.substr(i).starts_with(std::string(3, c)) ? std::string(3, c) : std::string(1, c);
		else if (static_cast<unsigned char>(c) > 0x7f)
			return line;
		if (end.size() == 3)
			i += 2;
	}
	return 0;
}

} // namespace

Result<std::string> textOf(const toml::node &node)
{
	const auto *text = node.as_string();
	if (!text)
		return wrongType(node, "a string");
	if (text->get().empty())
		return invalidError("the string is empty");
	if (!isPlain(text->get()))
		return invalidError("blanks or control characters in '" + shown(text->get()) + "'");
	return text->get();
}

Result<std::vector<std::string>> textsOf(const toml::node &node)
{
	const toml::array *list = node.as_array();
	std::vector<std::string> texts;
	if (!list) {
		Result<std::string> one = textOf(node);
		if (!one)
			return one.error();
		return std::vector{*std::move(one)};
	}
	for (const toml::node &element : *list) {
		Result<std::string> one = textOf(element);
		if (!one)
			return one.error();
		texts.push_back(*std::move(one));
	}
	if (texts.empty())
		return invalidError("the list is empty");
	return texts;
}

Result<std::string> nqnOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	if (!text)
		return text;
	Result<void> good = checkNqn(*text);
	return good ? text : Result<std::string>(good.error());
}

Result<bool> flagOf(const toml::node &node)
{
	const auto *flag = node.as_boolean();
	return flag ? Result<bool>(flag->get()) : Result<bool>(wrongType(node, "true or false"));
}

Result<std::int64_t> numberOf(const toml::node &node, std::int64_t min, std::int64_t max)
{
	const auto *number = node.as_integer();
	if (!number)
		return wrongType(node, "an integer");
	if (number->get() < min || number->get() > max)
		return invalidError(std::to_string(number->get()) + " is out of range: " + std::to_string(min) +
				    " to " + std::to_string(max));
	return number->get();
}

Result<std::chrono::milliseconds> timeOf(const toml::node &node, Never never)
{
	if (const auto *text = node.as_string())
		return parseSeconds(shown(text->get()), never);
	if (!node.is_number())
		return wrongType(node, "a number of seconds");
	if (const auto *whole = node.as_integer())
		return parseSeconds(std::to_string(whole->get()), never);
	const double seconds = node.as_floating_point()->get();
	if (seconds == -1 && never == Never::allowed)
		return std::chrono::milliseconds(-1);
	if (!std::isfinite(seconds) || seconds < 0 || seconds * 1000 > INT32_MAX)
		return invalidError("not a valid number of seconds");
	if (seconds > 0 && seconds < 0.0005)
		return invalidError("less than a millisecond");
	return std::chrono::milliseconds(std::llround(seconds * 1000));
}

Result<std::string> wordOf(const toml::node &node, const std::vector<std::string> &words)
{
	Result<std::string> text = textOf(node);
	if (!text || std::ranges::find(words, *text) != words.end())
		return text;
	std::string message = "'" + *text + "' is not one of ";
	for (const std::string &word : words)
		message += (&word == &words.front() ? "" : ", ") + word;
	if (std::optional<std::string> meant = closest(*text, words))
		message += "; did you mean '" + *meant + "'?";
	return invalidError(message);
}

std::string Keys::unknown(std::string_view name) const
{
	if (isSecret(name))
		return "there is no key '" + shown(std::string(name)) +
		       "': secrets are not supported in this file: dhchap-key, dhchap-ctrl-key and tls-key name files "
		       "that contain them";
	std::vector<std::string> names;
	for (const auto &[key, put] : puts_)
		names.push_back(key);
	std::string message = "there is no key '" + shown(std::string(name)) + "' here";
	if (std::optional<std::string> meant = closest(name, names))
		message += "; did you mean '" + *meant + "'?";
	return message;
}

void Keys::read(const toml::table &table, const std::string &file, std::vector<ConfigProblem> &problems) const
{
	for (const auto &[key, node] : table) {
		const ConfigPlace place{file, static_cast<unsigned>(key.source().begin.line)};
		auto known = puts_.find(key.str());
		if (known == puts_.end()) {
			problems.push_back({place, unknown(key.str())});
			continue;
		}
		if (Result<void> done = known->second(node); !done)
			problems.push_back({place, std::string(key.str()) + ": " + done.error().message});
	}
}

ConfigPlace placeOf(const toml::node &node, const std::string &file)
{
	return {file, static_cast<unsigned>(node.source().begin.line)};
}

std::optional<toml::table> parseToml(std::string_view text, const std::string &file,
				     std::vector<ConfigProblem> &problems)
{
	if (unsigned line = strayLine(text)) {
		problems.push_back({{file, line}, "a non-ASCII character outside of strings and comments"});
		return {};
	}
	toml::parse_result parsed = toml::parse(text);
	if (parsed)
		return std::move(parsed).table();
	const toml::parse_error &error = parsed.error();
	const auto line = static_cast<unsigned>(error.source().begin.line);
	std::string words(error.description()); // may contain the offending line end
	std::ranges::replace_if(
		words, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
	problems.push_back({{file, line}, std::move(words)});
	return {};
}

// toml++ sorts keys by name; reports are sorted by line.
void tidyProblems(std::vector<ConfigProblem> &problems)
{
	std::ranges::stable_sort(problems, [&](const ConfigProblem &a, const ConfigProblem &b) {
		return a.place.file == b.place.file && a.place.line < b.place.line;
	});
	if (problems.size() > maxProblems)
		problems.resize(maxProblems);
}

Error errorOf(const std::vector<ConfigProblem> &problems)
{
	const ConfigProblem &first = problems.front();
	Error error;
	error.code = first.code;
	error.message = first.place.toString() + ": " + first.message;
	if (problems.size() > 1)
		error.message += "; and " + std::to_string(problems.size() - 1) + " more";
	error.object = {ErrorObject::Kind::file, first.place.file};
	return error;
}

} // namespace nofctl

namespace nvmeof {

std::string ConfigPlace::toString() const
{
	return line ? file + ":" + std::to_string(line) : file;
}

} // namespace nvmeof
