// SPDX-License-Identifier: LGPL-2.1-or-later
// Who this host is: the host NQN and host ID that go with every connection.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nvmeof/result.h>
#include <nvmeof/uuid.h>

namespace nvmeof {

struct HostIdentity {
	std::string hostnqn;
	Uuid hostid;
};

struct IdentityPlaces {
	std::filesystem::path directory = "/etc/nvme"; // hostnqn and hostid, shared with nvme-cli
	std::filesystem::path machineUuid = "/sys/class/dmi/id/product_uuid";
};

// nqn.2014-08.org.nvmexpress:uuid:UUID; NVMe Base 2.0, 4.5.
std::string hostnqnFromUuid(const Uuid &uuid);
// The UUID of such an NQN.
std::optional<Uuid> uuidFromHostnqn(std::string_view nqn);

// The machine's own UUID where the firmware has a usable one, else a random one.
Uuid chooseHostUuid(const IdentityPlaces &places = {});

// What is kept on this machine; noSuchObject when there is no hostnqn, invalid when a file holds nonsense.
Result<std::string> readHostnqn(const IdentityPlaces &places = {});
Result<Uuid> readHostid(const IdentityPlaces &places = {});

// What is kept on this machine; what is absent is made up to fit and written. Two callers at once get the same.
Result<HostIdentity> loadOrCreateIdentity(const IdentityPlaces &places = {});

// Whether this process is in a container, by what container managers leave: /run/systemd/container,
// /run/.containerenv, /.dockerenv.
bool inContainer(const std::filesystem::path &root = "/");

// Where the host's NQN and ID may come from when a connect does not give them.
enum class IdentityUse {
	usual,  // as written, where the caller is root on a host, not in a container; else as kept
	kept,   // what /etc/nvme holds; an error where it holds none
	create, // what it holds; what is missing is made up and written there
};

// The identity for one connect: what the caller gave, completed. A given UUID-style @hostnqn other than the kept one
// brings its own ID. invalid when something is missing that may not be made up.
Result<HostIdentity> resolveIdentity(const std::optional<std::string> &hostnqn, const std::optional<Uuid> &hostid,
				     const IdentityPlaces &places = {}, IdentityUse use = IdentityUse::create);

} // namespace nvmeof
