// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: answers of an untrusted etcd, one a line, parsed as part of a stream and as a whole.
#include "input.h"

#include "etcd_client.h"
#include "etcd_store.h"

using namespace cdc::etcd;

namespace {

void readAs(View &view, const Answer &answer)
{
	std::uint64_t before = view.revision();
	if (const auto range = rangeOf(answer.json))
		view.apply(range->records);
	if (const auto notice = noticeOf(answer.json))
		view.apply(notice->events);
	expect(view.revision() >= before, "the revision does not fall");
	(void)transactionOf(answer.json);
	(void)leaseOf(answer.json);
}

} // namespace

void fuzz(Input in)
{
	const long status = in.take<std::uint8_t>() & 1 ? 200 : 400;
	const std::string bytes(in.text());
	if (const auto decoded = ofBase64(bytes))
		expect(ofBase64(toBase64(*decoded)) == *decoded, "base64 there and back");
	expect(ofBase64(toBase64(bytes)) == bytes, "base64 back and there");

	View view("/p/");
	for (const std::string &line : lines(bytes)) {
		const Answer answer = answerOf(line),
			     whole = answerOf(cdc::HttpAnswer{CURLE_OK, true, status, line, ""});
		expect(answer ? answer.json.is_object() : !answer.trouble.empty(),
		       "input that is not understood is reported");
		expect(!whole || status == 200, "an error is none that is well");
		if (answer)
			readAs(view, answer);
	}
	std::size_t records = 0;
	for (const cdc::Change &change : view.whole().changes) {
		expect(change.value && *view.valueOf(change.key) == *change.value, "a record is what it is");
		records += cdc::kindOf(change.key).has_value();
	}
	expect(records == view.whole().changes.size(), "others' keys are no records");
	expect(view.dead().size() <= records, "each dead instance has a record");
}
