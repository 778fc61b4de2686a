// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: status and result of a Cross-Controller Reset command, then the Cross-Controller Reset log page.
#include "input.h"

extern "C" {
#include "wire/ccr_log.h"
}

namespace {

struct Over {
	u16 cntlid;
	u8 ciu;
	bool done;

	bool operator==(const Over &) const = default;
};

constexpr std::size_t header = 8, entry = 8;

const char *parse(Bytes log, std::vector<Over> &seen)
{
	auto note = [](void *arg, u16 cntlid, u8 ciu, bool done) {
		static_cast<std::vector<Over> *>(arg)->push_back({cntlid, ciu, done});
	};
	return nof_ccr_parse(exact(log).get(), log.size(), note, &seen);
}

std::size_t entriesOf(Bytes log)
{
	return log[0] | std::size_t{log[1]} << 8;
}

std::vector<Over> expected(Bytes log)
{
	std::vector<Over> all;
	for (std::size_t i = 0; i < entriesOf(log); i++) {
		Bytes one = log.subspan(header + i * entry, entry);
		if (one[6] == 1 || one[6] == 2)
			all.push_back({static_cast<u16>(one[0] | one[1] << 8), one[2], one[6] == 1});
	}
	return all;
}

void checkAnswer(u16 status, u32 result)
{
	const auto answer = nof_ccr_result(status, result);
	expect(answer >= NOF_CCR_DONE && answer <= NOF_CCR_REFUSED, "the answer is one that there is");
	expect((answer == NOF_CCR_DONE) == (!(status & 0x7ff) && (result & 1)),
	       "a controller counts as gone only when the target says so in a good completion");
}

} // namespace

void fuzz(Input in)
{
	const u16 status = in.take<u16>();
	checkAnswer(status, in.take<u32>());
	const Bytes log = in.rest();
	std::vector<Over> seen, again;
	if (const char *why = parse(log, seen)) {
		expect(*why && seen.empty(), "of a log that is refused with a reason nothing is taken over");
		expect(log.size() < header || header + entriesOf(log) * entry > log.size(), "a whole log is accepted");
		return;
	}
	const std::size_t end = header + entriesOf(log) * entry;
	expect(end <= log.size(), "accepted data lies within the page");
	expect(seen == expected(log), "those resets that are over, and no others");
	expect(parse(log.first(end - 1), again) != nullptr, "a log cut short is refused");
}
