// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: records of a store that other programs may write to, one a line: KEY JSON. The model accepts a record or
// leaves it out. Pages are made of the accepted ones.
#include "input.h"

#include "views.h"

using namespace cdc;

namespace {

template <typename T> void comesBack(const Json &json)
{
	const nvmeof::Result<T> record = T::of(json);
	if (!record)
		return expect(!record.error().message.empty(), "a refusal says why");
	const nvmeof::Result<T> again = T::of(Json::parse(record->json().dump()));
	expect(again.ok() && *again == *record, "a written value can be read");
}

// Reads all entries of a page in pieces of @step bytes.
void readPage(const Page &page, std::uint64_t step)
{
	std::uint64_t bytes = 0;
	for (std::uint64_t offset = 0; offset < page.count() * nofctl::wire::discoveryBlock; offset += step) {
		std::vector<std::span<const std::uint8_t>> pieces;
		page.slice(offset, step, pieces);
		for (auto piece : pieces)
			bytes += piece.size();
	}
	expect(bytes == page.count() * nofctl::wire::discoveryBlock, "the pieces of a page are the page");
}

} // namespace

void fuzz(Input in)
{
	const std::uint64_t step = 1 + in.take<std::uint16_t>();
	std::map<std::string, std::string> records;
	for (const std::string &line : lines(in.text())) {
		const std::string json = line.substr(std::min(line.size(), line.rfind(" {") + 1));
		const Json parsed = Json::parse(json, nullptr, false);
		comesBack<Target>(parsed);
		comesBack<Zone>(parsed);
		comesBack<Host>(parsed);
		comesBack<Instance>(parsed);
		records.insert_or_assign(line.substr(0, line.rfind(" {")), json);
	}
	StoreUpdate news;
	for (const auto &[key, json] : records)
		news.changes.push_back({key, json});
	Model model("self");
	const std::size_t wrong = model.apply(news).size();
	expect(wrong <= news.changes.size(), "each record is reported once");
	for (const auto &[key, port] : model.targets())
		expect(port.entry && key == port.target.key(), "a target has its entry");
	const Views views(model, {}, nullptr);
	readPage(*views.of("nqn.a:b"), step);
	news.whole = true;
	expect(model.apply(news).size() == wrong, "a repeated report is the same");
	const Views again(model, {}, &views);
	expect(again.of("nqn.a:b") == views.of("nqn.a:b"), "a page stays as long as it tells the same");
}
