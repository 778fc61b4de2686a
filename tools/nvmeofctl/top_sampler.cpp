// SPDX-License-Identifier: LGPL-2.1-or-later
#include "top_sampler.h"

#include <cerrno>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "context.h"
#include "exit_code.h"

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

TopSampler::TopSampler(std::string object, Source source)
	: object_(std::move(object)), host_(hostName()), source_(source)
{
}

bool TopSampler::read(bool tick)
{
	Result<Snapshot> snapshot = source_();
	if (!snapshot) {
		fail(snapshot.error());
		return false;
	}
	failed_.reset();
	if (tick)
		rates_.update(snapshot->time, snapshot->paths);
	if (narrow(*snapshot, object_)) {
		found_ = true;
		model_ = topModel(*snapshot, rates_);
	} else {
		// It may come yet.
		model_ = TopModel();
		model_.error = withNextStep(errorFromErrno(ENODEV, fmt::format("no '{}' (yet)", object_)), ": ", "");
	}
	stamp();
	return true;
}

int TopSampler::exitCode() const
{
	if (failed_)
		return static_cast<int>(exitCodeOf(*failed_));
	return static_cast<int>(found_ ? ExitCode::done : ExitCode::noSuchObject);
}

void TopSampler::fail(const Error &error)
{
	rates_.reset();
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
