// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a line for the control socket of nvmeof-cdc, from any permitted client.
#include "input.h"

#include <algorithm>

#include "control.h"
#include "feeds.h"

using namespace cdc;

void fuzz(Input in)
{
	const auto request = parseControlRequest(in.text());
	if (!request)
		return;
	const bool writes = request->what == ControlRequest::What::set || request->what == ControlRequest::What::remove;
	expect(writes != (request->targets.empty() && request->zones.empty() && request->keys.empty()),
	       "records are named where they are written, and only there");
	Model model("self");
	const auto changes = controlChanges(model, *request);
	if (!writes || !changes)
		return;
	for (const Change &change : *changes) {
		expect(change.value.has_value(), "nothing is removed that is not there");
		expect(change.value->size() < maxRequestSize, "no more than was sent, with what names it");
	}
	expect(model.apply({true, *changes, 1}).empty(), "a written change can be read again");
	const auto again = controlChanges(model, *request);
	expect(again && again->empty(), "an existing record is not written again");
}
