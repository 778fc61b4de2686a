// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process.h"

#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace runtime {

void protectMemory()
{
	if (const char *dumps = std::getenv("NVMEOF_CORE_DUMPS"); dumps && std::strcmp(dumps, "1") == 0)
		return;
	const rlimit none{};
	::setrlimit(RLIMIT_CORE, &none);
	// where core_pattern is a pipe, the limit does not count
	::prctl(PR_SET_DUMPABLE, 0);
}

void raiseFileLimit()
{
	rlimit files{};
	if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		::setrlimit(RLIMIT_NOFILE, &files);
	}
}

} // namespace runtime
