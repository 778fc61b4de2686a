// SPDX-License-Identifier: LGPL-2.1-or-later
#include "volume_documents.h"

using namespace nvmeof;
using namespace nofctl::volume;

namespace {

void putVolumeText(Json &json, const char *key, const std::string &text)
{
	if (!text.empty())
		json[key] = text;
}

Json usersJson(const std::vector<User> &users)
{
	Json array = Json::array();
	for (const User &user : users)
		array.push_back({{"kind", user.kind}, {"what", user.what}});
	return array;
}

Json attachedPathJson(const AttachedPath &path)
{
	Json json{{"transport", path.transport}, {"address", path.address}};
	putVolumeText(json, "controller", path.controller);
	if (path.error)
		json["error"] = toJson(*path.error);
	return json;
}

Json entryJson(const Entry &entry)
{
	return {{"nqn", entry.nqn}, {"id", entry.id.toString()}};
}

} // namespace

Json attachedDocument(const Attached &volume)
{
	Json json = entryJson(volume.entry);
	const Json ns = toJson(volume.ns);
	json["subsystem"] = volume.subsystem.name;
	json["disk"] = "/dev/" + volume.ns.name;
	putVolumeText(json, "by_id", volume.byId);
	for (const char *key : {"uuid", "nguid", "eui64", "nsid", "size", "read_only"})
		if (ns.contains(key))
			json[key] = ns[key];
	json["already"] = volume.already;
	json["paths"] = Json::array();
	for (const AttachedPath &path : volume.paths)
		json["paths"].push_back(attachedPathJson(path));
	return json;
}

Json detachedDocument(const Entry &entry, const Detached &done)
{
	Json json = entryJson(entry);
	json["was_attached"] = done.was;
	json["disconnected"] = done.disconnected;
	json["kept_for"] = usersJson(done.keeping);
	return json;
}

Json volumesDocument(const std::vector<Listed> &volumes)
{
	Json array = Json::array();
	for (const Listed &volume : volumes) {
		Json json = entryJson(volume.entry);
		if (volume.ns) {
			json["disk"] = "/dev/" + volume.ns->name;
			putVolumeText(json, "by_id", volume.byId);
			json["users"] = usersJson(volume.users);
		}
		array.push_back(json);
	}
	return {{"volumes", array}};
}
