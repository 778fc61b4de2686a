// SPDX-License-Identifier: LGPL-2.1-or-later
#include "import.h"

#include <algorithm>
#include <filesystem>

#include <nvmeof/policy_file.h>

#include "args.h"
#include "import_key.h"
#include "json.h"

using namespace nvmeof;

namespace importing {

namespace {

// Short options of nvme-cli, which discovery.conf may have.
struct Letter {
	char letter;
	const char *key;
};

constexpr Letter letters[] = {
	{'t', "transport"},
	{'a', "traddr"},
	{'s', "trsvcid"},
	{'w', "host-traddr"},
	{'f', "host-iface"},
	{'q', "hostnqn"},
	{'I', "hostid"},
	{'n', "nqn"},
	{'i', "nr-io-queues"},
	{'W', "nr-write-queues"},
	{'P', "nr-poll-queues"},
	{'Q', "queue-size"},
	{'k', "keep-alive-tmo"},
	{'c', "reconnect-delay"},
	{'l', "ctrl-loss-tmo"},
	{'F', "fast-io-fail-tmo"},
	{'T', "tos"},
	{'S', "dhchap-secret"},
	{'C', "dhchap-ctrl-secret"},
	{'D', "duplicate-connect"},
	{'g', "hdr-digest"},
	{'G', "data-digest"},
	{'p', "persistent"},
};

std::vector<std::string> wordsIn(std::string_view line)
{
	std::vector<std::string> words;
	for (std::string rest = trimmed(line); !rest.empty();) {
		const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
		words.push_back(rest.substr(0, end));
		rest = trimmed(std::string_view(rest).substr(end));
	}
	return words;
}

struct Word {
	std::string key;
	std::optional<std::string> value;
};

// "--traddr=X", "--traddr", "-aX", "-a"; empty: not an option
std::optional<Word> optionOf(const std::string &word)
{
	if (word.starts_with("--")) {
		const std::size_t equals = word.find('=');
		Word found{keyOf(std::string_view(word).substr(2, equals == word.npos ? word.npos : equals - 2)), {}};
		if (equals != word.npos)
			found.value = word.substr(equals + 1);
		return found.key.empty() ? std::nullopt : std::optional(found);
	}
	if (word.size() < 2 || word.front() != '-')
		return std::nullopt;
	Word found{std::string("-") + word[1], {}};
	for (const Letter &one : letters)
		if (one.letter == word[1])
			found.key = one.key;
	if (word.size() > 2)
		found.value = word.substr(word[2] == '=' ? 3 : 2);
	return found;
}

void readLine(Import &into, const std::vector<std::string> &words, const ConfigPlace &place)
{
	Draft draft;
	for (std::size_t i = 0; i < words.size(); i++) {
		std::optional<Word> option = optionOf(words[i]);
		if (!option) {
			into.notCarried.push_back({place, "a word", "not the value of an option"});
			continue;
		}
		if (!option->value && i + 1 < words.size() && !words[i + 1].starts_with('-'))
			option->value = words[++i];
		std::string reason;
		if (!takeKey(draft, option->key, option->value.value_or("true"), reason))
			into.notCarried.push_back({place, option->key, reason});
	}
	addService(into, draft, place);
}

void readPolicyLines(Import &into, const std::vector<PolicyRule> &rules, const std::string &file)
{
	for (const PolicyRule &rule : rules)
		into.config.defaults.push_back({rule.pattern, {}, rule.settings, {file, rule.line}, true});
}

// TOML must be UTF-8.
bool isUtf8(std::string_view text)
{
	const std::string whole(text);
	return Json::parse(dump(Json(whole), -1), nullptr, false) == Json(whole);
}

// Drops what other host software accepts and nvmeof.toml rejects: a fast-io-fail-tmo longer than ctrl-loss-tmo, and
// targets whose address is not valid.
void dropRefused(Import &into, std::vector<ConfigTarget> Config::*list)
{
	std::erase_if(into.config.*list, [&](ConfigTarget &target) {
		ConnectSettings &settings = target.settings;
		if (settings.fastIoFail && settings.ctrlLoss && settings.ctrlLoss->count() >= 0 &&
		    *settings.fastIoFail > *settings.ctrlLoss) {
			settings.fastIoFail.reset();
			into.notCarried.push_back(
				{target.place, "fast-io-fail-tmo", "ctrl-loss-tmo is shorter and ends the connection"});
		}
		Config alone;
		(alone.*list).push_back(target);
		const ConfigReading reading = parseConfig(formatConfig(alone), target.place.file);
		for (const ConfigProblem &problem : reading.problems)
			into.notCarried.push_back({target.place, "traddr", problem.message});
		return !reading.problems.empty();
	});
}

char firstOf(std::string_view text)
{
	while (!text.empty()) {
		const std::string line = trimmed(text.substr(0, text.find('\n')));
		text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
		if (!line.empty() && line.front() != '#' && line.front() != ';')
			return line.front() == '[' && line.back() == ']' && line.size() > 2 && line[1] != '{'
				       ? 'i'
				       : line.front();
	}
	return 0;
}

} // namespace

// discovery.conf: one service per line, as options of "nvme discover".
void readLines(Import &into, std::string_view text, const std::string &file)
{
	ConfigPlace place{file, 0};
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		place.line++;
		std::vector<std::string> words = wordsIn(line);
		if (!words.empty() && !words.front().starts_with('#'))
			readLine(into, words, place);
	}
}

} // namespace importing

static Result<void> importKind(Import &into, std::string_view text, const std::string &file)
{
	const std::string name = std::filesystem::path(file).filename().string();
	const char first = importing::firstOf(text);
	if (!importing::isUtf8(text))
		return usageError(file + ": not UTF-8");
	if (name == "policy.conf") {
		Result<std::vector<PolicyRule>> rules = parsePolicy(text, file);
		if (!rules)
			return rules.error();
		importing::readPolicyLines(into, *rules, file);
		return {};
	}
	if (!first)
		return {};
	if (first == 'i')
		return importing::readIni(into, text, file);
	if (first == '{' || first == '[')
		return importing::readJson(into, text, file);
	if (first != '-')
		return usageError(file + ": not a file that can be imported");
	importing::readLines(into, text, file);
	return {};
}

Result<void> importText(Import &into, std::string_view text, const std::string &file)
{
	Result<void> done = importKind(into, text, file);
	importing::dropRefused(into, &Config::services);
	importing::dropRefused(into, &Config::connections);
	for (NotCarried &one : into.notCarried)
		if (one.key.empty())
			one.key = "(no name)";
	return done;
}

std::vector<std::string> importPlaces()
{
	std::vector<std::string> places;
	std::error_code error;
	for (const char *file :
	     {"/etc/nvme/discovery.conf", "/etc/nvme/config.json", "/etc/nvme/nvme-fabrics.conf",
	      "/etc/nvme/nvme-stas.conf", "/etc/nvme/stafd.conf", "/etc/nvme/stacd.conf", "/etc/stas/sys.conf",
	      "/etc/stas/stafd.conf", "/etc/stas/stacd.conf", defaultPolicyFile}) {
		if (std::filesystem::is_regular_file(file, error))
			places.emplace_back(file);
		std::vector<std::string> parts;
		for (std::filesystem::directory_iterator at(std::string(file) + ".d", error), end; !error && at != end;
		     at.increment(error))
			if (at->path().extension() == ".conf")
				parts.push_back(at->path().string());
		std::ranges::sort(parts);
		places.insert(places.end(), parts.begin(), parts.end());
	}
	return places;
}
