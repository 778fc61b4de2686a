// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Input: the bytes of a registration. They pass all stages: registration, JSON records, store, model, pages, printed
 * documents. Whatever the bytes are, nothing throws, and all that is stored can be read.
 */
#include "input.h"

#include "record_file.h"
#include "registrar.h"
#include "service.h"
#include "status.h"
#include "libctl/netlink/status.h"

using namespace cdc;
namespace wire = nofctl::wire;

namespace {

// One store for all inputs; each input removes its records again.
class MemoryStore {
public:
	MemoryStore() { expect(file_.open(false).ok(), "a store in memory can be opened"); }

	StoreUpdate commit(std::vector<Change> changes)
	{
		nvmeof::Result<StoreUpdate> news = file_.commit(std::move(changes));
		expect(news.ok(), "a registration can be stored");
		return *std::move(news);
	}

private:
	RecordFile file_{":memory:", RecordFile::Purpose::store};
};

RegistrationRules rulesFor(const wire::Registration &registration)
{
	RegistrationRules rules;
	rules.ddcs.push_back({registration.nqn, {*Prefix::of("0.0.0.0/0")}, true});
	return rules;
}

} // namespace

void fuzz(Input in)
{
	static MemoryStore store;
	const auto task = static_cast<wire::DimTask>(in.take<std::uint8_t>() % 3);
	const auto rest = in.rest();
	const auto registration = wire::decodeRegistration({rest.begin(), rest.end()});
	if (!registration)
		return;
	Model model("self");
	const auto changes = registrationChanges(
		model, rulesFor(*registration), task, *registration,
		{*Peer::parse("10.0.0.1"), registration->nqn, rest.size() % 2 == 0},
		[](const std::string &) { return false; }, 1000);
	if (!changes)
		return expect(changes.error().nvmeStatus && !changes.error().message.empty(), "a refusal says why");
	for (const std::string &line : auditLines(model, *changes))
		expect(!line.empty(), "a change has its words");
	StoreUpdate news = store.commit(*changes);
	std::vector<Change> back;
	for (const Change &change : news.changes)
		back.push_back({change.key, {}});
	expect(model.apply(news).empty(), "a stored value is a record");
	Snapshot snapshot;
	snapshot.model = std::make_shared<const Model>(model);
	snapshot.views = std::make_shared<const Views>(model, ViewRules(), nullptr);
	for (Json (*document)(const Snapshot &) : {hostsJson, targetsJson, stateJson})
		expect(Json::accept(lineOf(document(snapshot))), "a document is JSON");
	store.commit(std::move(back));
}
