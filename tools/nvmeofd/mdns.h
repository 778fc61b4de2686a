// SPDX-License-Identifier: LGPL-2.1-or-later
// Discovery services announced by multicast DNS, received through Avahi: org.freedesktop.Avahi.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

#include "libctl/base/jitter.h"
#include "libctl/runtime/loop.h"
#include "mdns_services.h"
#include "system_bus.h"

namespace nvmeofd {

class Mdns {
public:
	// @changed: gets all services that are announced
	Mdns(runtime::Loop &loop, std::function<void(std::vector<MdnsService> announced)> changed);
	~Mdns();
	Mdns(const Mdns &) = delete;
	Mdns &operator=(const Mdns &) = delete;

	void listen(bool on);
	// Resolves all services again.
	void refresh();
	bool listening() const { return bus_.has_value(); }
	// Why services are not found, or not all; empty: no error
	const std::string &lastError() const { return lastError_; }

private:
	struct Name { // identifies an announcement in Avahi
		int interface = 0, protocol = 0;
		std::string name, type, domain;

		auto operator<=>(const Name &) const = default;
	};
	struct Announced {
		Mdns *mdns = nullptr;
		sd_bus_slot *asked = nullptr; // pending resolve call
		std::optional<MdnsService> service;

		~Announced() { sd_bus_slot_unref(asked); }
	};
	using All = std::map<Name, Announced>;

	int opened(sd_bus *bus);
	void browse();
	int browse(const char *type);
	void avahi(bool there);
	void appeared(const Name &name);
	void resolve(const Name &name, Announced &one);
	void resolved(Announced &one, sd_bus_message *answer);
	void resolveMissing();
	void forgetAll();
	void report();
	void failed(const std::string &why);
	static bool read(sd_bus_message *message, Name &name);

	runtime::Loop &loop_;
	std::function<void(std::vector<MdnsService>)> changed_;
	std::optional<SystemBus> bus_;
	sd_bus *open_ = nullptr; // owned by bus_; null: not connected
	bool browsing_ = false;
	All all_;
	std::string lastError_;
	nofctl::Backoff backoff_;
	runtime::Timer again_;
};

// The mDNS announcement of a discovery service: NVMe TP8009. Its contents are not trusted.

inline constexpr const char *mdnsTcp = "_nvme-disc._tcp"; // TCP, unless p= differs
inline constexpr const char *mdnsUdp = "_nvme-disc._udp"; // RDMA: RoCE v2 uses UDP

struct MdnsRecord {
	std::string type;              // one of the above
	std::string interface;         // receiving interface: the scope of link-local addresses
	std::string address;           // numeric
	std::uint16_t port = 0;        // SRV
	std::vector<std::string> text; // TXT: "p=tcp", "nqn=..."; keys are case-insensitive
};

// How to connect. Error invalid: malformed, or an unknown transport
nvmeof::Result<nvmeof::ConnectOptions> serviceOf(const MdnsRecord &record);

} // namespace nvmeofd
