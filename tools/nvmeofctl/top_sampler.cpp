// SPDX-License-Identifier: LGPL-2.1-or-later
#include "top_sampler.h"

#include <cerrno>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "context.h"
#include "exit_code.h"
#include "format.h"

using namespace nvmeof;

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
		model_.error = withNextStep(errorFromErrno(ENODEV, fmt::format("no '{}' (yet)", object_)), ": ", "");
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
	model_.clock = fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr)));
	model_.event = event_;
}
