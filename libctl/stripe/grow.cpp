// SPDX-License-Identifier: LGPL-2.1-or-later
#include "grow.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "../gpu/tree.h"
#include "libctl/base/invalid_error.h"

namespace nofctl::stripe {

using namespace nvmeof;

namespace {

constexpr std::uint64_t regionSectors = 1024; // region size of the mirror: unit of copying and of write tracking

std::string device(const std::string &name)
{
	return "/dev/mapper/" + name;
}

// Gives @name the table of @from, then removes both devices below
Result<void> replaceMirrorBy(const std::string &name, const std::string &from)
{
	Result<std::optional<Mapped>> below = findMapped(from);
	if (!below)
		return below.error();
	if (!*below)
		return invalidError(from + " does not exist");
	if (Result<void> done = replaceTable(name, (*below)->table); !done)
		return done;
	for (const std::string &part : {oldName(name), newName(name)})
		if (Result<void> done = removeMapped(part); !done)
			return done;
	return {};
}

} // namespace

std::string oldName(const std::string &name)
{
	return name + "-old";
}

std::string newName(const std::string &name)
{
	return name + "-new";
}

std::optional<CopyState> parseCopy(const std::string &status)
{
	const std::vector<std::string> words = gpu::wordsOf(status);
	auto number = [](std::string_view text) -> std::optional<std::uint64_t> {
		std::uint64_t value = 0;
		auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
		return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
	};
	const std::optional<std::uint64_t> sides = words.empty() ? std::nullopt : number(words[0]);
	constexpr std::uint64_t maxSides = 8;
	if (!sides || *sides > maxSides || words.size() < *sides + 4)
		return std::nullopt;
	const std::string &ratio = words[*sides + 1], &health = words[*sides + 3];
	const std::size_t slash = ratio.find('/');
	if (slash == ratio.npos)
		return std::nullopt;
	const auto done = number(std::string_view(ratio).substr(0, slash)),
		   of = number(std::string_view(ratio).substr(slash + 1));
	if (!done || !of || *done > *of)
		return std::nullopt;
	return CopyState{*done, *of, health.find_first_not_of('A') != health.npos};
}

Result<void> beginCopy(const Mapped &stripe, const Target &to)
{
	const std::string &name = stripe.name;
	if (to.length < stripe.sectors())
		return invalidError("the new stripe is smaller than the existing one");
	const std::string before = oldName(name), after = newName(name);
	if (Result<void> made = createMapped(before, uuidStart + before, stripe.table); !made)
		return made;
	if (Result<void> made = createMapped(after, uuidStart + after, {to}); !made) {
		static_cast<void>(removeMapped(before));
		return made;
	}
	const Target mirror{
		0, stripe.sectors(), "mirror",
		fmt::format("core 1 {} 2 {} 0 {} 0 1 handle_errors", regionSectors, device(before), device(after))};
	Result<void> done = replaceTable(name, {mirror});
	if (!done)
		for (const std::string &part : {before, after})
			static_cast<void>(removeMapped(part));
	return done;
}

bool isCopying(const Mapped &stripe)
{
	return stripe.table.size() == 1 && stripe.table[0].type == "mirror";
}

Result<CopyState> copyState(const std::string &name)
{
	Result<std::string> status = mappedStatus(name);
	if (!status)
		return status.error();
	const std::optional<CopyState> state = parseCopy(*status);
	return state ? Result<CopyState>(*state) : Result<CopyState>(invalidError(name + " is not being copied"));
}

Result<void> endCopy(const std::string &name)
{
	return replaceMirrorBy(name, newName(name));
}

Result<void> undoCopy(const std::string &name)
{
	return replaceMirrorBy(name, oldName(name));
}

} // namespace nofctl::stripe
