// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: which files of the host identity exist; hostnqn, hostid and the firmware's UUID, each terminated by a byte
// 0xff; then the host NQN of the caller.
#include "input.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <nvmeof/address.h>
#include <nvmeof/identity.h>

using namespace nvmeof;
namespace fs = std::filesystem;

namespace {

// One directory for the whole run, in memory if possible
const fs::path &scratch()
{
	static const struct Scratch {
		fs::path path;
		Scratch()
		{
			std::string name = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string();
			name += "/nvmeof-fuzz.XXXXXX";
			expect(::mkdtemp(name.data()), "there is room for files");
			path = name;
		}
		~Scratch() { fs::remove_all(path); }
	} directory;
	return directory.path;
}

std::optional<std::string> contentOf(const fs::path &file)
{
	std::ifstream stream(file);
	if (!stream)
		return std::nullopt;
	return std::string(std::istreambuf_iterator<char>(stream), {});
}

struct Places : IdentityPlaces {
	Places() : IdentityPlaces{scratch() / "nvme", scratch() / "product_uuid"} {}
	fs::path hostnqn() const { return directory / "hostnqn"; }
	fs::path hostid() const { return directory / "hostid"; }
};

void put(const fs::path &file, bool there, const std::string &text)
{
	fs::remove(file);
	if (there)
		std::ofstream(file) << text;
}

void checkIdentity(const HostIdentity &identity)
{
	expect(checkNqn(identity.hostnqn).ok(), "a host NQN is an NQN");
	expect(!identity.hostid.isNil(), "a host has an ID");
}

bool same(const Result<HostIdentity> &a, const HostIdentity &b)
{
	return a && a->hostnqn == b.hostnqn && a->hostid == b.hostid;
}

void checkKept(const Places &places)
{
	const std::optional<std::string> hostnqn = contentOf(places.hostnqn()), hostid = contentOf(places.hostid());
	const Result<HostIdentity> identity = loadOrCreateIdentity(places);
	expect(!hostnqn || contentOf(places.hostnqn()) == hostnqn, "a file that is there is not touched");
	expect(!hostid || contentOf(places.hostid()) == hostid, "nor is the other");
	if (!identity) {
		expect(identity.error().code == ErrorCode::invalid && (hostnqn || hostid), "only nonsense is refused");
		expect(identity.error().message.starts_with(places.directory.string()), "and its file is named");
		return;
	}
	checkIdentity(*identity);
	expect(same(loadOrCreateIdentity(places), *identity), "a host stays who it is");
	expect(*readHostnqn(places) == identity->hostnqn && *readHostid(places) == identity->hostid, "both are kept");
	if (std::optional<Uuid> uuid = uuidFromHostnqn(identity->hostnqn))
		expect(uuid->toString() == hostnqnFromUuid(*uuid).substr(32), "an NQN of a UUID has that UUID");
	if (!hostnqn)
		expect(hostnqnFromUuid(identity->hostid) == identity->hostnqn, "a generated identity is consistent");
}

void checkGiven(const Places &places, const std::string &hostnqn)
{
	const Result<HostIdentity> identity = resolveIdentity(hostnqn, {}, places);
	if (!identity) {
		expect(!identity.error().message.empty(), "a refusal has a reason");
		return;
	}
	checkIdentity(*identity);
	expect(identity->hostnqn == hostnqn, "a given NQN is used");
	expect(same(resolveIdentity(hostnqn, identity->hostid, places), *identity), "so does its ID");
}

} // namespace

void fuzz(Input in)
{
	const Places places;
	const auto there = in.take<std::uint8_t>();
	fs::create_directory(places.directory);
	put(places.hostnqn(), there & 1, in.upTo('\xff'));
	put(places.hostid(), there & 2, in.upTo('\xff'));
	put(places.machineUuid, there & 4, in.upTo('\xff'));
	checkKept(places);
	checkGiven(places, std::string(in.text()));
}
