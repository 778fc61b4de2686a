// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a recording of a machine, on which all checks run.
#include "input.h"

#include "libctl/gpu/finding.h"
#include "libctl/gpu/rails.h"
#include "libctl/gpu/recording.h"

using namespace nofctl::gpu;

void fuzz(Input in)
{
	const nvmeof::Result<MemoryTree> tree = parseRecording(in.text());
	if (!tree)
		return;
	const std::string text = formatRecording(*tree);
	const nvmeof::Result<MemoryTree> again = parseRecording(text);
	expect(again.ok(), "a written value can be read");
	expect(formatRecording(*again) == text, "and is the same");
	const Node node = readNode(*tree);
	const CheckReport answer = check(node, {});
	expect(answer.pairs.size() == answer.gpus.size() * answer.cards.size(),
	       "there is a pair for each GPU and card");
	for (const Finding &one : answer.findings) {
		expect(!one.check.empty() && !one.what.empty(), "a finding says what it is about");
		expect(one.level == Level::pass || !one.step.empty(), "and what to do");
	}
	for (const Pair &pair : answer.pairs) {
		expect(pair.row != nullptr, "a pair has its row");
		expect(distanceBetween(*pair.gpu, *pair.peer) == distanceBetween(*pair.peer, *pair.gpu),
		       "both are as far");
	}
	const std::vector<Rail> rails = planRails(node, answer.gpus, answer.cards);
	expect(rails.size() == (answer.cards.empty() ? 0 : answer.gpus.size()),
	       "each GPU has a card, where there is one");
	for (const Rail &rail : rails)
		expect(rail.gpu && rail.card, "that is there");
}
