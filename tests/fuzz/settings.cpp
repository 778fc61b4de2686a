// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the NAME=VALUE words of "set", one a line.
#include "input.h"

#include <linux/nvmeof.h>

#include "settings_text.h"

using namespace nvmeof;

namespace {

void checkValues(const SubsystemSettings &s)
{
	if (s.iopolicy)
		expect(!s.iopolicy->empty() && s.iopolicy->size() <= NVMEOF_POLICY_MAX && oneWord(*s.iopolicy),
		       "a policy's name is one that there can be");
	expect(!s.spillLatency || s.spillLatency->count() <= NVMEOF_SPILL_US_MAX, "spill-us in range");
	expect(!s.spillDepth || *s.spillDepth <= NVMEOF_SPILL_DEPTH_MAX, "spill-depth in range");
	expect(!s.delayedRemoval || s.delayedRemoval->count() <= NVMEOF_DELAYED_REMOVAL_MAX, "delay in range");
}

void checkValues(const ControllerSettings &s)
{
	for (auto time : {s.reconnectDelay, s.stallTimeout})
		expect(!time || (time->count() >= 0 && time->count() <= INT32_MAX), "a time in range");
	for (auto time : {s.ctrlLoss, s.fastIoFail})
		expect(!time || (time->count() >= -1 && time->count() <= INT32_MAX), "a time in range, or never");
}

template <typename S>
void check(Result<S> (*parse)(std::span<const std::string>), const std::vector<std::string> &words)
{
	const Result<S> settings = parse(words);
	if (!settings) {
		expect(settings.error().code == ErrorCode::invalid && !settings.error().message.empty(), "a reason");
		return;
	}
	checkValues(*settings);
	const std::vector<std::string> written = wordsOf(*settings);
	expect(written.size() == words.size(), "every word counts, once");
	const Result<S> again = parse(written);
	expect(again && *again == *settings, "a value reads the same after being written");
}

} // namespace

void fuzz(Input in)
{
	const std::vector<std::string> words = lines(in.text());
	check<SubsystemSettings>(parseSubsystemSettings, words);
	check<ControllerSettings>(parseControllerSettings, words);
}
