// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of the process of a service
#include "libctl/runtime/process.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <functional>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// The answer of @work, in a process of its own
bool inChild(const std::function<bool()> &work)
{
	const pid_t child = ::fork();
	REQUIRE(child >= 0);
	if (child == 0)
		::_exit(work() ? 0 : 1);
	int status = 0;
	REQUIRE(::waitpid(child, &status, 0) == child);
	REQUIRE(WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

bool isProtected()
{
	rlimit core{};
	return ::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0 && ::prctl(PR_GET_DUMPABLE) == 0;
}

} // namespace

TEST_CASE("the memory of a service is in no core dump, unless a developer wants it", "[runtime][process]")
{
	CHECK(inChild([] {
		::unsetenv("NVMEOF_CORE_DUMPS");
		runtime::protectMemory();
		return isProtected();
	}));
	for (const char *value : {"0", "", "yes"})
		CHECK(inChild([value] {
			::setenv("NVMEOF_CORE_DUMPS", value, 1);
			runtime::protectMemory();
			return isProtected();
		}));
	CHECK(inChild([] {
		::prctl(PR_SET_DUMPABLE, 1);
		::setenv("NVMEOF_CORE_DUMPS", "1", 1);
		runtime::protectMemory();
		return ::prctl(PR_GET_DUMPABLE) == 1;
	}));
}

TEST_CASE("a service may open as many files as its service manager allows", "[runtime][process]")
{
	CHECK(inChild([] {
		rlimit files{};
		::getrlimit(RLIMIT_NOFILE, &files);
		const rlimit less{64, files.rlim_max};
		::setrlimit(RLIMIT_NOFILE, &less);
		runtime::raiseFileLimit();
		::getrlimit(RLIMIT_NOFILE, &files);
		return files.rlim_max >= 64 && files.rlim_cur == files.rlim_max;
	}));
}
