// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backup.h"

#include "libctl/base/file.h"
#include "libctl/base/make_error.h"

namespace cdc {

using nvmeof::Result;

namespace {

constexpr int backupVersion = 1;
constexpr std::size_t maxBackupSize = 256u << 20; // bytes

template <typename T> void addRecord(Json &records, const T &record)
{
	records.push_back({{"key", record.key()}, {"value", record.json()}});
}

class BackupStore final : public Store {
public:
	BackupStore(std::string place, StoreUpdate news) : place_(std::move(place)), update_(std::move(news)) {}

	Result<void> start(OnUpdate onUpdate) override
	{
		onUpdate(update_);
		return {};
	}
	void write(std::vector<Change>, Done done) override { done(readOnly()); }
	void raise(std::uint64_t, Done done) override { done(readOnly()); }
	void join(const Instance &) override {}
	void leave(Done done) override { done({}); }
	StoreState state() const override { return {.engine = "backup", .place = place_, .writable = false}; }

private:
	nvmeof::Error readOnly() const { return nofctl::makeError(place_ + ": backups are read-only"); }

	std::string place_;
	StoreUpdate update_;
};

} // namespace

Json backupJson(const Model &model, double time)
{
	Json records = Json::array();
	for (const auto &[key, port] : model.targets())
		addRecord(records, port.target);
	for (const auto &[key, zone] : model.zones())
		addRecord(records, zone);
	for (const auto &[key, host] : model.hosts())
		addRecord(records, host);
	return {{"backup", backupVersion},
		{"generation", model.generation()},
		{"time", time},
		{"records", std::move(records)}};
}

Result<std::unique_ptr<Store>> openBackup(const std::filesystem::path &file)
{
	const Result<std::string> text = nofctl::readSmallFile(file, maxBackupSize);
	if (!text)
		return text.error();
	const Json json = Json::parse(*text, nullptr, false);
	const auto no = [&](const char *why) { return nofctl::makeError(file.string() + ": " + why); };
	if (!json.is_object() || !json.contains("backup") || !json.contains("records") || !json["records"].is_array())
		return no("not a backup made by 'nvmeofctl cdc backup'");
	if (json["backup"] != backupVersion)
		return no("the backup was made by a newer version: update nvmeof-cdc");
	if (!json.contains("generation") || !json["generation"].is_number_unsigned())
		return no("the generation is missing");
	StoreUpdate news{.whole = true, .changes = {}, .generation = json["generation"].get<std::uint64_t>()};
	for (const Json &record : json["records"]) {
		if (!record.is_object() || !record.contains("key") || !record["key"].is_string() ||
		    !record.contains("value"))
			return no("it contains an invalid record");
		news.changes.push_back({record["key"].get<std::string>(), storedText(record["value"])});
	}
	Model model; // validates the records, so that a record that the service rejects is not restored either
	const std::vector<std::string> problems = model.apply(news);
	if (!problems.empty())
		return no(problems[0].c_str());
	return std::unique_ptr<Store>(std::make_unique<BackupStore>(file.string(), std::move(news)));
}

} // namespace cdc
