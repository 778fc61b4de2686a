// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/suggest.h>

#include <algorithm>
#include <numeric>

namespace nvmeof {

namespace {

constexpr std::size_t longest = 64; // longer words are not compared
constexpr std::size_t minPart = 3;  // shortest prefix that counts as an abbreviation

// nvme-cli uses _ in some names.
std::string withDashes(std::string_view word)
{
	std::string text(word);
	std::ranges::replace(text, '_', '-');
	return text;
}

// Edit distance: insertions, deletions, substitutions and transpositions (optimal string alignment).
std::size_t slips(const std::string &a, const std::string &b)
{
	std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
	std::iota(last.begin(), last.end(), 0);
	for (std::size_t i = 1; i <= a.size(); i++) {
		now[0] = i;
		for (std::size_t j = 1; j <= b.size(); j++) {
			now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = std::min(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
	}
	return last[b.size()];
}

} // namespace

std::optional<std::string> closest(std::string_view typed, const std::vector<std::string> &words)
{
	if (typed.empty() || typed.size() > longest)
		return std::nullopt;
	const std::string wanted = withDashes(typed);
	std::size_t best = 2 + wanted.size() / 4; // matches must be closer than this distance
	std::optional<std::string> found;
	for (const std::string &word : words) {
		std::size_t distance = slips(wanted, word);
		if (wanted.size() >= minPart && word.starts_with(wanted))
			distance = std::min<std::size_t>(distance, 1);
		if (distance == best)
			found.reset(); // ambiguous
		if (distance >= best)
			continue;
		best = distance;
		found = word;
	}
	return found;
}

} // namespace nvmeof
