// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_documents.h"

#include <utility>

#include "libctl/gpu/tree.h"

using namespace nvmeof;
using namespace nofctl::gpu;
using namespace nofctl::sizing;

namespace {

const char *word(Level level)
{
	return level == Level::pass ? "pass" : level == Level::warn ? "warn" : "fail";
}

Json toJson(const Finding &one)
{
	Json json{{"level", word(one.level)}, {"check", one.check}, {"subject", one.subject}, {"what", one.what}};
	putText(json, "step", one.step);
	putText(json, "row", one.row);
	putText(json, "source", one.source);
	return json;
}

Json toJson(const Pair &pair)
{
	Json redirects = Json::array();
	for (const PciDevice *bridge : pair.redirects)
		redirects.push_back(bridge->address);
	return {{"gpu", pair.gpu->address},
		{"peer", pair.peer->address},
		{"distance", toString(pair.state.distance)},
		{"acs_redirects", redirects},
		{"iommu", toString(pair.state.translation)},
		{"host_bridge_known", pair.state.hostBridge},
		{"row", pair.row->id},
		{"level", word(pair.level)}};
}

Json toJson(const PciDevice &device)
{
	Json json{{"address", device.address}, {"root", device.root}, {"above", device.above}};
	if (device.numa >= 0)
		json["numa_node"] = device.numa;
	if (device.socket >= 0)
		json["socket"] = device.socket;
	putText(json, "driver", device.driver);
	json["interfaces"] = device.nets;
	json["rdma_devices"] = device.rdmas;
	return json;
}

Json addressesOf(const std::vector<const PciDevice *> &devices)
{
	Json array = Json::array();
	for (const PciDevice *one : devices)
		array.push_back(one->address);
	return array;
}

const char *word(Verdict verdict)
{
	return verdict == Verdict::enough ? "enough" : "short";
}

} // namespace

Json gdsDocument(const CheckReport &answer)
{
	Json findings = Json::array(), pairs = Json::array(), disks = Json::array();
	for (const Finding &one : answer.findings)
		findings.push_back(toJson(one));
	for (const Pair &one : answer.pairs)
		pairs.push_back(toJson(one));
	for (const Disk *disk : answer.disks)
		disks.push_back(disk->name);
	return {{"level", word(worst(answer.findings))},
		{"gpus", addressesOf(answer.gpus)},
		{"cards", addressesOf(answer.cards)},
		{"disks", disks},
		{"pairs", pairs},
		{"findings", findings}};
}

Json cufileDocument(const std::string &file, const CufilePlan &plan, const std::vector<std::string> &problems,
		    const std::string &text, bool written)
{
	Json settings = Json::array(), mounts = Json::array();
	for (const CufileSetting &one : plan.settings)
		settings.push_back({{"key", one.path.substr(1)}, {"value", one.value}, {"why", one.why}});
	for (const MountMode &one : plan.mounts)
		mounts.push_back({{"mount", one.point}, {"mode", one.mode}, {"why", one.why}});
	Json failed = Json::array();
	for (const Finding &one : plan.failed)
		failed.push_back(toJson(one));
	return {{"file", file}, {"settings", settings},   {"mounts", mounts},  {"problems", problems},
		{"text", text}, {"check_failed", failed}, {"written", written}};
}

Json mapDocument(const Node &node, const std::vector<Rail> &rails, const std::vector<const PciDevice *> &cards)
{
	Json gpus = Json::array(), all = Json::array();
	for (const Rail &rail : rails) {
		Json json{{"gpu", toJson(*rail.gpu)}, {"card", rail.card->address}};
		putText(json, "interface", rail.interface);
		json["distance"] = toString(rail.pair.state.distance);
		json["row"] = rail.pair.row->id;
		json["level"] = word(rail.pair.level);
		gpus.push_back(json);
	}
	for (const PciDevice *card : cards) {
		Json json = toJson(*card), paths = Json::array();
		for (const CardUse &use : usesOf(node, *card))
			for (const DiskPath *path : use.paths)
				paths.push_back(
					{{"disk", use.disk->name}, {"path", path->name}, {"usable", path->usable}});
		json["paths"] = paths;
		all.push_back(json);
	}
	return {{"rails", gpus}, {"cards", all}};
}

Json sizingDocument(const Sizing &sizing, const std::vector<Shortage> &shortages)
{
	Json stages = Json::array(), lines = Json::array(), compared = Json::array();
	for (const Stage &one : sizing.stages)
		stages.push_back({{"name", one.name}, {"read", one.read}, {"write", one.write}});
	for (const Line &one : sizing.lines) {
		Json json{{"group", one.group},
			  {"name", one.name},
			  {"value", one.value},
			  {"unit", one.unit},
			  {"formula", one.formula}};
		putText(json, "source", one.source);
		if (one.emulated)
			json["emulated"] = true;
		if (one.verdict != Verdict::none)
			json["verdict"] = word(one.verdict);
		lines.push_back(json);
	}
	for (const Shortage &one : shortages) {
		Json json{{"name", one.what}, {"wanted", one.wanted}, {"verdict", one.enough ? "enough" : "short"}};
		if (one.there)
			json["there"] = *one.there;
		putText(json, "step", one.step);
		compared.push_back(json);
	}
	return {{"stages", stages},
		{"narrowest", sizing.stages[sizing.narrowest].name},
		{"lines", lines},
		{"compared", compared}};
}
