// SPDX-License-Identifier: LGPL-2.1-or-later
#include "context.h"

#include <cerrno>
#include <ostream>
#include <syslog.h>

#include <fmt/format.h>

#include "documents.h"
#include "table.h"

using nvmeof::Error;
using nvmeof::ErrorCode;

// For runs from udev, where stderr is lost. With LOG_CONS, messages go to the console if no syslog daemon runs.
static void toSystemLog(int priority, const std::string &line)
{
	::openlog("nvmeofctl", LOG_PID | LOG_CONS, LOG_DAEMON);
	::syslog(priority, "%s", line.c_str());
	::closelog();
}

Context::Context(const Command &command, Args args, std::ostream &out, std::ostream &err)
	: command_(command), args_(std::move(args)),
	  json_(args_.has("json") || args_.textOr("output-format", "normal") == "json"), out_(out), err_(err)
{
}

void Context::print(const Json &document)
{
	out_ << dump(withSchema(document), 2) << std::endl;
}

std::string usualNextStep(const Error &error)
{
	switch (error.code) {
	case ErrorCode::notPermitted:
		return "run it as root";
	case ErrorCode::noModule:
		if (error.sysErrno == EKEYREJECTED || error.sysErrno == ENOKEY)
			return "'modinfo -F signer nvmeof' shows the signing key: enroll it (that of dkms: 'mokutil "
			       "--import /var/lib/dkms/mok.pub', then reboot), or sign the modules if there is none";
		if (error.sysErrno && error.object.kind == nvmeof::ErrorObject::Kind::module)
			return fmt::format(
				"install the modules for this kernel; 'modprobe {}' as root and 'dmesg' show "
				"why it does not load",
				error.object.name);
		return error.sysErrno ? "load it with 'modprobe nvmeof_tcp' as root"
				      : "install module and tools of the same version, and reload the module";
	case ErrorCode::noSuchObject:
		return "'nvmeofctl list-subsys' lists the existing objects";
	default:
		return {};
	}
}

int Context::complain(std::string_view subject, const Error &error, std::string_view nextStep)
{
	std::string step(nextStep.empty() ? usualNextStep(error) : nextStep);
	if (step.empty() && error.code == ErrorCode::invalid)
		step = fmt::format("see 'nvmeofctl {} --help'", command_.path);
	say(subject, "", error, step);
	return static_cast<int>(exitCodeOf(error.code));
}

void Context::note(std::string_view subject, std::string_view text)
{
	err_ << fmt::format("nvmeofctl: {}{}{}: {}\n", command_.path, subject.empty() ? "" : " ",
			    nofctl::printable(subject), nofctl::printable(text));
}

void Context::warn(std::string_view subject, const Error &error, std::string_view nextStep)
{
	say(subject, "warning: ", error, nextStep);
}

void Context::say(std::string_view subject, std::string_view kind, const Error &error, std::string_view nextStep)
{
	std::string line = fmt::format("{}{}{}: {}{}{}", command_.path, subject.empty() ? "" : " ",
				       nofctl::printable(subject), kind, nofctl::printable(error.message),
				       nextStep.empty() ? "" : fmt::format(" ({})", nextStep));
	err_ << "nvmeofctl: " << line << "\n";
	if (args_.has("syslog"))
		toSystemLog(kind.empty() ? LOG_ERR : LOG_WARNING, line);
}

int Context::fail(std::string_view subject, const Error &error, std::string_view nextStep)
{
	if (json_) // on one line, because some commands print one document per line
		out_ << dump(withSchema(errorDocument(error)), -1) << std::endl;
	return complain(subject, error, nextStep);
}

// ---- exit codes

ExitCode exitCodeOf(ErrorCode code)
{
	switch (code) {
	case ErrorCode::failed:
	case ErrorCode::connectionRefused:
	case ErrorCode::unreachable:
	case ErrorCode::connectionReset:
	case ErrorCode::nameResolution:
	case ErrorCode::cancelled:
		return ExitCode::failed;
	case ErrorCode::invalid:
		return ExitCode::usage;
	case ErrorCode::noSuchObject:
		return ExitCode::noSuchObject;
	case ErrorCode::alreadyConnected:
		return ExitCode::alreadyConnected;
	case ErrorCode::refused:
	case ErrorCode::authentication:
		return ExitCode::refused;
	case ErrorCode::timedOut:
		return ExitCode::timedOut;
	case ErrorCode::notPermitted:
		return ExitCode::notPermitted;
	case ErrorCode::noModule:
		return ExitCode::noModule;
	}
	return ExitCode::failed;
}

const char *describe(ExitCode code)
{
	switch (code) {
	case ExitCode::done:
		return "done";
	case ExitCode::failed:
		return "failed";
	case ExitCode::usage:
		return "wrong usage";
	case ExitCode::noSuchObject:
		return "no such object";
	case ExitCode::alreadyConnected:
		return "already connected";
	case ExitCode::refused:
		return "refused by the target";
	case ExitCode::timedOut:
		return "timed out";
	case ExitCode::notPermitted:
		return "not permitted";
	case ExitCode::noModule:
		return "kernel module not loaded, or too old";
	case ExitCode::otherDriver:
		return "the in-tree driver is connected to the subsystem";
	case ExitCode::inUse:
		return "in use";
	}
	return "failed";
}
