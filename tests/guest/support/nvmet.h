// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's target, through its configfs. Objects remove what they created.
#pragma once

#include "transport.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace guest::nvmet {

// Loads the target's modules.
void load();

struct NamespaceOptions {
	std::string uuid = ""; // default: derived from the NSID
	std::string nguid = "";
	std::optional<std::uint32_t> anaGroup = {};
	bool bufferedIo = false; // of a namespace on a file
};

class Subsystem {
public:
	explicit Subsystem(std::string nqn, bool allowAnyHost = true);
	~Subsystem();
	Subsystem(const Subsystem &) = delete;
	Subsystem &operator=(const Subsystem &) = delete;

	const std::string &nqn() const { return nqn_; }
	void set(const std::string &attribute, const std::string &value);
	void addNamespace(std::uint32_t nsid, const std::string &device, const NamespaceOptions &options = {});
	void removeNamespace(std::uint32_t nsid);
	void enable(std::uint32_t nsid, bool on);
	void moveGroup(std::uint32_t nsid, std::uint32_t anaGroup);
	void revalidate(std::uint32_t nsid);            // the device's size has changed; hosts are notified
	static std::string uuidFor(std::uint32_t nsid); // for the subsystem testNqn
	static std::string uuidFor(std::uint32_t nsid, const std::string &nqn);

private:
	std::string dir(std::uint32_t nsid) const;

	std::string nqn_, path_;
	std::vector<std::uint32_t> namespaces_;
};

struct PortOptions {
	std::string netns;                       // network namespace to listen in; empty: the current one
	std::optional<std::uint32_t> inlineData; // maximum bytes of in-capsule data
	std::string transport = guest::transport();
	std::string tls = overTls() ? "not required" : ""; // value of addr_treq of a port with TLS; empty: without TLS
};

class Port {
public:
	// An address with a colon is IPv6.
	Port(unsigned id, std::string address, unsigned service, PortOptions options = {});
	~Port();
	Port(const Port &) = delete;
	Port &operator=(const Port &) = delete;

	const std::string &address() const { return address_; }
	std::string service() const { return service_; }
	void link(const Subsystem &subsystem);
	// Hosts lose their connections.
	void unlink(const Subsystem &subsystem);
	void setAnaState(unsigned group, const std::string &state);

private:
	std::string path_, address_, service_;
	PortOptions options_;
	std::vector<std::string> links_;
	std::vector<unsigned> groups_;
};

} // namespace guest::nvmet
