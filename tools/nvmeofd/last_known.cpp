// SPDX-License-Identifier: LGPL-2.1-or-later
#include "last_known.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <nvmeof/rendezvous.h>

#include "libctl/base/file.h"

using namespace nvmeof;
using Json = nlohmann::json;

namespace nvmeofd {

namespace {

constexpr std::string_view title = "nvmeofd-last-known 1";
constexpr std::size_t maxHead = 256; // of the header line and the frame of the JSON

// Thrown and caught in this file only
struct Damaged {
	const char *what;
};

// An unsigned integer of at most @max
std::uint64_t whole(const Json &json, const char *name, std::uint64_t max)
{
	const Json &value = json.at(name);
	if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max)
		throw Damaged{name};
	return value.get<std::uint64_t>();
}

template <typename E> E enumerator(const Json &json, const char *name, E last)
{
	return static_cast<E>(whole(json, name, static_cast<std::uint32_t>(last)));
}

std::uint16_t word(const Json &json, const char *name)
{
	return static_cast<std::uint16_t>(whole(json, name, UINT16_MAX));
}

template <typename E> std::uint32_t number(E value)
{
	return static_cast<std::uint32_t>(value);
}

Json toJson(const DiscoveryEntry &e)
{
	Json json{{"kind", number(e.kind)},     {"transport", e.transport},
		  {"family", e.addressFamily},  {"traddr", e.traddr},
		  {"trsvcid", e.trsvcid},       {"nqn", e.subsysnqn},
		  {"port", e.portId},           {"cntlid", e.cntlid},
		  {"asqsz", e.adminQueueSize},  {"secure", number(e.secureChannel)},
		  {"sqflow_off", e.sqFlowOff},  {"duplicate", e.duplicate},
		  {"persistent", e.persistent}, {"defect", e.defect}};
	if (e.tcpSecurity)
		json["tcp_security"] = number(*e.tcpSecurity);
	if (e.rdma)
		json["rdma"] = {{"qptype", number(e.rdma->queuePair)},
				{"prtype", number(e.rdma->provider)},
				{"cms", number(e.rdma->connectionManagement)},
				{"pkey", e.rdma->partitionKey}};
	return json;
}

DiscoveryEntry entryFrom(const Json &json)
{
	DiscoveryEntry e;
	e.kind = enumerator(json, "kind", EntryKind::service);
	json.at("transport").get_to(e.transport);
	json.at("family").get_to(e.addressFamily);
	json.at("traddr").get_to(e.traddr);
	json.at("trsvcid").get_to(e.trsvcid);
	json.at("nqn").get_to(e.subsysnqn);
	e.portId = word(json, "port");
	e.cntlid = word(json, "cntlid");
	e.adminQueueSize = word(json, "asqsz");
	e.secureChannel = enumerator(json, "secure", SecureChannel::notRequired);
	json.at("sqflow_off").get_to(e.sqFlowOff);
	json.at("duplicate").get_to(e.duplicate);
	json.at("persistent").get_to(e.persistent);
	json.at("defect").get_to(e.defect);
	if (json.contains("tcp_security"))
		e.tcpSecurity = enumerator(json, "tcp_security", TcpSecurity::tls13);
	if (json.contains("rdma")) {
		const Json &rdma = json["rdma"];
		e.rdma = RdmaAddress{enumerator(rdma, "qptype", RdmaQueuePair::datagram),
				     enumerator(rdma, "prtype", RdmaProvider::iwarp),
				     enumerator(rdma, "cms", RdmaConnectionManagement::rdmaCm), word(rdma, "pkey")};
	}
	return e;
}

Json toJson(const DiscoveryLog &log)
{
	Json entries = Json::array();
	for (const DiscoveryEntry &entry : log.entries)
		if (entry.defect.empty())
			entries.push_back(toJson(entry));
	return {{"generation", log.generation}, {"entries", std::move(entries)}};
}

DiscoveryLog logFrom(const Json &json)
{
	DiscoveryLog log;
	log.generation = whole(json, "generation", UINT64_MAX);
	for (const Json &entry : json.at("entries"))
		log.entries.push_back(entryFrom(entry));
	return log;
}

Json toJson(const MdnsService &found)
{
	return {{"transport", found.options.transport},
		{"address", found.options.address.toString()},
		{"nqn", found.options.subsysnqn},
		{"interface", found.interface}};
}

// The file may have been modified.
Address addressFrom(const Json &json)
{
	Result<Address> address = parseAddress(json.get<std::string>());
	if (!address)
		throw Damaged{"address"};
	return *std::move(address);
}

MdnsService mdnsServiceFrom(const Json &json)
{
	MdnsService found;
	json.at("transport").get_to(found.options.transport);
	json.at("nqn").get_to(found.options.subsysnqn);
	json.at("interface").get_to(found.interface);
	found.options.address = addressFrom(json.at("address"));
	if (!checkNqn(found.options.subsysnqn))
		throw Damaged{"nqn"};
	return found;
}

LastKnown knownFrom(const Json &json)
{
	LastKnown known;
	for (const auto &[key, log] : json.at("services").items())
		known.services[key] = KnownService{logFrom(log), false};
	for (const auto &[name, list] : json.at("addresses").items())
		for (const Json &one : list)
			known.addresses[name].push_back(addressFrom(one));
	for (const Json &one : json.value("found", Json::array()))
		known.found.push_back(mdnsServiceFrom(one));
	known.displaced = json.value("displaced", false);
	return known;
}

// Strings from targets may be invalid UTF-8.
std::string jsonText(const Json &json)
{
	return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// The header line for @body
std::string headOf(std::string_view body)
{
	return fmt::format("{} {:016x} {}", title, rendezvousWeight(title, body), body.size());
}

Error damaged(const std::string &how)
{
	return {ErrorCode::invalid, EBADMSG, how, {}, {}, {}, false};
}

} // namespace

std::string formatLastKnown(const LastKnown &known, std::size_t max)
{
	Json rest{{"addresses", Json::object()}, {"found", Json::array()}};
	for (const auto &[name, list] : known.addresses)
		for (const Address &address : list)
			rest["addresses"][name].push_back(address.toString());
	for (const MdnsService &found : known.found)
		rest["found"].push_back(toJson(found));
	if (known.displaced)
		rest["displaced"] = true;
	std::string body = jsonText(rest);
	std::vector<std::string> logs; // members of an object, each with its separator
	std::size_t size = body.size() + maxHead;
	for (const auto &[key, service] : known.services)
		if (service.log) {
			logs.push_back(jsonText(key) + ":" + jsonText(toJson(*service.log)) + ",");
			size += logs.back().size();
		}
	while (size > max && !logs.empty()) {
		auto largest = std::ranges::max_element(logs, {}, &std::string::size);
		size -= largest->size();
		logs.erase(largest);
	}
	body.back() = ',';
	body += "\"services\":{";
	for (const std::string &log : logs)
		body += log;
	if (!logs.empty())
		body.pop_back();
	return sealLastKnown(body + "}}");
}

std::string sealLastKnown(std::string_view json)
{
	return fmt::format("{}\n{}\n", headOf(json), json);
}

Result<LastKnown> parseLastKnown(std::string_view text)
{
	std::size_t end = text.find('\n');
	if (end == text.npos || !text.starts_with(title) || text.back() != '\n')
		return damaged("not a file of this version");
	std::string_view body = text.substr(end + 1, text.size() - end - 2);
	if (text.size() < end + 2 || text.substr(0, end) != headOf(body))
		return damaged("damaged: wrong checksum or length");
	try {
		return knownFrom(Json::parse(body));
	} catch (const Json::exception &e) {
		return damaged(e.what());
	} catch (const Damaged &e) {
		return damaged(std::string("missing or invalid: ") + e.what);
	}
}

Result<LastKnown> readLastKnown(const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readSmallFile(file, maxLastKnown + 1);
	if (!text)
		return text.error();
	if (text->size() > maxLastKnown)
		return damaged("too long");
	return parseLastKnown(*text);
}

Result<void> writeLastKnown(const std::filesystem::path &file, std::string_view text)
{
	return nofctl::replaceFile(file, text, 0600, nofctl::Durable::yes);
}

LastKnownFile::LastKnownFile(std::filesystem::path file, Write write)
	: file_(std::move(file)), write_(std::move(write)), writer_(file_)
{
}

Result<void> LastKnownFile::write()
{
	if (writer_.running()) {
		if (!writer_.ended())
			return {};
		if (Result<void> done = writer_.take(); !done) {
			if (!newest_)
				newest_ = *current_;
			return done;
		}
	}
	current_.reset();
	if (!newest_)
		return {};
	current_ = std::make_shared<const LastKnown>(*std::exchange(newest_, {}));
	auto work = [file = file_, write = write_, known = current_, saved = saved_]() -> Result<void> {
		std::string text = formatLastKnown(*known);
		if (text == *saved)
			return {};
		Result<void> written = write(file, text);
		if (written)
			*saved = std::move(text);
		return written;
	};
	if (!writer_.begin(std::move(work)))
		newest_ = *current_; // the next call tries again
	return {};
}

Result<void> LastKnownFile::writeAndWait(std::chrono::milliseconds patience)
{
	const auto deadline = FileWriter::Clock::now() + patience;
	Result<void> done;
	do {
		if (writer_.running() && !writer_.ended(deadline))
			return errorFromErrno(ETIMEDOUT, "timed out writing " + file_.string());
		done = write();
	} while (done && writer_.running());
	return done;
}

} // namespace nvmeofd
