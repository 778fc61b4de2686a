// SPDX-License-Identifier: LGPL-2.1-or-later
#include "volume_spec.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <sys/mount.h>

#include <libmount/libmount.h>

#include <nvmeof/connect_settings.h>
#include <nvmeof/duration.h>

namespace csi {

using namespace nvmeof;
using nofctl::volume::VolumeId;

namespace {

// Time after the loss of the last path until I/O fails, if neither the volume nor nvmeof.toml sets "fast-io-fail-tmo":
// long enough for a target restart, and limited so that an unmount ends.
constexpr std::chrono::seconds defaultFastIoFail(600);

Error invalidSpec(std::string message)
{
	Error error;
	error.code = ErrorCode::invalid;
	error.message = std::move(message);
	return error;
}

std::vector<std::string> split(const std::string &text, char by)
{
	std::vector<std::string> parts;
	std::istringstream stream(text);
	for (std::string part; std::getline(stream, part, by);)
		if (!part.empty())
			parts.push_back(part);
	return parts;
}

// Removes the keys that it knows; the keys that are left are unknown.
class Reader {
public:
	explicit Reader(const Texts &texts) : texts_(texts) {}

	Result<VolumeSpec> read();

private:
	std::string take(const std::string &name, const std::string &fallback = "")
	{
		auto found = texts_.find(name);
		if (found == texts_.end())
			return fallback;
		std::string text = found->second;
		texts_.erase(found);
		return text;
	}

	Result<VolumeId> id();
	Result<ConnectSettings> settings();
	Result<SubsystemSettings> subsystem();
	Result<std::vector<ConnectOptions>> paths(const ConnectSettings &settings);
	Result<Reserve> reserve();

	Texts texts_;
};

Result<VolumeId> Reader::id()
{
	std::vector<std::string> ids;
	for (const auto &[name, kind] :
	     {std::pair{"uuid", "uuid."}, {"nguid", "nguid."}, {"eui64", "eui."}, {"nsid", "nsid."}})
		if (std::string text = take(name); !text.empty())
			ids.push_back(kind + text);
	if (ids.size() != 1)
		return invalidSpec("exactly one of uuid, nguid, eui64 and nsid is required");
	std::optional<VolumeId> id = VolumeId::parse(ids.front());
	return id ? Result<VolumeId>(*id)
		  : Result<VolumeId>(invalidSpec("'" + ids.front() + "' is not the identifier of a namespace"));
}

std::optional<std::int64_t> valueOf(const ConnectSetting &setting, const std::string &text)
{
	if (setting.kind == SettingKind::flag)
		return text == "true"    ? std::optional<std::int64_t>(1)
		       : text == "false" ? std::optional<std::int64_t>(0)
					 : std::nullopt;
	if (setting.kind == SettingKind::tlsUse) {
		const std::optional<TlsUse> use = parseTlsUse(text);
		return use ? std::optional(static_cast<std::int64_t>(*use)) : std::nullopt;
	}
	if (setting.kind == SettingKind::time || setting.kind == SettingKind::timeOrNever) {
		const Never never = setting.kind == SettingKind::time ? Never::refused : Never::allowed;
		Result<std::chrono::milliseconds> time = parseSeconds(text, never);
		return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
	}
	std::int64_t number = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Result<ConnectSettings> Reader::settings()
{
	ConnectSettings settings;
	for (const ConnectSetting &setting : connectSettings()) {
		const std::string text = take(setting.name);
		if (text.empty())
			continue;
		if (setting.kind == SettingKind::keySource) {
			if (Result<void> done = putConnectText(settings, setting, text); !done)
				return invalidSpec(std::string(setting.name) + ": " + done.error().message);
			continue;
		}
		std::optional<std::int64_t> value = valueOf(setting, text);
		if (!value || !putConnectSetting(settings, setting, *value))
			return invalidSpec(std::string(setting.name) + ": '" + text + "' is not valid");
	}
	return settings;
}

Result<SubsystemSettings> Reader::subsystem()
{
	std::vector<std::string> words;
	for (const std::string &name : subsystemSettingNames())
		if (std::string text = take(name); !text.empty())
			words.push_back(name + "=" + text);
	return parseSubsystemSettings(words);
}

// Addresses are numeric: a host name might resolve differently in the next call.
Result<std::vector<ConnectOptions>> Reader::paths(const ConnectSettings &settings)
{
	ConnectOptions common;
	common.subsysnqn = take("nqn");
	common.transport = take("transport", "tcp");
	common.hostTraddr = take("host-traddr");
	common.hostIface = take("host-iface");
	if (common.subsysnqn.empty())
		return invalidSpec("nqn is missing");
	if (Result<void> good = checkNqn(common.subsysnqn); !good)
		return good.error();
	if (common.transport != "tcp" && common.transport != "rdma")
		return invalidSpec("transport: '" + common.transport + "' is neither tcp nor rdma");
	settings.apply(common);
	const std::string port = take("port", defaultPort);
	std::vector<ConnectOptions> paths;
	for (const std::string &text : split(take("addresses"), ',')) {
		Result<Address> address = parseAddress(text, port);
		if (!address)
			return invalidSpec("addresses: " + address.error().message);
		paths.push_back(common);
		paths.back().address = *address;
	}
	if (paths.empty())
		return invalidSpec("addresses are missing");
	return paths;
}

Result<Reserve> Reader::reserve()
{
	const std::string text = take("reservation", "auto");
	for (const auto &[name, value] :
	     {std::pair{"auto", Reserve::automatic}, {"required", Reserve::required}, {"off", Reserve::off}})
		if (text == name)
			return value;
	return invalidSpec("reservation: '" + text + "' is not one of auto, required, off");
}

Result<VolumeSpec> Reader::read()
{
	std::erase_if(texts_, [](const auto &one) { return one.first.find('/') != std::string::npos; });
	Result<ConnectSettings> how = settings();
	if (!how)
		return how.error();
	Result<std::vector<ConnectOptions>> wanted = paths(*how);
	if (!wanted)
		return wanted.error();
	Result<VolumeId> named = id();
	if (!named)
		return named.error();
	Result<SubsystemSettings> policy = subsystem();
	if (!policy)
		return policy.error();
	Result<Reserve> reserved = reserve();
	if (!reserved)
		return reserved.error();
	const std::vector<std::string> mkfsOptions = split(take("mkfsOptions"), ' ');
	if (Result<void> good = checkMkfsOptions(mkfsOptions); !good)
		return good.error();
	VolumeSpec spec{{*wanted, *named, *policy, defaultTimeout}, mkfsOptions, 0, *reserved, take("service"), *how};
	const std::string bytes = take("requiredBytes", "0");
	auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), spec.requiredBytes);
	if (error != std::errc() || end != bytes.data() + bytes.size())
		return invalidSpec("requiredBytes: '" + bytes + "' is not a number");
	if (!texts_.empty())
		return invalidSpec("'" + texts_.begin()->first + "' is not a known parameter");
	return spec;
}

} // namespace

// Limited to ctrl-loss-tmo, as the kernel refuses a longer time
void VolumeSpec::complete(const ConnectSettings &defaults)
{
	ConnectSettings all = connect;
	all.complete(defaults);
	if (!all.fastIoFail) {
		const bool bounded = all.ctrlLoss && all.ctrlLoss->count() >= 0;
		all.fastIoFail = bounded ? std::min<std::chrono::milliseconds>(defaultFastIoFail, *all.ctrlLoss)
					 : defaultFastIoFail;
	}
	for (ConnectOptions &path : attach.paths)
		all.apply(path);
}

Result<VolumeSpec> parseVolume(const Texts &texts)
{
	return Reader(texts).read();
}

Texts contextOfClass(Texts parameters, const std::string &name)
{
	constexpr std::string_view variable = "${name}";
	std::string &nqn = parameters["nqn"];
	for (std::size_t at = nqn.find(variable); at != nqn.npos; at = nqn.find(variable, at + name.size()))
		nqn.replace(at, variable.size(), name);
	if (!parameters.contains("uuid") && !parameters.contains("nguid") && !parameters.contains("eui64"))
		parameters.try_emplace("nsid", "1");
	return parameters;
}

// ---- mount and mkfs options

namespace {

// These flags make something else than a file system mount, or change an existing mount.
constexpr unsigned long refusedFlags =
	MS_REMOUNT | MS_BIND | MS_REC | MS_SHARED | MS_SLAVE | MS_PRIVATE | MS_UNBINDABLE;

Error invalidError(std::string message)
{
	Error error;
	error.code = ErrorCode::invalid;
	error.message = std::move(message);
	return error;
}

} // namespace

Result<MountOptions> mountOptions(const std::string &fileSystem, const std::vector<std::string> &options)
{
	if (fileSystem != "ext4" && fileSystem != "xfs")
		return invalidError("file system '" + fileSystem + "' is neither ext4 nor xfs");
	std::string all;
	for (const std::string &option : options) {
		if (option.empty() || option.find(',') != option.npos)
			return invalidError("mount option '" + option + "' is not valid");
		if (fileSystem == "xfs" && (option == "nobarrier" || option == "barrier"))
			return invalidError("mount option '" + option +
					    "': removed from xfs in Linux 4.19, so the mount would fail; flushes are "
					    "sent only where the target has a volatile write cache");
		const std::string name = option.substr(0, option.find('='));
		if (name == "journal_path" || name == "journal_dev" || name == "logdev" || name == "rtdev")
			return invalidError("mount option '" + option +
					    "' names a device of the node that is not the volume's: remove it");
		unsigned long flags = 0;
		mnt_optstr_get_flags(option.c_str(), &flags, mnt_get_builtin_optmap(MNT_LINUX_MAP));
		if (flags & refusedFlags)
			return invalidError("mount option '" + option + "' does not apply to a file system on a disk");
		all += (all.empty() ? "" : ",") + option;
	}
	MountOptions result;
	char *data = nullptr; // omits options for mount(8) or init: _netdev, nofail, defaults
	if (mnt_optstr_get_flags(all.c_str(), &result.flags, mnt_get_builtin_optmap(MNT_LINUX_MAP)) != 0 ||
	    mnt_split_optstr(all.c_str(), nullptr, nullptr, &data, 0, 0) != 0)
		return invalidError("mount options '" + all + "' cannot be read");
	const std::unique_ptr<char, decltype(&std::free)> owned(data, std::free);
	result.data = data ? data : "";
	return result;
}

Result<void> checkMkfsOptions(const std::vector<std::string> &words)
{
	for (std::size_t i = 0; i < words.size(); i++) {
		const std::string &word = words[i];
		bool names = word.find('/') != word.npos || word.starts_with("-z") || word.starts_with("-p");
		for (const char *key : {"device=", "logdev=", "rtdev=", "name=", "options="})
			names = names || word.find(key) != word.npos;
		if (word.starts_with("-d")) { // xfs: KEY=VALUE; ext4: a directory to copy
			const std::string value = word.size() > 2        ? word.substr(2)
						  : i + 1 < words.size() ? words[i + 1]
									 : "";
			names = names || value.find('=') == value.npos;
		}
		if (names)
			return invalidError(
				"mkfsOptions: '" + word +
				"' names a device, file or folder of the node other than the volume's disk: "
				"remove it");
	}
	return {};
}

} // namespace csi
