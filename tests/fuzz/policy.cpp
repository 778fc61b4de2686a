// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a line with an NQN, then a policy file.
#include "input.h"

#include <fnmatch.h>
#include <nvmeof/policy_file.h>

#include "settings_text.h"

using namespace nvmeof;

namespace {

constexpr std::size_t longest = 24; // bound of an NQN: fnmatch(3) may try every distribution of it over the asterisks

std::string written(const std::vector<PolicyRule> &rules)
{
	std::string text;
	for (const PolicyRule &rule : rules) {
		text += rule.pattern;
		for (const std::string &word : wordsOf(rule.settings))
			text += " " + word;
		text += "\n";
	}
	return text;
}

void checkRules(const std::vector<PolicyRule> &rules, std::size_t lines)
{
	unsigned last = 0;
	for (const PolicyRule &rule : rules) {
		expect(rule.line > last && rule.line <= lines, "rules are in the order of their lines");
		expect(!rule.pattern.empty() && oneWord(rule.pattern), "a pattern is a word");
		last = rule.line;
	}
	const Result<std::vector<PolicyRule>> again = parsePolicy(written(rules), "f");
	expect(again && again->size() == rules.size(), "a written value can be read");
	for (std::size_t i = 0; i < rules.size(); i++)
		expect((*again)[i].pattern == rules[i].pattern && (*again)[i].settings == rules[i].settings,
		       "and is the same");
}

void checkMatch(const std::vector<PolicyRule> &rules, const std::string &nqn)
{
	const PolicyRule *found = matchPolicy(rules, nqn);
	for (const PolicyRule &rule : rules) {
		const bool fits = ::fnmatch(rule.pattern.c_str(), nqn.c_str(), 0) == 0;
		expect(fits == (&rule == found) || (found && &rule > found), "the first rule that fits is taken");
	}
}

void checkError(const Error &error, std::size_t lines)
{
	expect(error.code == ErrorCode::invalid && error.message.starts_with("f:"), "an error names the file");
	const unsigned long line = std::strtoul(error.message.c_str() + 2, nullptr, 10);
	expect(line >= 1 && line <= lines, "and the line");
}

} // namespace

void fuzz(Input in)
{
	const std::string nqn = in.upTo('\n').substr(0, longest), text(in.text());
	const std::size_t count = lines(text).size();
	const Result<std::vector<PolicyRule>> rules = parsePolicy(text, "f");
	if (!rules)
		return checkError(rules.error(), count);
	checkRules(*rules, count);
	checkMatch(*rules, nqn);
}
