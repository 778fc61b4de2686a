// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/policy_file.h>

#include <algorithm>
#include <fnmatch.h>

#include "config_parse.h"
#include "libctl/base/file.h"
#include "libctl/base/make_error.h"
#include "libctl/base/text.h"

namespace nofctl {

// Whether an NQN can match, judged by the literal prefix of the pattern; NVMe Base 2.0, 4.5.
static bool canMatch(std::string_view pattern)
{
	constexpr std::string_view prefix = "nqn.";
	std::size_t wild = std::min(pattern.find_first_of("*?[\\"), pattern.size());
	std::size_t common = std::min(wild, prefix.size());
	return pattern.substr(0, common) == prefix.substr(0, common) &&
	       (wild >= prefix.size() || wild < pattern.size());
}

// Position of the ] that closes the set opened at @open; npos: none. A leading ] is a member of the set.
static std::size_t setEnd(std::string_view pattern, std::size_t open)
{
	std::size_t at = open + 1;
	at += at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
	at += at < pattern.size() && pattern[at] == ']';
	for (; at < pattern.size() && pattern[at] != ']'; at++)
		at += pattern[at] == '\\';
	return at < pattern.size() ? at : pattern.npos;
}

bool hasOpenBracket(std::string_view pattern)
{
	for (std::size_t at = 0; at < pattern.size(); at++) {
		if (pattern[at] == '\\')
			at++;
		else if (pattern[at] == '[' && (at = setEnd(pattern, at)) == pattern.npos)
			return true;
	}
	return false;
}

nvmeof::Result<void> checkPattern(const std::string &pattern)
{
	if (!isPlain(pattern))
		return invalidError("control characters in the pattern");
	if (!canMatch(pattern))
		return invalidError("the pattern '" + pattern + "' matches no NQN: an NQN begins with 'nqn.'");
	return {};
}

} // namespace nofctl

namespace nvmeof {

namespace {

using nofctl::invalidError;

constexpr std::size_t maxPolicySize = 1 << 20;
constexpr std::string_view blanks = " \t\r\v\f";

// Splits a line into words, without the comment.
std::vector<std::string> split(std::string_view line)
{
	std::vector<std::string> words;
	for (std::size_t at = line.find_first_not_of(blanks); at != line.npos;) {
		std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
		if (line[at] == '#')
			break;
		words.emplace_back(line.substr(at, end - at));
		at = line.find_first_not_of(blanks, end);
	}
	return words;
}

Result<PolicyRule> parseRule(const std::vector<std::string> &words, unsigned line)
{
	PolicyRule rule{words.front(), {}, line};
	if (Result<void> good = nofctl::checkPattern(rule.pattern); !good)
		return good.error();
	Result<SubsystemSettings> settings = parseSubsystemSettings(std::span(words).subspan(1));
	if (!settings)
		return settings.error();
	rule.settings = *settings;
	return rule;
}

} // namespace

Result<std::vector<PolicyRule>> parsePolicy(std::string_view text, const std::string &file)
{
	std::vector<PolicyRule> rules;
	for (unsigned line = 1; !text.empty(); line++) {
		std::size_t end = std::min(text.find('\n'), text.size());
		std::vector<std::string> words = split(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
		if (words.empty())
			continue;
		Result<PolicyRule> rule = parseRule(words, line);
		if (!rule)
			return invalidError(file + ":" + std::to_string(line) + ": " + rule.error().message);
		rules.push_back(*std::move(rule));
	}
	return rules;
}

Result<std::vector<PolicyRule>> readPolicy(const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readWholeFile(file, maxPolicySize);
	if (!text)
		return text.error();
	return parsePolicy(*text, file.string());
}

const PolicyRule *matchPolicy(const std::vector<PolicyRule> &rules, const std::string &nqn)
{
	for (const PolicyRule &rule : rules)
		if (::fnmatch(rule.pattern.c_str(), nqn.c_str(), 0) == 0)
			return &rule;
	return nullptr;
}

} // namespace nvmeof
