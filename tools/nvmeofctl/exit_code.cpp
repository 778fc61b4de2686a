// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exit_code.h"

using nvmeof::ErrorCode;

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
