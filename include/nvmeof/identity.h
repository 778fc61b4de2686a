// SPDX-License-Identifier: LGPL-2.1-or-later
// Identity of this host: the host NQN and host ID that each connection carries.
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
	std::filesystem::path directory = "/etc/nvme"; // files hostnqn and hostid, shared with nvme-cli
	std::filesystem::path machineUuid = "/sys/class/dmi/id/product_uuid";
};

// nqn.2014-08.org.nvmexpress:uuid:UUID; NVMe Base 2.0, 4.5.
std::string hostnqnFromUuid(const Uuid &uuid);
// The UUID in such an NQN; nothing for other NQNs.
std::optional<Uuid> uuidFromHostnqn(std::string_view nqn);

// The machine's UUID from DMI if it is usable, otherwise a random one.
Uuid chooseHostUuid(const IdentityPlaces &places = {});

// The stored values. Errors: noSuchObject, if the file does not exist; invalid, if its content is not an NQN or UUID.
Result<std::string> readHostnqn(const IdentityPlaces &places = {});
Result<Uuid> readHostid(const IdentityPlaces &places = {});

// The stored identity. A missing file is created with a value that matches the other file. Concurrent callers get the
// same identity.
Result<HostIdentity> loadOrCreateIdentity(const IdentityPlaces &places = {});

// Whether this process runs in a container: checks for /run/systemd/container, /run/.containerenv and /.dockerenv,
// which container managers create.
bool inContainer(const std::filesystem::path &root = "/");

// Source of the host NQN and host ID when a connect does not specify them.
enum class IdentityUse {
	usual,  // like create for root outside a container, otherwise like kept
	kept,   // the values in /etc/nvme; an error if one is missing
	create, // the files in /etc/nvme; missing ones are created
};

// Completes the identity for one connect. A UUID-based @hostnqn that differs from the stored one implies the host ID
// with the same UUID. Errors: invalid, if a value is missing and must not be created.
Result<HostIdentity> resolveIdentity(const std::optional<std::string> &hostnqn, const std::optional<Uuid> &hostid,
				     const IdentityPlaces &places = {}, IdentityUse use = IdentityUse::create);

} // namespace nvmeof
