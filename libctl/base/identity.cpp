// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/identity.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <nvmeof/address.h>

#include "file.h"

namespace nvmeof {

namespace {

constexpr std::string_view uuidNqnPrefix = "nqn.2014-08.org.nvmexpress:uuid:";

std::string_view trim(std::string_view text)
{
	constexpr std::string_view blanks = " \t\r\n";
	std::size_t first = text.find_first_not_of(blanks);
	if (first == text.npos)
		return {};
	return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

Error invalidFile(const std::filesystem::path &file, const std::string &what)
{
	Error error;
	error.code = ErrorCode::invalid;
	error.object = {ErrorObject::Kind::file, file.string()};
	error.message = file.string() + ": " + what;
	return error;
}

Error ofFile(Error error, const std::filesystem::path &file)
{
	error.object = {ErrorObject::Kind::file, file.string()};
	return error;
}

// Firmware without an assigned UUID reports all zeros, all ones, or a template value that many machines share.
bool usable(const Uuid &uuid)
{
	static const std::optional<Uuid> templateUuid = Uuid::parse("03000200-0400-0500-0006-000700080009");
	bool ones = std::all_of(uuid.bytes.begin(), uuid.bytes.end(), [](std::uint8_t b) { return b == 0xff; });
	return !uuid.isNil() && !ones && uuid != templateUuid;
}

Result<std::string> readTrimmed(const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readSmallFile(file);
	if (!text)
		return text.error();
	return std::string(trim(*text));
}

// Creates @file with @text. Returns the resulting content: another process may have created the file first.
Result<std::string> keep(const std::filesystem::path &file, const std::string &text)
{
	std::error_code error;
	std::filesystem::create_directories(file.parent_path(), error);
	if (error)
		return ofFile(errorFromErrno(error.value(), file.parent_path().string() + ": " + error.message()),
			      file);
	Result<bool> written = nofctl::createFile(file, text + "\n");
	if (!written)
		return ofFile(written.error(), file);
	return *written ? Result<std::string>(text) : readTrimmed(file);
}

bool absent(const Error &error)
{
	return error.code == ErrorCode::noSuchObject;
}

// The UUID for the missing files: matches the existing file if there is one.
Uuid matchingUuid(const Result<std::string> &hostnqn, const Result<Uuid> &hostid, const IdentityPlaces &places)
{
	if (hostid)
		return *hostid;
	std::optional<Uuid> fromNqn = hostnqn ? uuidFromHostnqn(*hostnqn) : std::nullopt;
	return fromNqn ? *fromNqn : chooseHostUuid(places);
}

} // namespace

std::string hostnqnFromUuid(const Uuid &uuid)
{
	return std::string(uuidNqnPrefix) + uuid.toString();
}

std::optional<Uuid> uuidFromHostnqn(std::string_view nqn)
{
	if (!nqn.starts_with(uuidNqnPrefix))
		return std::nullopt;
	return Uuid::parse(nqn.substr(uuidNqnPrefix.size()));
}

Uuid chooseHostUuid(const IdentityPlaces &places)
{
	Result<std::string> text = readTrimmed(places.machineUuid);
	std::optional<Uuid> uuid = text ? Uuid::parse(*text) : std::nullopt;
	return uuid && usable(*uuid) ? *uuid : Uuid::random();
}

Result<std::string> readHostnqn(const IdentityPlaces &places)
{
	std::filesystem::path file = places.directory / "hostnqn";
	Result<std::string> nqn = readTrimmed(file);
	if (!nqn)
		return nqn;
	if (Result<void> good = checkNqn(*nqn); !good)
		return invalidFile(file, good.error().message);
	return nqn;
}

Result<Uuid> readHostid(const IdentityPlaces &places)
{
	std::filesystem::path file = places.directory / "hostid";
	Result<std::string> text = readTrimmed(file);
	if (!text)
		return text.error();
	std::optional<Uuid> uuid = Uuid::parse(*text);
	if (!uuid || uuid->isNil()) // NVMe Base 2.0, 5.27.1.25: zero means that the host has no ID
		return invalidFile(file, "'" + *text + "' is not a UUID");
	return *uuid;
}

Result<HostIdentity> loadOrCreateIdentity(const IdentityPlaces &places)
{
	Result<std::string> hostnqn = readHostnqn(places);
	if (!hostnqn && !absent(hostnqn.error()))
		return hostnqn.error();
	Result<Uuid> hostid = readHostid(places);
	if (!hostid && !absent(hostid.error()))
		return hostid.error();
	Uuid uuid = hostnqn && hostid ? *hostid : matchingUuid(hostnqn, hostid, places);

	if (!hostnqn) {
		if (Result<std::string> kept = keep(places.directory / "hostnqn", hostnqnFromUuid(uuid)); !kept)
			return kept.error();
		hostnqn = readHostnqn(places);
		if (!hostnqn)
			return hostnqn.error();
		if (!hostid)
			uuid = uuidFromHostnqn(*hostnqn).value_or(uuid); // another process may have won
	}
	if (!hostid) {
		if (Result<std::string> kept = keep(places.directory / "hostid", uuid.toString()); !kept)
			return kept.error();
		hostid = readHostid(places);
		if (!hostid)
			return hostid.error();
	}
	return HostIdentity{*hostnqn, *hostid};
}

bool inContainer(const std::filesystem::path &root)
{
	std::error_code error;
	for (const char *sign : {"run/systemd/container", "run/.containerenv", ".dockerenv"})
		if (std::filesystem::exists(root / sign, error))
			return true;
	return false;
}

// In a container a new identity would be lost with the file system, and the next container would be a different host.
static bool mayCreate(IdentityUse use)
{
	return use == IdentityUse::create || (use == IdentityUse::usual && ::geteuid() == 0 && !inContainer());
}

static Error notKept(Error error, const std::filesystem::path &file, const char *what)
{
	if (!absent(error))
		return error;
	error.code = ErrorCode::invalid;
	error.message = std::string("no ") + what + " was given, and " + file.string() + " does not exist";
	error.object = {ErrorObject::Kind::file, file.string()};
	return error;
}

static Result<HostIdentity> loadIdentity(const IdentityPlaces &places)
{
	Result<std::string> hostnqn = readHostnqn(places);
	if (!hostnqn)
		return notKept(hostnqn.error(), places.directory / "hostnqn", "host NQN");
	Result<Uuid> hostid = readHostid(places);
	if (hostid)
		return HostIdentity{*hostnqn, *hostid};
	std::optional<Uuid> own = uuidFromHostnqn(*hostnqn);
	if (own && absent(hostid.error()))
		return HostIdentity{*hostnqn, *own};
	return notKept(hostid.error(), places.directory / "hostid", "host ID");
}

Result<HostIdentity> resolveIdentity(const std::optional<std::string> &hostnqn, const std::optional<Uuid> &hostid,
				     const IdentityPlaces &places, IdentityUse use)
{
	if (hostnqn)
		if (Result<void> good = checkNqn(*hostnqn); !good)
			return good.error();
	if (hostnqn && hostid)
		return HostIdentity{*hostnqn, *hostid};
	std::optional<Uuid> own = hostnqn ? uuidFromHostnqn(*hostnqn) : std::nullopt;
	if (own) {
		// If @hostnqn is the stored one, use the stored host ID: targets refuse one host NQN with two host IDs.
		Result<std::string> kept = readHostnqn(places);
		if (!kept || *kept != *hostnqn)
			return HostIdentity{*hostnqn, *own};
	}
	Result<HostIdentity> identity = mayCreate(use) ? loadOrCreateIdentity(places) : loadIdentity(places);
	if (!identity)
		return identity;
	return HostIdentity{hostnqn.value_or(identity->hostnqn), hostid.value_or(identity->hostid)};
}

} // namespace nvmeof
