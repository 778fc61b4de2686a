// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host_registration.h"

#include <syslog.h>

#include <fmt/format.h>

#include "libctl/runtime/journal.h"
#include "libctl/wire/status.h"

namespace nvmeofd {

using namespace runtime;
using nvmeof::Error;
using nvmeof::Result;

namespace {

// Whether the error is temporary: the service has no resources, or its store is unreachable.
bool mayPass(const Error &error)
{
	return error.nvmeStatus == nofctl::wire::st_interrupted || error.nvmeStatus == nofctl::wire::st_internal;
}

} // namespace

HostRegistration::HostRegistration(Loop &loop, std::string service, std::function<Try()> ask)
	: HostRegistration(loop, std::move(service), std::move(ask), Limits())
{
}

HostRegistration::HostRegistration(Loop &loop, std::string service, std::function<Try()> ask, Limits limits)
	: service_(std::move(service)), ask_(std::move(ask)), limits_(limits), backoff_(limits.first, limits.max),
	  again_(loop, [this] { this->ask(); })
{
}

void HostRegistration::begin()
{
	if (!std::exchange(begun_, true))
		ask();
}

void HostRegistration::end()
{
	try_.cancel();
	again_.stop();
	backoff_.reset();
	begun_ = false;
	tries_ = 0;
	registered_.reset();
}

void HostRegistration::ask()
{
	tries_++;
	try_ = ask_();
	try_.then([this] { answered(try_.take()); });
}

void HostRegistration::answered(const Result<bool> &outcome)
{
	if (outcome && !*outcome)
		return;
	registered_ = outcome.ok();
	if (!outcome)
		return refused(outcome.error());
	say(LOG_INFO, fmt::format("discovery service {}: this host is registered", service_), {.service = service_});
}

void HostRegistration::refused(const Error &error)
{
	const bool again = mayPass(error) && tries_ < limits_.tries;
	if (again)
		again_.start(backoff_.next());
	if (again && tries_ > 1)
		return; // already logged
	const std::string next =
		again            ? "; retrying over this connection"
		: mayPass(error) ? fmt::format("; giving up after {} attempts until the next connection", tries_)
				 : "";
	say(again ? LOG_INFO : LOG_WARNING,
	    fmt::format("discovery service {}: this host is not registered: {}{}", service_, error.message, next),
	    {.service = service_});
}

} // namespace nvmeofd
