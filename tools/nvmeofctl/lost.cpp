// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lost.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

using namespace nvmeof;

namespace {

using Labels = runtime::Exposition::Labels;

struct Sample {
	std::string_view name;
	Labels labels;
	std::uint64_t value = 0;
};

// Removes a label value and its closing quote from @line. Resolves escapes. Empty if there is no closing quote.
std::optional<std::string> takeValue(std::string_view &line)
{
	std::string value;
	for (std::size_t at = 0; at < line.size(); at++) {
		if (line[at] == '"') {
			line.remove_prefix(at + 1);
			return value;
		}
		if (line[at] == '\\' && at + 1 < line.size()) {
			at++;
			value += line[at] == 'n' ? '\n' : line[at];
		} else {
			value += line[at];
		}
	}
	return std::nullopt;
}

std::optional<Sample> parseSample(std::string_view line)
{
	const std::size_t end = line.find_first_of("{ ");
	if (line.starts_with('#') || end == line.npos)
		return std::nullopt;
	Sample sample{line.substr(0, end), {}, 0};
	const bool labels = line[end] == '{';
	line.remove_prefix(end + 1);
	while (labels && !line.starts_with('}')) {
		const std::size_t equals = line.find("=\"");
		if (equals == line.npos)
			return std::nullopt;
		std::string name(line.substr(line.starts_with(',') ? 1 : 0, equals - (line.starts_with(',') ? 1 : 0)));
		line.remove_prefix(equals + 2);
		std::optional<std::string> value = takeValue(line);
		if (!value)
			return std::nullopt;
		sample.labels.emplace_back(std::move(name), *std::move(value));
	}
	if (labels)
		line.remove_prefix(std::min<std::size_t>(2, line.size()));
	std::from_chars(line.data(), line.data() + line.size(), sample.value);
	return sample;
}

std::string labelOf(const Labels &labels, std::string_view name)
{
	auto found = std::ranges::find(labels, name, &Labels::value_type::first);
	return found == labels.end() ? "" : found->second;
}

// The values by which a namespace is recognized under another name.
std::string identity(const std::string &nqn, const std::string &nsid, const std::string &uuid)
{
	return nqn + "\n" + (uuid.empty() ? nsid : uuid);
}

std::string identity(const Labels &labels)
{
	return identity(labelOf(labels, "nqn"), labelOf(labels, "nsid"), labelOf(labels, "uuid"));
}

struct CurrentObjects {
	explicit CurrentObjects(const Snapshot &now)
	{
		for (const Namespace &n : now.namespaces) {
			const Subsystem *s = now.subsystem(n.subsystem);
			namespaces.insert(
				identity(s ? s->nqn : "", std::to_string(n.nsid), n.uuid ? n.uuid->toString() : ""));
		}
		for (const Path &p : now.paths)
			paths.insert(p.name);
		for (const Controller &c : now.controllers) {
			subsystems.insert(c.subsysnqn);
			controllers.insert(c.name);
			if (c.state == ControllerState::live)
				live.insert(c.subsysnqn);
			if (c.state == ControllerState::lost) {
				lost.insert(c.subsysnqn);
				lostControllers.insert(c.name);
			}
		}
	}

	std::set<std::string> namespaces, paths, subsystems, live, lost, controllers, lostControllers;
};

template <typename F> void eachSample(std::string_view text, F take)
{
	while (!text.empty()) {
		const std::size_t end = std::min(text.find('\n'), text.size());
		if (std::optional<Sample> sample = parseSample(text.substr(0, end)))
			take(*sample);
		text.remove_prefix(std::min(end + 1, text.size()));
	}
}

// NQNs of subsystems with a controller that was live and does not exist any more: it was disconnected.
std::set<std::string> disconnected(std::string_view before, const CurrentObjects &present)
{
	std::set<std::string> nqns;
	eachSample(before, [&](const Sample &sample) {
		if (sample.name == "nvmeof_controller_state" && sample.value == 1 &&
		    labelOf(sample.labels, "state") == "live" &&
		    !present.controllers.contains(labelOf(sample.labels, "controller")))
			nqns.insert(labelOf(sample.labels, "nqn"));
	});
	return nqns;
}

} // namespace

LostObjects findLost(std::string_view before, const Snapshot &now)
{
	const CurrentObjects present(now);
	LostObjects found;
	std::set<std::string> seen;
	auto keep = [&](Labels labels) {
		if (seen.insert(identity(labels)).second)
			found.namespaces.push_back(std::move(labels));
	};
	const std::set<std::string> byHand = disconnected(before, present);
	eachSample(before, [&](Sample &sample) {
		const std::string nqn = labelOf(sample.labels, "nqn");
		const bool gone = !present.namespaces.contains(identity(sample.labels));
		if (sample.name == "nvmeof_namespaces_lost_total") {
			found.namespacesTotal += sample.value;
		} else if (sample.name == "nvmeof_paths_lost_total") {
			found.pathsTotal += sample.value;
		} else if (sample.name == "nvmeof_namespace_lost") {
			if (gone && present.subsystems.contains(nqn))
				keep(std::move(sample.labels));
		} else if (sample.name == "nvmeof_namespace_info") {
			if (gone && present.lost.contains(nqn) && !present.live.contains(nqn) &&
			    !byHand.contains(nqn)) {
				keep(std::move(sample.labels));
				found.namespacesTotal++;
			}
		} else if (sample.name == "nvmeof_path_usable") {
			found.pathsTotal += present.lostControllers.contains(labelOf(sample.labels, "controller")) &&
					    !present.paths.contains(labelOf(sample.labels, "path"));
		}
	});
	return found;
}
