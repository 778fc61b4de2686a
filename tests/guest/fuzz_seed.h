// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMEOF_FUZZ_SEED: which way a fuzzing program goes; at random when it is not given.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "support/shell.h"

namespace guest {

// The command that has a run again, on a kernel of this kind
inline std::string fuzzAgain(const char *program, std::uint64_t seed)
{
	auto release = readFile("/proc/sys/kernel/osrelease");
	bool debug = release.ends_with("-nvmeof-debug");
	auto kernel = debug ? "debug" : release.substr(0, release.find('.', release.find('.') + 1));
	auto text = "qemu/run --kernel " + kernel + " --timeout 5400 --cmd /nvmeof/tests/" + program +
		    " --env NVMEOF_FUZZ_SEED=" + std::to_string(seed);
	for (std::string name : {"NVMEOF_SLOW", "NVMEOF_FUZZ_SESSIONS", "NVMEOF_FUZZ_MESSAGES", "NVMEOF_FUZZ_IOCTLS"})
		if (auto value = environment(name.c_str(), ""); !value.empty())
			text += " --env " + name + "=" + value;
	return text;
}

// The same each time in one program; how the run can be had again is printed.
inline std::uint64_t fuzzSeed(const char *program)
{
	static const std::uint64_t value = [] {
		auto text = environment("NVMEOF_FUZZ_SEED", "");
		return text.empty() ? std::random_device{}() : std::stoull(text);
	}();
	std::printf("%s: again: %s\n", program, fuzzAgain(program, value).c_str());
	std::fflush(stdout);
	return value;
}

} // namespace guest
