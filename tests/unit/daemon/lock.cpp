// SPDX-License-Identifier: LGPL-2.1-or-later
// The lock that keeps a second daemon from running
#include <catch2/catch.hpp>

#include <cerrno>

#include <unistd.h>

#include "tests/unit/scratch.h"
#include "lock.h"

using namespace nvmeofd;

TEST_CASE("a lock that is held is refused with the process that has it", "[daemon][lock]")
{
	Scratch dir;
	const std::filesystem::path file = dir.path() / "run/lock";
	REQUIRE(lockForLife(file));
	const auto second = lockForLife(file);
	REQUIRE_FALSE(second);
	CHECK(second.error().message == "nvmeofd is already running: process " + std::to_string(::getpid()));
}

TEST_CASE("a lock file that cannot be written is unlocked", "[daemon][lock]")
{
	for (int i = 0; i < 2; i++) {
		const auto failed = lockForLife("/dev/full"); // cannot be truncated
		REQUIRE_FALSE(failed);
		CHECK(failed.error().sysErrno == EINVAL);
		CHECK(failed.error().message == "cannot write /dev/full: Invalid argument");
	}
}
