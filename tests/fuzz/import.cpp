// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: one byte that selects the file name, then a configuration file of nvme-cli or nvme-stas.
#include "input.h"

#include "import.h"

using namespace nvmeof;

namespace {

constexpr const char *names[] = {"discovery.conf", "config.json", "nvme-fabrics.conf", "stafd.conf",
				 "stacd.conf",     "sys.conf",    "nvme-stas.conf",    "policy.conf"};

} // namespace

void fuzz(Input in)
{
	const std::string name = names[in.take<std::uint8_t>() % std::size(names)];
	const std::string text(in.text());
	Import into;
	const Result<void> done = importText(into, text, name);
	const std::size_t count = lines(text).size();
	for (const NotCarried &one : into.notCarried) {
		expect(one.place.file == name && one.place.line <= count,
		       "a key that is not carried over has its place");
		expect(!one.key.empty() && !one.reason.empty(), "its key, and a reason");
	}
	if (!done) {
		expect(done.error().code == ErrorCode::invalid, "an error is about the file");
		return;
	}
	const std::string written = formatConfig(into.config);
	const ConfigReading again = parseConfig(written, "f");
	expect(again.problems.empty(), "an imported configuration can be read");
	expect(formatConfig(again.config) == written, "and is the same");
}
