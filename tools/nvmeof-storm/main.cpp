// SPDX-License-Identifier: LGPL-2.1-or-later
#include <exception>

#include <fmt/format.h>

#include "report.h"

using namespace storm;

namespace {

ExitCode play(const Options &options)
{
	Outcome outcome = run(options);
	ExitCode code = judge(options, outcome);
	if (!options.save.empty())
		if (const std::string why = save(outcome.logs, options.save); !why.empty()) {
			fmt::print(stderr, "nvmeof-storm: {}\n", why);
			code = code == ExitCode::good ? ExitCode::local : code;
		}
	fmt::print("{}", options.json ? json(options, outcome, code) : text(options, outcome, code));
	return code;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	if (const auto status = parse(argc, argv, options))
		return *status;
	try {
		return static_cast<int>(play(options));
	} catch (const std::exception &error) {
		fmt::print(stderr, "nvmeof-storm: {}\n", error.what());
		return static_cast<int>(ExitCode::local);
	}
}
