// SPDX-License-Identifier: LGPL-2.1-or-later
#include "status.h"

#include <algorithm>

#include "connections.h"
#include "libctl/discovery/service_nqn.h"

using namespace nvmeof;
using Json = nlohmann::json;

namespace nvmeofd {

namespace {

double secondsSince(std::chrono::steady_clock::time_point when)
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now() - when).count();
}

std::size_t ledTo(const Plan &plan, std::size_t service)
{
	return static_cast<std::size_t>(std::ranges::count_if(plan.connections, [&](const PlannedConnection &one) {
		return std::ranges::find(one.toldBy, service) != one.toldBy.end();
	}));
}

Json logJson(const Status &status, const std::string &key)
{
	auto known = status.known.find(key);
	if (known == status.known.end() || !known->second.log)
		return nullptr;
	return {{"generation", known->second.log->generation}, {"entries", known->second.log->entries.size()}};
}

Json serviceJson(const Status &status, std::size_t index)
{
	const PlannedService &planned = status.plan.services[index];
	Json json{{"service", planned.key},
		  {"address", planned.options.address.toString()},
		  {"transport", planned.options.transport},
		  {"nqn", nofctl::serviceNqn(planned.options.subsysnqn)},
		  {"depth", planned.depth},
		  {"log", logJson(status, planned.key)},
		  {"connections", ledTo(status.plan, index)}};
	if (planned.toldBy)
		json["referred_by"] = status.plan.services[*planned.toldBy].key;
	if (const MdnsService *heard = status.found.find(planned.key))
		json["mdns"] = {{"interface", heard->interface}, {"announced", heard->announced}};
	auto there = status.services.find(planned.key);
	if (there == status.services.end()) {
		json["state"] = toString(planned.state);
		return json;
	}
	const DiscoveryService &service = *there->second;
	json["state"] = toString(service.state());
	if (!service.controller().empty())
		json["controller"] = service.controller();
	if (service.readAt())
		json["age_s"] = secondsSince(*service.readAt());
	json["reads"] = service.reads();
	if (service.registered())
		json["registered"] = *service.registered();
	const auto &insecure = status.connections.insecure();
	if (auto why = insecure.find(service.controller()); why != insecure.end())
		json["error"] = why->second;
	else if (!service.lastError().empty())
		json["error"] = service.lastError();
	return json;
}

void putSource(Json &json, const Json &source)
{
	json["source"] = source;
	json["told_by"] = source; // the old name, for one version
}

Json connectionJson(const Status &status, const PlannedConnection &wanted)
{
	Json sources = Json::array();
	for (std::size_t service : wanted.toldBy)
		sources.push_back(status.plan.services[service].key);
	Json json{{"nqn", wanted.options.subsysnqn},
		  {"address", wanted.options.address.toString()},
		  {"transport", wanted.options.transport}};
	putSource(json, sources);
	const auto &all = status.present.controllers;
	auto there =
		std::ranges::find_if(all, [&](const Controller &one) { return isConnection(one, wanted.options); });
	json["state"] = there == all.end() ? "missing" : toString(there->state);
	if (there != all.end()) {
		json["controller"] = there->name;
		json["own"] = there->owner == owner;
		const auto &insecure = status.connections.insecure();
		if (auto why = insecure.find(there->name); why != insecure.end())
			json["error"] = why->second;
		else if (there->state != ControllerState::live && !there->lastError.empty())
			json["error"] = there->lastError;
		return json;
	}
	const Connections::Attempt *attempt = status.connections.attempt(wanted.options);
	if (!attempt || attempt->error.empty())
		return json;
	json["error"] = attempt->error;
	json["next_try_s"] = std::max(0.0, -secondsSince(attempt->notBefore));
	return json;
}

Json stripeJson(const std::string &name, const StripeStatus &stripe)
{
	Json json{{"name", name}, {"state", toString(stripe.state)}, {"missing", stripe.missing}};
	if (!stripe.error.empty())
		json["error"] = stripe.error;
	return json;
}

} // namespace

Json toJson(const Status &status)
{
	Json json{{"paused", status.paused},        {"complete", status.plan.complete}, {"config", status.config.files},
		  {"services", Json::array()},      {"connections", Json::array()},     {"refusals", Json::array()},
		  {"unresolved", status.unresolved}};
	for (std::size_t i = 0; i < status.plan.services.size(); i++)
		json["services"].push_back(serviceJson(status, i));
	for (const PlannedConnection &wanted : status.plan.connections)
		json["connections"].push_back(connectionJson(status, wanted));
	for (const Refusal &refusal : status.plan.refusals) {
		Json one{{"what", refusal.what}, {"reason", refusal.reason}};
		if (refusal.toldBy)
			putSource(one, status.plan.services[*refusal.toldBy].key);
		json["refusals"].push_back(std::move(one));
	}
	if (status.mdns.listening())
		json["mdns"] = {
			{"error", status.mdns.lastError().empty() ? Json(nullptr) : Json(status.mdns.lastError())}};
	json["kept"] = Json::array();
	for (const auto &[controller, reason] : status.connections.kept())
		json["kept"].push_back({{"controller", controller}, {"reason", reason}});
	json["stripes"] = Json::array();
	for (const auto &[name, stripe] : status.stripes.all())
		json["stripes"].push_back(stripeJson(name, stripe));
	json["more_refusals"] = status.plan.moreRefusals;
	return json;
}

} // namespace nvmeofd
