// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: NANAGRPID and ANAGRPMAX of the controller, then an ANA log page.
#include "input.h"

#include <utility>

extern "C" {
#include <linux/nvme.h>

#include "wire/ana_log.h"
}

namespace {

struct Limits {
	u16 groups;
	u32 highest;
};

using Groups = std::vector<std::pair<u32, u8>>;

const char *parse(Bytes log, const Limits &limits, Groups &seen)
{
	auto note = [](void *arg, u32 id, u8 state) { static_cast<Groups *>(arg)->emplace_back(id, state); };
	return nof_ana_parse(exact(log).get(), log.size(), limits.groups, limits.highest, note, &seen);
}

template <typename T> T at(Bytes log, std::size_t offset)
{
	T value;
	expect(offset + sizeof(value) <= log.size(), "accepted data lies within the page");
	std::memcpy(&value, log.data() + offset, sizeof(value));
	return value;
}

void checkGroup(const Limits &limits, u32 id, u8 state)
{
	expect(id >= 1 && id <= limits.highest, "a group's identifier is in range");
	expect((state >= 1 && state <= 4) || state == 15, "a group's state is one that there is");
}

// Returns the offset at which the last group ends.
std::size_t checkAccepted(Bytes log, const Limits &limits, const Groups &seen)
{
	expect(seen.size() == at<nvme_ana_rsp_hdr>(log, 0).ngrps, "as many groups as the header says");
	expect(seen.size() <= limits.groups, "no more groups than the controller has");
	std::size_t offset = sizeof(nvme_ana_rsp_hdr);
	for (auto [id, state] : seen) {
		auto desc = at<nvme_ana_group_desc>(log, offset);
		expect(desc.grpid == id && (desc.state & 15) == state, "the group is the one that the page has there");
		checkGroup(limits, id, state);
		offset += sizeof(desc) + std::size_t{4} * desc.nnsids;
		expect(offset <= log.size(), "the namespaces of a group lie within the page");
	}
	return offset;
}

} // namespace

void fuzz(Input in)
{
	const Limits limits{in.take<u16>(), in.take<u32>()};
	const Bytes log = in.rest();
	Groups seen, again;
	const char *why = parse(log, limits, seen);
	if (why) {
		expect(*why && seen.empty(), "of a page that is refused with a reason nothing is taken over");
		return;
	}
	const std::size_t end = checkAccepted(log, limits, seen);
	expect(!parse(log.first(end), limits, again) && again == seen, "data after the last group does not matter");
	expect(parse(log.first(end - 1), limits, again) != nullptr, "a page cut short is refused");
}
