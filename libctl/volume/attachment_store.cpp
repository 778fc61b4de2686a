// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attachment_store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "libctl/base/file.h"

namespace nofctl::volume {

namespace fs = std::filesystem;
using namespace nvmeof;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

// Encodes an NQN as a directory name: characters other than letters, digits and "-_.:" become %xx, as does a leading
// dot.
std::string fileName(const std::string &text)
{
	std::string name;
	for (unsigned char c : text)
		if (std::isalnum(c) || c == '-' || c == '_' || c == ':' || (c == '.' && !name.empty()))
			name += static_cast<char>(c);
		else
			name += fmt::format("%{:02x}", c);
	return name;
}

Error fileError(const fs::path &file, int number)
{
	Error error = errorFromErrno(number, file.string() + ": " + std::strerror(number));
	if (error.code == ErrorCode::noSuchObject)
		error.code = ErrorCode::failed; // noSuchObject would mean that the volume does not exist
	return error;
}

// A file that cannot be parsed is ignored: it is not an entry.
std::optional<Entry> read(const fs::path &file)
{
	std::ifstream stream(file);
	const Json json = Json::parse(stream, nullptr, false);
	if (!json.is_object() || !json.contains("nqn") || !json.contains("id") || !json["nqn"].is_string() ||
	    !json["id"].is_string())
		return std::nullopt;
	std::optional<VolumeId> id = VolumeId::parse(json["id"].get<std::string>());
	return id ? std::optional(Entry{json["nqn"].get<std::string>(), *id}) : std::nullopt;
}

std::vector<Entry> readAll(const fs::path &folder)
{
	std::error_code error;
	std::vector<fs::path> files;
	for (fs::directory_iterator one(folder, error), end; !error && one != end; one.increment(error))
		if (one->path().extension() == ".json")
			files.push_back(one->path());
	std::ranges::sort(files);
	std::vector<Entry> found;
	for (const fs::path &file : files)
		if (std::optional<Entry> entry = read(file))
			found.push_back(*entry);
	return found;
}

} // namespace

AttachmentLock::AttachmentLock(fs::path folder, std::string nqn, int fd)
	: folder_(std::move(folder)), nqn_(std::move(nqn)), fd_(fd)
{
}

AttachmentLock::AttachmentLock(AttachmentLock &&other) noexcept
	: folder_(std::move(other.folder_)), nqn_(std::move(other.nqn_)), fd_(std::exchange(other.fd_, -1))
{
}

AttachmentLock::~AttachmentLock()
{
	if (fd_ >= 0)
		::close(fd_);
}

// Closing the descriptor releases the lock, so a killed process leaves none. The directory is never removed: otherwise
// two processes could lock different files of the same name.
Result<AttachmentLock> AttachmentLock::open(const SystemPaths &systemPaths, const std::string &nqn,
					    Clock::time_point deadline)
{
	const fs::path folder = systemPaths.attachments / fileName(nqn), lock = folder / "lock";
	std::error_code error;
	fs::create_directories(folder, error);
	if (error)
		return fileError(folder, error.value());
	const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return fileError(lock, errno);
	AttachmentLock attachments(folder, nqn, fd);
	while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fileError(lock, errno);
		if (Clock::now() >= deadline)
			return errorFromErrno(ETIMEDOUT, nqn + ": timed out waiting for another attach or detach");
		std::this_thread::sleep_for(10ms);
	}
	return attachments;
}

fs::path AttachmentLock::file(const VolumeId &id) const
{
	return folder_ / (id.toString() + ".json");
}

bool AttachmentLock::has(const VolumeId &id) const
{
	return read(file(id)).has_value();
}

std::vector<Entry> AttachmentLock::entries() const
{
	return readAll(folder_);
}

Result<void> AttachmentLock::add(const VolumeId &id)
{
	return replaceFile(file(id), Json{{"nqn", nqn_}, {"id", id.toString()}}.dump() + "\n");
}

void AttachmentLock::remove(const VolumeId &id)
{
	std::error_code ignored;
	fs::remove(file(id), ignored);
}

std::vector<Entry> allAttachments(const SystemPaths &systemPaths)
{
	std::error_code error;
	std::vector<fs::path> folders;
	for (fs::directory_iterator one(systemPaths.attachments, error), end; !error && one != end;
	     one.increment(error))
		folders.push_back(one->path());
	std::ranges::sort(folders);
	std::vector<Entry> all;
	for (const fs::path &folder : folders) {
		std::vector<Entry> some = readAll(folder);
		all.insert(all.end(), some.begin(), some.end());
	}
	return all;
}

// ---- volume IDs

namespace {

template <std::size_t n> std::optional<std::array<std::uint8_t, n>> parseHex(std::string_view text)
{
	std::string digits;
	for (char c : text)
		if (c != '-')
			digits += c;
	std::array<std::uint8_t, n> bytes{};
	if (digits.size() != 2 * n)
		return std::nullopt;
	for (std::size_t i = 0; i < n; i++) {
		const char *begin = digits.data() + 2 * i;
		auto [end, error] = std::from_chars(begin, begin + 2, bytes[i], 16);
		if (error != std::errc() || end != begin + 2)
			return std::nullopt;
	}
	return bytes;
}

template <typename T> std::optional<VolumeId> made(const std::optional<T> &value)
{
	return value ? std::optional(VolumeId{*value}) : std::nullopt;
}

std::optional<std::uint32_t> parseNsid(std::string_view text)
{
	std::uint32_t nsid = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nsid);
	// UINT32_MAX is the broadcast NSID (NVMe Base 2.0, 3.2.1.5)
	if (error != std::errc() || end != text.data() + text.size() || nsid == 0 || nsid == UINT32_MAX)
		return std::nullopt;
	return nsid;
}

std::string hex(const auto &bytes)
{
	return fmt::format("{:02x}", fmt::join(bytes, ""));
}

struct Text {
	std::string operator()(const Uuid &uuid) const { return "uuid." + uuid.toString(); }
	std::string operator()(const Nguid &nguid) const { return "nguid." + hex(nguid); }
	std::string operator()(const Eui64 &eui64) const { return "eui." + hex(eui64); }
	std::string operator()(std::uint32_t nsid) const { return fmt::format("nsid.{}", nsid); }
};

struct Names {
	const nvmeof::Namespace &ns;

	bool operator()(const Uuid &uuid) const { return ns.uuid == uuid; }
	bool operator()(const Nguid &nguid) const { return ns.nguid == nguid; }
	bool operator()(const Eui64 &eui64) const { return ns.eui64 == eui64; }
	bool operator()(std::uint32_t nsid) const { return ns.nsid == nsid; }
};

} // namespace

bool VolumeId::names(const nvmeof::Namespace &ns) const
{
	return std::visit(Names{ns}, value);
}

std::string VolumeId::toString() const
{
	return std::visit(Text(), value);
}

std::optional<VolumeId> VolumeId::parse(std::string_view text)
{
	const std::size_t dot = text.find('.');
	if (dot == text.npos)
		return std::nullopt;
	const std::string_view kind = text.substr(0, dot), rest = text.substr(dot + 1);
	if (kind == "uuid")
		return made(Uuid::parse(rest));
	if (kind == "nguid")
		return made(parseHex<16>(rest));
	if (kind == "eui")
		return made(parseHex<8>(rest));
	return kind == "nsid" ? made(parseNsid(rest)) : std::nullopt;
}

} // namespace nofctl::volume
