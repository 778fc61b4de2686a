// SPDX-License-Identifier: LGPL-2.1-or-later
#include "input.h"

#include <nvmeof/config.h>

using namespace nvmeof;

void fuzz(Input in)
{
	const std::string text(in.text());
	// Inputs with characters beyond ASCII are skipped: in some malformed texts they cause undefined behaviour in
	// toml++ 3.3 that strayLine() does not prevent.
	if (std::ranges::any_of(text, [](unsigned char c) { return c > 0x7f; }))
		return;
	const ConfigReading reading = parseConfig(text, "f");
	const std::size_t count = lines(text).size() + 1; // an unexpected end is behind the last line
	for (const ConfigProblem &one : reading.problems) {
		expect(one.place.file == "f" && one.place.line >= 1 && one.place.line <= count,
		       "a problem has its line");
		expect(!one.message.empty() && one.message.find('\n') == one.message.npos, "and a line of words");
	}
	const Result<Config> outcome = reading.outcome();
	expect(outcome.ok() == reading.problems.empty(), "a problem is an error");
	if (!outcome)
		return;
	const std::string written = formatConfig(*outcome);
	const ConfigReading again = parseConfig(written, "f");
	expect(again.problems.empty(), "a written value can be read");
	expect(formatConfig(again.config) == written, "and is the same");
	for (const ConfigTarget &one : outcome->connections) {
		expect(!one.nqn.empty() && !one.addresses.empty(), "a connection leads somewhere");
		connectionOptions(*outcome, one, {"10.0.0.1", "4420"});
	}
}
