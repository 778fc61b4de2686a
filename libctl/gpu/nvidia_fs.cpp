// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nvidia_fs.h"

#include <charconv>

#include <fmt/format.h>

namespace nofctl::gpu {

namespace {

constexpr const char *guide = "NVIDIA GPUDirect Storage Troubleshooting Guide, nvidia-fs statistics";

// Value of a word such as "n=12" or "err=0"; 0 if there is none
std::uint64_t valueOf(const std::vector<std::string> &words, std::string_view name)
{
	for (const std::string &word : words)
		if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
			std::uint64_t value = 0;
			std::from_chars(word.data() + name.size() + 1, word.data() + word.size(), value);
			return value;
		}
	return 0;
}

} // namespace

NvidiaFs parseNvidiaFs(std::string_view stats)
{
	NvidiaFs found;
	for (const std::string &line : linesOf(stats)) {
		const std::vector<std::string> words = wordsOf(line);
		const std::string first = words.empty() ? "" : words[0];
		if (first == "Reads") {
			found.reads = valueOf(words, "n");
			found.readErrors = valueOf(words, "err");
		} else if (first == "Writes") {
			found.writes = valueOf(words, "n");
			found.writeErrors = valueOf(words, "err");
		} else if (first == "Mmap" || first == "Bar1-map" || first == "Error") {
			found.mapErrors += valueOf(words, "err") + valueOf(words, "pg_cache_fail") +
					   valueOf(words, "cpu-gpu-pages");
		}
	}
	return found;
}

void checkNvidiaFs(Findings &findings, std::string_view stats)
{
	const NvidiaFs found = parseNvidiaFs(stats);
	const std::uint64_t errors = found.readErrors + found.writeErrors + found.mapErrors;
	Finding finding{Level::pass,  "nvidia-fs",
			"statistics", fmt::format("{} reads, {} writes, {} errors", found.reads, found.writes, errors),
			"",           "nvidia-fs-errors",
			guide};
	if (errors) {
		finding.level = Level::warn;
		finding.step = "cufile.log at level TRACE shows what failed";
	} else if (!found.reads && !found.writes) {
		finding.level = Level::warn;
		finding.what = "it has transferred nothing: no request was made yet, statistics are off, or "
			       "applications run in compatibility mode";
		finding.step = "echo 1 > /sys/module/nvidia_fs/parameters/rw_stats_enabled, run an application, and "
			       "check again; cufile.log shows why it falls back";
		finding.row = "nvidia-fs-idle";
	}
	findings.push_back(finding);
}

} // namespace nofctl::gpu
