// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: objects of the kernel as messages, each with its kind and length. All of them are printed in every format.
#include "shown.h"

#include <nvmeof/rates.h>

#include "tests/unit/exposition_checker.h"
#include "doctor.h"
#include "format.h"
#include "list.h"
#include "libctl/netlink/decode.h"
#include "prometheus.h"
#include "stats.h"
#include "table.h"
#include "top_model.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds now = 1000s;

template <typename T> void keep(const Result<T> &object, std::vector<T> &all)
{
	if (!object) {
		expect(object.error().message.starts_with("malformed message"), "a refusal has a reason");
		return;
	}
	expect(!object->name.empty(), "an object has a name");
	expectJson(toJson(*object));
	// Names are unique, as in the kernel.
	if (std::ranges::find(all, object->name, &T::name) == all.end())
		all.push_back(*object);
}

void checkVersion(const Result<ModuleVersion> &version)
{
	for (const std::string &name : version ? version->selectors : std::vector<std::string>())
		expect(name.find('\0') == name.npos, "a name is text");
}

void decode(std::uint8_t kind, const nofctl::Attributes &attributes, Snapshot &all)
{
	switch (kind % 5) {
	case 0:
		return keep(nofctl::decodeSubsystem(attributes), all.subsystems);
	case 1:
		return keep(nofctl::decodeController(attributes), all.controllers);
	case 2:
		return keep(nofctl::decodeNamespace(attributes), all.namespaces);
	case 3:
		return keep(nofctl::decodePath(attributes), all.paths);
	default:
		return checkVersion(nofctl::decodeVersion(attributes));
	}
}

void checkText(const Snapshot &all)
{
	for (const Subsystem &s : all.subsystems)
		expectPlain(renderFields(fieldsOf(s)));
	for (const Controller &c : all.controllers)
		expectPlain(renderFields(fieldsOf(c)));
	for (const Namespace &n : all.namespaces)
		expectPlain(renderFields(fieldsOf(n)));
	for (const Path &p : all.paths)
		expectPlain(renderFields(fieldsOf(p, now)));
	expectPlain(formatPaths(all.paths, now));
	expectPlain(formatNamespaces(all.namespaces, all.subsystems, all.paths));
	expectPlain(formatSubsystems(all.subsystems, all.controllers, all.paths));
	expectPlain(statsText(all));
	doctor::Facts facts;
	facts.snapshot = all;
	const doctor::Diagnosis diagnosis = doctor::diagnose(facts);
	expectPlain(doctor::textOf(diagnosis));
	expectJson(doctor::documentOf(diagnosis));
	expectJson(statsJson(all));
}

void checkPercentiles(const Histogram &histogram)
{
	const auto half = percentile(histogram, 0.5), max = percentile(histogram, 0.99), all = percentile(histogram, 1);
	expect(half >= 0ns && half <= max && max <= all, "percentiles rise");
	expect(all <= bucketEnd(histogramBuckets - 1), "and end with the buckets");
}

// Bounds the counters to those of a million years, so that sums of them fit into 64 bits.
void bound(Path &path)
{
	for (Histogram *histogram : {&path.readLatency, &path.writeLatency})
		for (std::uint64_t &count : *histogram)
			count &= (1ull << 56) - 1;
	for (auto [histogram, total] : {std::pair(&path.readLatency, &path.readLatencyTotal),
					std::pair(&path.writeLatency, &path.writeLatencyTotal)})
		*total = LatencyTotal(countOf(*histogram) ? total->count() & ((1ull << 56) - 1) : 0);
}

void checkMetrics(Snapshot all)
{
	for (Path &path : all.paths) {
		bound(path);
		checkPercentiles(path.readLatency);
	}
	const std::string text = prometheusText(all, {.bootOffset = 5s, .node = {}, .lost = findLost({}, all)});
	if (text.empty())
		return;
	const LostObjects lost = findLost(text, Snapshot());
	expect(lost.namespaces.empty(), "lost where nobody is connected");
	const ExpositionChecker checker(text);
	for (const std::string &problem : checker.problems())
		expect(false, problem.c_str());
}

void checkRates(const Snapshot &all)
{
	Rates rates;
	rates.update(0s, {});
	rates.update(1s, all.paths);
	expectJson(toJson(topModel(all, rates)));
}

} // namespace

void fuzz(Input in)
{
	Snapshot all;
	all.time = now;
	while (!in.empty()) {
		const auto kind = in.take<std::uint8_t>();
		const Bytes message = in.cut(in.take<std::uint16_t>());
		if (auto attributes = nofctl::Attributes::parse(std::as_bytes(message)))
			decode(kind, *attributes, all);
	}
	checkText(all);
	checkMetrics(all);
	checkRates(all);
}
