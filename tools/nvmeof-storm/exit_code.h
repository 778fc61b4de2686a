// SPDX-License-Identifier: LGPL-2.1-or-later
// How nvmeof-storm ends; part of its interface.
#pragma once

namespace storm {

enum class ExitCode {
	good = 0,   // all hosts have read their log, and all that came was in order
	failed = 1, // a host came to nothing, or has lost what it had
	usage = 2,
	local = 3, // this machine could not do it: descriptors, a file, a command
	wrong = 4, // something that came was not in order, or not what was expected
	late = 5,  // an event or a log did not come in time
};

} // namespace storm
