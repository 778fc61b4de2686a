// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reproduce.h"

#include "shell.h"

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <random>

namespace guest {
namespace {

std::mutex lock;
Choices now;

} // namespace

void recordChoice(const std::string &variable, const std::string &value)
{
	std::lock_guard guard(lock);
	if (value.empty())
		now.erase(variable);
	else
		now[variable] = value;
}

Choices choices()
{
	std::lock_guard guard(lock);
	return now;
}

void setCircumstances(const Choices &choices)
{
	std::lock_guard guard(lock);
	now = choices;
}

// NVMEOF_AGAIN holds the command line of qemu/run without the job.
std::string reproduceCommand(const std::string &arguments, const Choices &choices)
{
	auto text = environment("NVMEOF_AGAIN", "qemu/run");
	if (text == "none")
		return "";
	for (auto &[name, value] : choices)
		text += " --env " + quoted(name + "=" + value);
	auto job = std::string("/nvmeof/tests/") + program_invocation_short_name;
	return text + " --cmd " + quoted(arguments.empty() ? job : job + " " + arguments);
}

std::string reproduceTest(const std::string &testCase, const Choices &choices)
{
	std::string name; // comma and bracket are special in Catch2 test specs
	for (char c : testCase)
		name += (c == ',' || c == '[' || c == '\\' ? "\\" : "") + std::string(1, c);
	return reproduceCommand('"' + name + '"', choices);
}

unsigned long seedFrom(const std::string &variable)
{
	static std::map<std::string, unsigned long> seeds;
	auto [at, isNew] = seeds.try_emplace(variable, 0);
	if (isNew) {
		auto text = environment(variable.c_str(), environment("NVMEOF_SEED", ""));
		at->second = text.empty() ? std::random_device{}() : std::stoul(text);
		std::printf("seed: %s=%lu\n", variable.c_str(), at->second);
		std::fflush(stdout);
	}
	recordChoice(variable, std::to_string(at->second));
	return at->second;
}

} // namespace guest
