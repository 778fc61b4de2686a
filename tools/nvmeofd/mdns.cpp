// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mdns.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <net/if.h>
#include <optional>
#include <string_view>
#include <strings.h>
#include <syslog.h>

#include <fmt/format.h>

#include <nvmeof/address.h>
#include <nvmeof/discovery.h>

#include "libctl/base/text.h"
#include "libctl/runtime/journal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace nvmeofd {

using namespace runtime;

namespace {

constexpr const char *avahiName = "org.freedesktop.Avahi";
constexpr const char *avahiServer = "org.freedesktop.Avahi.Server";
constexpr const char *avahiBrowser = "org.freedesktop.Avahi.ServiceBrowser";
constexpr int any = -1; // interface, protocol: AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC
// Limit, as any machine in the network can send announcements
constexpr std::size_t maxAnnounced = 256;

std::string errorOf(sd_bus_message *answer)
{
	const sd_bus_error *error = sd_bus_message_get_error(answer);
	if (!error)
		return {};
	return nofctl::printable(error->message ? error->message : error->name);
}

std::string interfaceOf(int index)
{
	char name[IF_NAMESIZE];
	return if_indextoname(static_cast<unsigned>(index), name) ? name : "";
}

std::vector<std::string> readText(sd_bus_message *message)
{
	std::vector<std::string> text;
	if (sd_bus_message_enter_container(message, 'a', "ay") < 0)
		return text;
	const void *bytes = nullptr;
	std::size_t size = 0;
	while (sd_bus_message_read_array(message, 'y', &bytes, &size) > 0)
		text.emplace_back(static_cast<const char *>(bytes), size);
	sd_bus_message_exit_container(message);
	return text;
}

} // namespace

Mdns::Mdns(Loop &loop, std::function<void(std::vector<MdnsService>)> changed)
	: loop_(loop), changed_(std::move(changed)), backoff_(5s, 10min), again_(loop, [this] { resolveMissing(); })
{
}

Mdns::~Mdns()
{
	all_.clear();
}

void Mdns::listen(bool on)
{
	if (on == bus_.has_value())
		return;
	if (on) {
		bus_.emplace(
			loop_, [this](sd_bus *bus) { return opened(bus); },
			[this](const std::string &why) {
				forgetAll();
				open_ = nullptr;
				failed(why);
			});
		return;
	}
	forgetAll();
	open_ = nullptr;
	bus_.reset();
	lastError_.clear();
	report();
}

void Mdns::refresh()
{
	for (auto &[name, one] : all_)
		resolve(name, one);
}

void Mdns::forgetAll()
{
	all_.clear();
	browsing_ = false;
}

void Mdns::failed(const std::string &why)
{
	if (lastError_.empty())
		say(LOG_WARNING, fmt::format("mDNS through Avahi: {}", why));
	lastError_ = why;
}

int Mdns::opened(sd_bus *bus)
{
	open_ = bus;
	// does not match the path: signals may come before the reply that has it
	auto on = [&](const char *signal, sd_bus_message_handler_t handler) {
		return sd_bus_match_signal_async(bus, nullptr, avahiName, nullptr, avahiBrowser, signal, handler,
						 nullptr, this);
	};
	int result = on("ItemNew", [](sd_bus_message *message, void *data, sd_bus_error *) {
		if (Name name; read(message, name))
			static_cast<Mdns *>(data)->appeared(name);
		return 0;
	});
	if (result >= 0)
		result = on("ItemRemove", [](sd_bus_message *message, void *data, sd_bus_error *) {
			Mdns *self = static_cast<Mdns *>(data);
			if (Name name; read(message, name) && self->all_.erase(name))
				self->report();
			return 0;
		});
	if (result >= 0)
		result = on("Failure", [](sd_bus_message *message, void *data, sd_bus_error *) {
			const char *why = "";
			sd_bus_message_read(message, "s", &why);
			static_cast<Mdns *>(data)->failed(nofctl::printable(why));
			return 0;
		});
	if (result >= 0)
		result = sd_bus_add_match_async(
			bus, nullptr,
			"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
			"arg0='org.freedesktop.Avahi'",
			[](sd_bus_message *message, void *data, sd_bus_error *) {
				const char *name = "", *before = "", *now = "";
				if (sd_bus_message_read(message, "sss", &name, &before, &now) >= 0)
					static_cast<Mdns *>(data)->avahi(*now);
				return 0;
			},
			nullptr, this);
	if (result >= 0)
		browse();
	return result;
}

// Avahi has started or stopped. Services that it reported stay until it reports something else.
void Mdns::avahi(bool there)
{
	if (!there) {
		forgetAll();
		failed("Avahi has stopped");
	} else if (!browsing_) {
		browse();
	}
}

void Mdns::browse()
{
	browsing_ = browse(mdnsTcp) >= 0 && browse(mdnsUdp) >= 0;
	if (!browsing_)
		failed("the bus rejects calls");
}

int Mdns::browse(const char *type)
{
	return sd_bus_call_method_async(
		open_, nullptr, avahiName, "/", avahiServer, "ServiceBrowserNew",
		[](sd_bus_message *answer, void *data, sd_bus_error *) {
			Mdns *self = static_cast<Mdns *>(data);
			if (std::string error = errorOf(answer); !error.empty()) {
				self->browsing_ = false;
				self->failed(error);
			} else {
				self->lastError_.clear();
			}
			return 0;
		},
		this, "iissu", any, any, type, "", 0U);
}

bool Mdns::read(sd_bus_message *message, Name &name)
{
	const char *text = "", *type = "", *domain = "";
	if (sd_bus_message_read(message, "iisss", &name.interface, &name.protocol, &text, &type, &domain) < 0)
		return false;
	name.name = text;
	name.type = type;
	name.domain = domain;
	return true;
}

void Mdns::appeared(const Name &name)
{
	if (all_.size() >= maxAnnounced && !all_.contains(name))
		return failed(fmt::format("more than {} services are announced; the others are ignored", maxAnnounced));
	resolve(name, all_[name]);
}

void Mdns::resolve(const Name &name, Announced &one)
{
	one.mdns = this;
	one.asked = sd_bus_slot_unref(one.asked);
	int result = sd_bus_call_method_async(
		open_, &one.asked, avahiName, "/", avahiServer, "ResolveService",
		[](sd_bus_message *answer, void *data, sd_bus_error *) {
			Announced *one = static_cast<Announced *>(data);
			one->mdns->resolved(*one, answer);
			return 0;
		},
		&one, "iisssiu", name.interface, name.protocol, name.name.c_str(), name.type.c_str(),
		name.domain.c_str(), name.protocol, 0U);
	if (result < 0)
		again_.start(backoff_.next());
}

void Mdns::resolved(Announced &one, sd_bus_message *answer)
{
	if (std::string error = errorOf(answer); !error.empty()) {
		failed("cannot resolve a service: " + error);
		return again_.startUnlessRunning(backoff_.next());
	}
	Name name;
	const char *host = "", *address = "";
	int protocol = 0;
	MdnsRecord record;
	if (!read(answer, name) || sd_bus_message_read(answer, "sisq", &host, &protocol, &address, &record.port) < 0)
		return;
	record.type = name.type;
	record.interface = interfaceOf(name.interface);
	record.address = address;
	record.text = readText(answer);
	Result<ConnectOptions> options = serviceOf(record);
	one.service.reset();
	if (options)
		one.service = MdnsService{*std::move(options), record.interface, true};
	else
		say(LOG_NOTICE,
		    fmt::format("mDNS: ignoring '{}' on {}: {}", name.name, record.interface, options.error().message));
	if (std::ranges::all_of(all_, [](const auto &each) { return each.second.service.has_value(); })) {
		lastError_.clear();
		backoff_.reset();
	}
	report();
}

void Mdns::resolveMissing()
{
	for (auto &[name, one] : all_)
		if (!one.service)
			resolve(name, one);
}

void Mdns::report()
{
	std::vector<MdnsService> announced;
	for (const auto &[name, one] : all_)
		if (one.service)
			announced.push_back(*one.service);
	changed_(std::move(announced));
}

// ---- announcements

namespace {

Error invalidRecord(const std::string &what)
{
	return {ErrorCode::invalid, EINVAL, what, {}, {}, {}, false};
}

std::optional<std::string> valueOf(const std::vector<std::string> &text, std::string_view key)
{
	for (const std::string &one : text)
		if (one.size() > key.size() && one[key.size()] == '=' &&
		    strncasecmp(one.c_str(), key.data(), key.size()) == 0)
			return one.substr(key.size() + 1);
	return {};
}

// @said: value of p=, as in TP8009
std::string transportOf(const std::string &type, const std::string &said)
{
	if (said.empty())
		return type == mdnsUdp ? "rdma" : "tcp";
	if (strcasecmp(said.c_str(), "tcp") == 0)
		return "tcp";
	for (const char *rdma : {"rdma", "roce", "iwarp"})
		if (strcasecmp(said.c_str(), rdma) == 0)
			return "rdma";
	return {};
}

bool linkLocal(const std::string &address)
{
	return strncasecmp(address.c_str(), "fe80:", 5) == 0;
}

} // namespace

Result<ConnectOptions> serviceOf(const MdnsRecord &record)
{
	ConnectOptions options;
	options.transport = transportOf(record.type, valueOf(record.text, "p").value_or(""));
	if (options.transport.empty())
		return invalidRecord("its transport is not supported: p=" + *valueOf(record.text, "p"));
	std::string address = record.address;
	if (linkLocal(address) && address.find('%') == address.npos)
		address += "%" + record.interface;
	Result<std::string> traddr = parseTraddr(address);
	if (!traddr)
		return traddr.error();
	if (!record.port)
		return invalidRecord("it has no port");
	options.address = {*traddr, std::to_string(record.port)};
	options.subsysnqn = valueOf(record.text, "nqn").value_or(discoveryNqn);
	if (Result<void> good = checkNqn(options.subsysnqn); !good)
		return good.error();
	return options;
}

} // namespace nvmeofd
