// SPDX-License-Identifier: LGPL-2.1-or-later
#include "top_model.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include <nvmeof/address.h>

#include "context.h"
#include "format.h"
#include "latency.h"
#include "when.h"

using namespace nvmeof;

namespace {

Tone toneOf(ControllerState state)
{
	switch (state) {
	case ControllerState::live:
		return Tone::good;
	case ControllerState::created:
	case ControllerState::connecting:
		return Tone::warning;
	default:
		return Tone::bad;
	}
}

Tone toneOf(AnaState state)
{
	switch (state) {
	case AnaState::optimized:
		return Tone::good;
	case AnaState::nonOptimized:
	case AnaState::change:
		return Tone::warning;
	case AnaState::none:
		return Tone::normal;
	default:
		return Tone::bad;
	}
}

TopRow rowOf(const Path &path, const Snapshot &all, const Rates &rates)
{
	TopRow row;
	row.nameSpace = path.nameSpace;
	row.path = path.name;
	const Controller *controller = all.controller(path.controller);
	row.address = controller ? Address{controller->traddr, controller->trsvcid}.toString() : "-";
	row.state = conditionOf(path);
	row.stateTone = isLeftOut(path) ? Tone::warning : toneOf(path.controllerState);
	row.ana = toString(path.anaState);
	row.anaCurrent = anaIsCurrent(path);
	row.anaTone = row.anaCurrent ? toneOf(path.anaState) : Tone::dim;
	if (const Rate *rate = rates.of(path.name))
		row.rate = *rate;
	row.inflight = path.inflight;
	if (const Namespace *ns = all.nameSpace(path.nameSpace)) {
		row.waiting = ns->waiting;
		row.held = ns->held;
	}
	row.failoversFrom = path.failoversFrom;
	row.failoversTo = path.failoversTo;
	row.usable = path.usable;
	row.paths = 1;
	return row;
}

// Marks live paths that were much slower than another one of the same namespace in the same ANA state.
void markSlow(std::vector<TopRow> &paths)
{
	constexpr std::uint64_t enough = 100; // requests in the interval
	auto median = [](const TopRow &row) -> std::optional<std::chrono::nanoseconds> {
		if (row.state != toString(ControllerState::live) || !row.rate || countOf(row.rate->latency) < enough)
			return std::nullopt;
		return percentile(row.rate->latency, 0.5);
	};
	std::map<std::pair<std::string, std::string>, std::chrono::nanoseconds> fastest;
	for (const TopRow &row : paths)
		if (auto p50 = median(row)) {
			auto known = fastest.emplace(std::pair(row.nameSpace, row.ana), *p50).first;
			known->second = std::min(known->second, *p50);
		}
	for (TopRow &row : paths)
		if (auto p50 = median(row); p50 && muchSlower(*p50, fastest.at({row.nameSpace, row.ana}))) {
			row.slow = true;
			row.stateTone = Tone::warning;
		}
}

void add(TopRow &to, const TopRow &path)
{
	if (path.rate) {
		if (!to.rate)
			to.rate = Rate();
		*to.rate += *path.rate;
	}
	to.inflight += path.inflight;
	to.failoversFrom += path.failoversFrom;
	to.failoversTo += path.failoversTo;
	to.usable += path.usable;
	to.paths += path.paths;
}

TopRow rowOf(const Namespace &ns, const std::vector<TopRow> &paths, std::chrono::nanoseconds now)
{
	TopRow row;
	row.nameSpace = ns.name;
	row.size = ns.size;
	row.waiting = ns.waiting;
	row.held = ns.held;
	row.noPathSince = ns.noPathSince;
	if (ns.noPathSince)
		row.noPathFor = std::max(now - *ns.noPathSince, std::chrono::nanoseconds(0));
	for (const TopRow &path : paths)
		if (path.nameSpace == ns.name)
			add(row, path);
	bool all = row.usable == row.paths;
	row.stateTone = row.usable ? (all ? Tone::good : Tone::warning) : Tone::bad;
	return row;
}

void putRate(Json &json, const std::optional<Rate> &rate)
{
	if (!rate)
		return;
	json["iops"] = rate->ios;
	json["read_bytes_per_s"] = rate->bytesRead;
	json["written_bytes_per_s"] = rate->bytesWritten;
	json["errors_per_s"] = rate->errors;
	json["retries_per_s"] = rate->retries;
	LatencySummary latency = summaryOf(rate->latency);
	if (!latency.count)
		return;
	json["p50_ns"] = latency.p50.count();
	json["p99_ns"] = latency.p99.count();
}

Json rowJson(const TopRow &row)
{
	Json json = Json::object();
	if (!row.path.empty())
		json["name"] = row.path;
	if (!row.nameSpace.empty())
		json[row.path.empty() ? "name" : "namespace"] = row.nameSpace;
	if (!row.path.empty()) {
		json["address"] = row.address;
		json["state"] = row.state;
		if (row.slow)
			json["slow"] = true;
		json["ana_state"] = row.ana;
	}
	putRate(json, row.rate);
	json["inflight"] = row.inflight;
	if (row.path.empty()) { // a path has the values of its namespace
		json["waiting"] = row.waiting;
		json["held"] = row.held;
	}
	json["failovers_from"] = row.failoversFrom;
	json["failovers_to"] = row.failoversTo;
	if (row.path.empty()) {
		json["nr_paths"] = row.paths;
		json["nr_usable"] = row.usable;
		if (row.noPathSince)
			json["no_path_since_ns"] = row.noPathSince->count();
	}
	return json;
}

Json rowsJson(const std::vector<TopRow> &rows)
{
	Json array = Json::array();
	for (const TopRow &row : rows)
		array.push_back(rowJson(row));
	return array;
}

} // namespace

TopModel topModel(const Snapshot &snapshot, const Rates &rates)
{
	TopModel model;
	model.interval = rates.interval();
	model.subsystems = snapshot.subsystems.size();
	model.controllers = snapshot.controllers.size();
	model.live = static_cast<std::size_t>(
		std::ranges::count(snapshot.controllers, ControllerState::live, &Controller::state));
	for (const Path &path : snapshot.paths) {
		model.paths.push_back(rowOf(path, snapshot, rates));
		add(model.total, model.paths.back());
	}
	markSlow(model.paths);
	for (const Namespace &ns : snapshot.namespaces) {
		model.namespaces.push_back(rowOf(ns, model.paths, snapshot.time));
		model.total.waiting += ns.waiting;
		model.total.held += ns.held;
		model.total.size += ns.size;
	}
	return model;
}

Json toJson(const TopModel &model)
{
	if (model.error)
		return {{"error", toJson(*model.error)}};
	Json json{{"interval_ns", model.interval.count()}};
	json["totals"] = rowJson(model.total);
	json["namespaces"] = rowsJson(model.namespaces);
	json["paths"] = rowsJson(model.paths);
	return json;
}

// ---- samples

namespace {

std::string hostName()
{
	char name[256] = "";
	::gethostname(name, sizeof(name) - 1);
	return name;
}

Error withNextStep(Error error, const char *separator, const char *end)
{
	std::string step = usualNextStep(error);
	if (!step.empty())
		error.message += separator + step + end;
	return error;
}

} // namespace

TopSampler::TopSampler(std::string object) : object_(std::move(object)), host_(hostName()) {}

void TopSampler::ask(SampleFor use)
{
	if (!topology_) {
		Result<Topology> topology = Topology::open();
		if (!topology)
			return fail(topology.error());
		topology_.emplace(*std::move(topology));
	}
	// while a sample is pending, the interval lasts until it completes
	if (!pending())
		sample_ = topology_->startSample(use);
}

bool TopSampler::note(const std::vector<TopologyEvent> &events)
{
	bool noted = false;
	for (const TopologyEvent &one : events) {
		if (one.event.type == EventType::present || one.event.type == EventType::synced)
			continue;
		event_ = formatEvent(one.event, one.before);
		noted = true;
	}
	return noted;
}

bool TopSampler::dispatch()
{
	if (!topology_)
		return false;
	Result<std::vector<TopologyEvent>> events = topology_->dispatch();
	if (!events) {
		fail(events.error());
		return false;
	}
	bool noted = note(*events);
	if (sample_.ready())
		if (Result<void> sampled = sample_.take(); !sampled) {
			fail(sampled.error());
			return noted;
		}
	if (!pending() || noted)
		show();
	return noted;
}

void TopSampler::wait(std::chrono::milliseconds timeout)
{
	auto end = std::chrono::steady_clock::now() + timeout;
	while (pending()) {
		dispatch();
		auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
		if (!pending() || left.count() <= 0)
			return;
		pollfd poll{fd(), POLLIN, 0};
		::poll(&poll, 1, static_cast<int>(left.count()));
	}
}

void TopSampler::show()
{
	if (!topology_->synced() && topology_->snapshot().time.count() == 0)
		return; // nothing has been read yet
	failed_.reset();
	Snapshot snapshot = topology_->snapshot();
	if (narrow(snapshot, object_)) {
		found_ = true;
		model_ = topModel(snapshot, topology_->rates());
	} else {
		// The object may still appear.
		model_ = TopModel();
		model_.error =
			withNextStep(errorFromErrno(ENODEV, fmt::format("there is no '{}' yet", object_)), ": ", "");
	}
	stamp();
}

int TopSampler::exitCode() const
{
	if (failed_)
		return static_cast<int>(exitCodeOf(*failed_));
	return static_cast<int>(found_ ? ExitCode::done : ExitCode::noSuchObject);
}

void TopSampler::fail(const Error &error)
{
	sample_ = {};
	topology_.reset();
	model_ = TopModel();
	model_.error = withNextStep(error, " (", ")");
	failed_ = error.code;
	stamp();
}

void TopSampler::stamp()
{
	model_.host = host_;
	model_.clock = clockTime(std::chrono::system_clock::now());
	model_.event = event_;
}
