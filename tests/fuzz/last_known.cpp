// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the file that the daemon keeps over a reboot, either the JSON behind a valid first line, or the whole file.
#include "input.h"

#include "last_known.h"

using namespace nvmeofd;

void fuzz(Input in)
{
	const bool sealed = in.take<std::uint8_t>() & 1;
	const std::string text(in.text());
	const nvmeof::Result<LastKnown> known = parseLastKnown(sealed ? sealLastKnown(text) : text);
	if (!known) {
		expect(known.error().code == nvmeof::ErrorCode::invalid, "input that is not understood is reported");
		return;
	}
	const std::string written = formatLastKnown(*known);
	const nvmeof::Result<LastKnown> again = parseLastKnown(written);
	expect(again.ok() && formatLastKnown(*again) == written, "a written value can be read");
}
