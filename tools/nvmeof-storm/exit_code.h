// SPDX-License-Identifier: LGPL-2.1-or-later
// Exit status of nvmeof-storm; part of its interface.
#pragma once

namespace storm {

enum class ExitCode {
	good = 0,   // all hosts have read their log, without violations
	failed = 1, // a host failed or lost its connection
	usage = 2,
	local = 3, // local error: descriptors, a file, a command
	wrong = 4, // a response violates the specification or an expectation
	late = 5,  // an event or a log arrived too late
};

} // namespace storm
