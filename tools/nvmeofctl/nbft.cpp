// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nbft.h"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "context.h"
#include "table.h"

using namespace nvmeof;
using nofctl::nbft::BootTable;
namespace nbft = nofctl::nbft;

NbftTables readNbft(Context &context)
{
	NbftTables found;
	std::vector<std::string> files = context.args().all("FILE");
	if (files.empty())
		files = nofctl::nbft::filesIn();
	if (files.empty()) {
		Error error;
		error.code = ErrorCode::noSuchObject;
		error.message = "the firmware provides no NVMe Boot Firmware Table";
		found.code = context.complain("", error, "firmware creates it only when it boots over NVMe/TCP");
	}
	for (const std::string &file : files) {
		Result<BootTable> table = nofctl::nbft::read(file);
		if (!table) {
			const char *step = "";
			if (table.error().code == ErrorCode::invalid)
				step = "report this to the firmware vendor";
			else if (table.error().code == ErrorCode::noSuchObject)
				step = "give a table that exists, or no FILE for those of the firmware";
			const int code = context.complain("", table.error(), step);
			found.code = found.code ? found.code : code;
			continue;
		}
		for (const std::string &problem : table->problems)
			context.note(file, problem);
		found.tables.push_back(*std::move(table));
	}
	return found;
}

int runNbft(Context &context)
{
	const NbftTables found = readNbft(context);
	if (context.json())
		context.print(nbftDocument(found.tables));
	else if (context.args().has("network"))
		context.out() << nbftNetwork(found.tables);
	else
		context.out() << formatNbft(found.tables);
	return found.code;
}

// ---- output

namespace {

std::string orDash(const std::string &text)
{
	return text.empty() ? "-" : text;
}

std::string networkOf(const nbft::Interface &one)
{
	return one.address.empty() ? "-" : fmt::format("{}/{}", one.address, one.prefix);
}

std::string nbftHost(const nbft::BootTable &table)
{
	const nbft::Host &host = table.host;
	std::vector<std::pair<std::string, std::string>> fields{
		{"table", fmt::format("{}, revision {}.{}{}{}", table.file, table.major, table.minor,
				      table.oem.empty() ? "" : ", of ", table.oem)},
		{"host NQN", host.nqn + (host.nqnConfigured ? "" : " (default of the firmware)")},
	};
	if (host.id)
		fields.emplace_back("host ID",
				    host.id->toString() + (host.idConfigured ? "" : " (default of the firmware)"));
	if (host.selected)
		fields.emplace_back("selected", "the primary table, if there are several");
	for (const std::string &problem : table.problems)
		fields.emplace_back("problem", problem);
	return renderFields(fields);
}

std::string interfaceTable(const std::vector<nbft::Interface> &all)
{
	Table table({{"INTERFACE", Align::right},
		     {"MAC"},
		     {"VLAN", Align::right},
		     {"ADDRESS"},
		     {"GATEWAY"},
		     {"DNS"},
		     {"BY"}});
	for (const nbft::Interface &one : all)
		table.add({std::to_string(one.index), orDash(one.mac), one.vlan ? std::to_string(one.vlan) : "-",
			   networkOf(one), orDash(one.gateway), orDash(fmt::format("{}", fmt::join(one.dns, " "))),
			   one.dhcp ? "DHCP" : "static"});
	return table.render();
}

std::string identifierOf(const nbft::Namespace &ns)
{
	const std::string id = ns.id.empty() ? "" : ns.idType + " " + ns.id;
	if (!ns.nsid)
		return orDash(id);
	return fmt::format("{}{}{}", ns.nsid, id.empty() ? "" : ", ", id);
}

std::string notesOn(const nbft::BootTable &table, const nbft::Namespace &ns)
{
	std::vector<std::string> notes;
	if (ns.availability == nbft::Availability::unavailable)
		notes.emplace_back("the firmware could not reach it");
	if (!ns.bootable)
		notes.emplace_back("not bootable");
	if (ns.discovered)
		notes.emplace_back("discovered");
	if (ns.dhcp)
		notes.push_back("DHCP" + (ns.dhcpRootPath.empty() ? "" : ": " + ns.dhcpRootPath));
	if (ns.security) {
		const nbft::Security *security = table.security(*ns.security);
		notes.emplace_back(security && (security->authentication || security->channel)
					   ? "requires authentication or TLS"
					   : "has a security profile");
	}
	return fmt::format("{}", fmt::join(notes, "; "));
}

std::string subsystemTable(const nbft::BootTable &of)
{
	Table table({{"SUBSYSTEM", Align::right}, {"ADDRESS"}, {"NQN"}, {"NAMESPACE"}, {"INTERFACES"}, {"NOTES"}});
	for (const nbft::Namespace &one : of.namespaces)
		table.add({std::to_string(one.index), one.address.toString(), one.subsysnqn, identifierOf(one),
			   orDash(fmt::format("{}", fmt::join(one.interfaces, " "))), notesOn(of, one)});
	return table.render();
}

std::string serviceTable(const std::vector<nbft::Discovery> &all)
{
	Table table({{"SERVICE", Align::right}, {"ADDRESS"}, {"NQN"}, {"INTERFACE", Align::right}});
	for (const nbft::Discovery &one : all)
		table.add({std::to_string(one.index), one.uri, orDash(one.nqn), std::to_string(one.interface)});
	return table.render();
}

Json hostJson(const nbft::Host &host)
{
	Json json{{"nqn", host.nqn}};
	if (host.id)
		json["id"] = host.id->toString();
	json["nqn_configured"] = host.nqnConfigured;
	json["id_configured"] = host.idConfigured;
	json["selected"] = host.selected;
	return json;
}

Json interfaceJson(const nbft::Interface &one)
{
	Json json{{"index", one.index},     {"mac", one.mac},       {"vlan", one.vlan},
		  {"address", one.address}, {"prefix", one.prefix}, {"gateway", one.gateway},
		  {"dns", one.dns},         {"dhcp", one.dhcp},     {"default_route", one.defaultRoute},
		  {"metric", one.metric}};
	if (!one.dhcpServer.empty())
		json["dhcp_server"] = one.dhcpServer;
	if (!one.hostName.empty())
		json["host_name"] = one.hostName;
	return json;
}

Json bootNamespaceJson(const nbft::Namespace &one)
{
	Json json{{"index", one.index},
		  {"transport", "tcp"},
		  {"traddr", one.address.traddr},
		  {"trsvcid", one.address.trsvcid},
		  {"nqn", one.subsysnqn},
		  {"port_id", one.portId},
		  {"nsid", one.nsid},
		  {"interfaces", one.interfaces},
		  {"bootable", one.bootable},
		  {"discovered", one.discovered},
		  {"availability", toString(one.availability)},
		  {"hdr_digest", one.hdrDigest},
		  {"data_digest", one.dataDigest},
		  {"dhcp", one.dhcp}};
	if (!one.id.empty())
		json[one.idType] = one.id;
	if (one.discovery)
		json["discovery"] = *one.discovery;
	if (one.security)
		json["security"] = *one.security;
	if (one.cntlid)
		json["cntlid"] = one.cntlid;
	if (one.adminQueueSize)
		json["admin_queue_size"] = one.adminQueueSize;
	if (!one.dhcpRootPath.empty())
		json["dhcp_root_path"] = one.dhcpRootPath;
	return json;
}

Json serviceJson(const nbft::Discovery &one)
{
	Json json{{"index", one.index}, {"interface", one.interface}, {"uri", one.uri}};
	if (!one.nqn.empty())
		json["nqn"] = one.nqn;
	if (one.security)
		json["security"] = *one.security;
	return json;
}

template <typename T> Json listOf(const std::vector<T> &all, Json (*toJson)(const T &))
{
	Json list = Json::array();
	for (const T &one : all)
		list.push_back(toJson(one));
	return list;
}

Json securityJson(const nbft::Security &one)
{
	return {{"index", one.index},
		{"authentication_required", one.authentication},
		{"secure_channel_required", one.channel}};
}

} // namespace

std::string formatNbft(std::span<const nbft::BootTable> tables)
{
	std::string text;
	for (const nbft::BootTable &table : tables) {
		text += (text.empty() ? "" : "\n") + nbftHost(table);
		if (!table.interfaces.empty())
			text += "\n" + interfaceTable(table.interfaces);
		if (!table.namespaces.empty())
			text += "\n" + subsystemTable(table);
		if (!table.discoveries.empty())
			text += "\n" + serviceTable(table.discoveries);
	}
	return text;
}

std::string nbftNetwork(std::span<const nbft::BootTable> tables)
{
	std::string text;
	for (const nbft::BootTable &table : tables)
		for (const nbft::Interface &one : table.interfaces)
			if (!one.mac.empty())
				text += fmt::format("{} {} {} {} {} {}\n", one.mac,
						    one.vlan ? std::to_string(one.vlan) : "-", networkOf(one),
						    orDash(one.gateway), one.metric ? std::to_string(one.metric) : "-",
						    one.dhcp ? "dhcp" : "static");
	return text;
}

Json nbftDocument(std::span<const nbft::BootTable> tables)
{
	Json list = Json::array();
	for (const nbft::BootTable &table : tables)
		list.push_back({{"file", table.file},
				{"oem", table.oem},
				{"revision", fmt::format("{}.{}", table.major, table.minor)},
				{"host", hostJson(table.host)},
				{"interfaces", listOf(table.interfaces, interfaceJson)},
				{"subsystems", listOf(table.namespaces, bootNamespaceJson)},
				{"discovery", listOf(table.discoveries, serviceJson)},
				{"security", listOf(table.securities, securityJson)},
				{"problems", table.problems}});
	return {{"tables", list}};
}

Json connectNbftDocument(const Json &results, std::span<const nbft::Skipped> skipped, const Json &policies)
{
	Json left = Json::array();
	for (const nbft::Skipped &one : skipped)
		left.push_back({{"file", one.table->file},
				{"index", one.index},
				{"nqn", one.subsysnqn},
				{"reason", one.reason}});
	return {{"results", results}, {"skipped", left}, {"policies", policies}};
}
