// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the length of the first of two lists of namespace identification descriptors, then both lists.
#include "input.h"

#include <optional>

extern "C" {
#include "wire/identify.h"
}

namespace {

std::optional<nof_ns_ids> parse(Bytes list, nof_ns_ids ids = {})
{
	if (const char *why = nof_identify_descs(exact(list).get(), list.size(), &ids)) {
		expect(*why, "a refusal has a reason");
		return std::nullopt;
	}
	return ids;
}

bool any(Bytes bytes)
{
	return std::any_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b != 0; });
}

Bytes valueOf(const nof_ns_ids &ids, u8 type)
{
	return type == 1 ? Bytes(ids.eui64) : type == 2 ? Bytes(ids.nguid) : Bytes(ids.uuid.b);
}

// Returns the types in the list. No type has two different values.
u8 kindsIn(Bytes list, const nof_ns_ids &ids)
{
	u8 have = 0;
	while (list.size() >= 4 && list[1]) {
		const u8 type = list[0], length = list[1];
		expect(std::size_t{4} + length <= list.size(), "accepted data lies within the list");
		const Bytes value = list.subspan(4, length);
		list = list.subspan(std::size_t{4} + length);
		if (type < 1 || type > 3)
			continue;
		expect(length == (type == 1 ? 8 : 16), "an identifier has its length");
		expect(!any(value) || std::ranges::equal(value, valueOf(ids, type)), "the identifier in the list");
		have |= static_cast<u8>(any(value) << (type - 1));
	}
	return have;
}

void checkOne(Bytes list, const nof_ns_ids &ids)
{
	expect(ids.have == kindsIn(list, ids), "the identifiers that are in the list, and no others");
	expect(nof_ns_ids_equal(&ids, &ids), "a namespace is itself");
	expect(nof_ns_ids_match(&ids, &ids) == bool(ids.have), "a namespace without identifiers never matches");
	const std::optional<nof_ns_ids> twice = parse(list, ids);
	expect(twice && nof_ns_ids_equal(&ids, &*twice), "the same told twice changes nothing");
}

} // namespace

void fuzz(Input in)
{
	const Bytes first = in.cut(in.take<u8>()), second = in.rest();
	const std::optional<nof_ns_ids> a = parse(first), b = parse(second);
	if (a)
		checkOne(first, *a);
	if (b)
		checkOne(second, *b);
	if (!a || !b)
		return;
	const bool match = nof_ns_ids_match(&*a, &*b), equal = nof_ns_ids_equal(&*a, &*b);
	expect(match == nof_ns_ids_match(&*b, &*a) && equal == nof_ns_ids_equal(&*b, &*a), "either way round");
	expect(!equal || match || !a->have, "equal identifiers match");
	expect(!match || parse(second, *a), "identifiers that match go together");
}
