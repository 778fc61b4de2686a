// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fence.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <linux/pr.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "libctl/wire/bytes.h"
#include "libctl/wire/nvme.h"
#include "libctl/wire/status.h"

namespace nofctl::volume {

using namespace nvmeof;
using nofctl::wire::get;

namespace {

constexpr std::uint64_t mark = 0x6e; // 'n'
constexpr int volumeShift = 40, markShift = 56;
constexpr std::uint64_t publicationMask = (std::uint64_t(1) << volumeShift) - 1;

// FNV-1a, because std::hash may differ between nodes
std::uint16_t hashOf(const std::string &text)
{
	std::uint32_t hash = 2166136261;
	for (unsigned char c : text)
		hash = (hash ^ c) * 16777619;
	return static_cast<std::uint16_t>(hash ^ (hash >> 16));
}

const Registrant *thisHost(const ReservationReport &report)
{
	auto found = std::ranges::find(report.registrants, true, &Registrant::thisHost);
	return found == report.registrants.end() ? nullptr : &*found;
}

// Persistent reservation ioctls of the disk (linux/pr.h). The driver sends each command once, on any path, and
// determines the outcome of a lost one.
class Disk {
public:
	// Read-only, because udev processes a device again after it was open for writing.
	explicit Disk(const Namespace &ns)
		: name_(ns.name), fd_(::open(("/dev/" + ns.name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)),
		  error_(fd_ < 0 ? errno : 0)
	{
	}
	~Disk()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	Disk(const Disk &) = delete;
	Disk &operator=(const Disk &) = delete;

	Result<void> enroll(std::uint64_t key)
	{
		pr_registration to{0, key, PR_FL_IGNORE_KEY, 0};
		return ask("registering", IOC_PR_REGISTER, to);
	}
	Result<void> withdraw(std::uint64_t key)
	{
		pr_registration to{key, 0, 0, 0};
		return ask("unregistering", IOC_PR_REGISTER, to);
	}
	Result<void> preempt(std::uint64_t key, std::uint64_t victim)
	{
		pr_preempt to{key, victim, PR_WRITE_EXCLUSIVE_REG_ONLY, 0};
		return ask("preempting", IOC_PR_PREEMPT_ABORT, to);
	}
	Result<void> reserve(std::uint64_t key)
	{
		pr_reservation to{key, PR_WRITE_EXCLUSIVE_REG_ONLY, 0};
		return ask("reserving", IOC_PR_RESERVE, to);
	}

private:
	// A positive result is an enum pr_status, which linux/pr.h defines only since 6.4.
	Result<void> ask(const char *what, unsigned long request, auto &argument)
	{
		const int result = error_ ? -1 : ::ioctl(fd_, request, &argument);
		if (result == 0)
			return {};
		const int number = error_ ? error_ : result < 0 ? errno : EBUSY;
		Error error = errorFromErrno(number,
					     fmt::format("{} for writing to {}: {}", what, name_,
							 result > 0 ? "reservation conflict" : std::strerror(number)));
		error.object = ErrorObject::named(name_);
		return error;
	}

	const std::string name_;
	const int fd_;
	const int error_;
};

Error refusalOf(const Namespace &ns, const std::string &why)
{
	Error error = errorFromErrno(EBUSY, ns.name + ": " + why);
	error.object = ErrorObject::named(ns.name);
	return error;
}

Result<void> perform(Disk &disk, const FenceStep &step)
{
	if (step.enroll)
		if (Result<void> done = disk.enroll(*step.enroll); !done)
			return done;
	for (std::uint64_t victim : step.victims)
		if (Result<void> done = disk.preempt(step.key, victim); !done && done.error().sysErrno != EBUSY)
			return done; // conflict: the registrant has left; the next report shows it
	if (step.reserve)            // conflict: another host was faster; the next report shows it
		if (Result<void> done = disk.reserve(step.key); !done && done.error().sysErrno != EBUSY)
			return done;
	return {};
}

} // namespace

FenceKey FenceKey::make(const std::string &volume, std::uint64_t publication)
{
	return {mark << markShift | std::uint64_t(hashOf(volume)) << volumeShift | (publication & publicationMask)};
}

std::optional<FenceKey> FenceKey::parse(const std::string &text)
{
	FenceKey key;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key.value, 16);
	const bool whole = error == std::errc() && end == text.data() + text.size() && text.size() == 16;
	return whole && key.ours() ? std::optional(key) : std::nullopt;
}

std::string FenceKey::toString() const
{
	return fmt::format("{:016x}", value);
}

std::uint64_t FenceKey::publication() const
{
	return value & publicationMask;
}

bool FenceKey::ours() const
{
	return value >> markShift == mark;
}

bool FenceKey::sameVolume(const FenceKey &other) const
{
	return value >> volumeShift == other.value >> volumeShift;
}

// If this host has a key of a later publication, that key stays: the call for it has overtaken this one.
FenceStep nextFenceStep(const ReservationReport &report, FenceKey key)
{
	FenceStep step;
	const Registrant *self = thisHost(report);
	if (self && !FenceKey{self->key}.ours()) {
		step.refusal = "this host is registered by other software";
		return step;
	}
	const bool keeps = self && (!key.sameVolume({self->key}) || self->key >= key.value);
	step.key = keeps ? self->key : key.value;
	for (const Registrant &one : report.registrants) {
		const FenceKey other{one.key};
		if (one.thisHost)
			continue;
		if (!other.ours())
			step.refusal = fmt::format("host {} is registered by other software", one.host);
		else if (!other.sameVolume(key))
			step.refusal = fmt::format("host {} is registered for another volume", one.host);
		else if (other.publication() >= key.publication())
			step.refusal = fmt::format("host {} holds a later publication of the volume", one.host);
		if (step.refusal)
			return step;
		if (std::ranges::find(step.victims, one.key) == step.victims.end())
			step.victims.push_back(one.key);
	}
	if (!keeps)
		step.enroll = key.value;
	step.reserve = !(self && self->holds && report.type == PR_WRITE_EXCLUSIVE_REG_ONLY);
	return step;
}

Result<void> takeFence(const Namespace &ns, const std::optional<Uuid> &self, FenceKey key)
{
	constexpr int tries = 4; // other hosts may change registrations between a report and the commands that follow
	Disk disk(ns);
	std::optional<std::uint64_t> enrolled;
	Result<void> done = refusalOf(ns, "other hosts keep changing the registrations");
	for (int i = 0; i < tries; i++) {
		Result<ReservationReport> report = readReservation(ns, self);
		if (!report) {
			done = report.error();
			break;
		}
		const FenceStep step = nextFenceStep(*report, key);
		if (step.done())
			return {};
		if (step.refusal) {
			done = refusalOf(ns, *step.refusal);
			break;
		}
		if (step.enroll)
			enrolled = step.enroll;
		if (Result<void> performed = perform(disk, step); !performed) {
			done = performed.error();
			break;
		}
	}
	if (enrolled) // a registrant may write
		static_cast<void>(disk.withdraw(*enrolled));
	return done;
}

Result<void> dropFence(const Namespace &ns, const std::optional<Uuid> &self)
{
	Result<ReservationReport> report = readReservation(ns, self);
	if (!report)
		return report.error();
	const Registrant *own = thisHost(*report);
	if (!own || !FenceKey{own->key}.ours())
		return {};
	Result<void> done = Disk(ns).withdraw(own->key);
	return done || done.error().sysErrno == EBUSY ? Result<void>() : done;
}

// ---- reservation reports

namespace {

// NVMe Base 2.0, 7.4: extended data structure: a header and entries with 128-bit host identifiers
constexpr std::size_t entryBytes = 64;
constexpr std::size_t maxEntries = 1023;
constexpr std::uint8_t lastType = 6;

// Reads the report with a buffer that grows to the required size
Result<std::vector<std::uint8_t>> readReport(const Namespace &ns)
{
	const std::string node = "/dev/" + ns.name;
	int fd = ::open(node.c_str(), O_RDONLY | O_CLOEXEC);
	std::vector<std::uint8_t> report(entryBytes * 64);
	int status = fd < 0 ? -1 : 0;
	for (bool whole = false; !status && !whole;) {
		nvme_passthru_cmd cmd{};
		cmd.opcode = nofctl::wire::op_resv_report;
		cmd.nsid = ns.nsid;
		cmd.addr = reinterpret_cast<std::uintptr_t>(report.data());
		cmd.data_len = static_cast<std::uint32_t>(report.size());
		cmd.cdw10 = cmd.data_len / 4 - 1;
		cmd.cdw11 = 1;
		status = ::ioctl(fd, NVME_IOCTL_IO_CMD, &cmd);
		std::size_t needs = entryBytes * (1 + std::min(reservationEntries(report), maxEntries));
		whole = needs <= report.size();
		if (!status && !whole)
			report.resize(needs);
	}
	const Error error = reportError(ns.name, status);
	if (fd >= 0)
		::close(fd);
	return status ? Result<std::vector<std::uint8_t>>(error) : report;
}

std::string hostText(std::span<const std::uint8_t> bytes)
{
	Uuid id;
	std::ranges::copy(bytes, id.bytes.begin());
	return id.toString();
}

} // namespace

std::size_t reservationEntries(std::span<const std::uint8_t> report)
{
	return report.size() < entryBytes ? 0 : get<std::uint16_t>(report, 5);
}

std::optional<ReservationReport> parseReservation(std::span<const std::uint8_t> report, const std::optional<Uuid> &self)
{
	std::size_t entries = reservationEntries(report);
	if (report.size() < entryBytes * (1 + entries))
		return std::nullopt;
	ReservationReport is;
	is.generation = get<std::uint32_t>(report, 0);
	is.persists = report[9] != 0;
	is.type = report[4];
	if (is.type > lastType)
		return std::nullopt;
	for (std::size_t i = 1; i <= entries; i++) {
		auto entry = report.subspan(i * entryBytes, entryBytes);
		Registrant one{hostText(entry.subspan(16, 16)), get<std::uint64_t>(entry, 8), (entry[2] & 1) != 0};
		one.thisHost = self && one.host == self->toString();
		if (std::ranges::none_of(is.registrants, [&](auto &r) { return r.host == one.host; }))
			is.registrants.push_back(one);
	}
	return is;
}

Error reportError(const std::string &disk, int status)
{
	Error error = errorFromErrno(errno);
	if (status >= 0) {
		error = Error();
		error.code = ErrorCode::refused;
		error.nvmeStatus = static_cast<std::uint16_t>(status & nofctl::wire::st_type_and_code);
		error.message = "Reservation Report: " + describeStatus(*error.nvmeStatus);
	}
	error.object = ErrorObject::named(disk);
	return error;
}

Result<ReservationReport> readReservation(const Namespace &ns, const std::optional<Uuid> &self)
{
	Result<std::vector<std::uint8_t>> bytes = readReport(ns);
	if (!bytes)
		return bytes.error();
	std::optional<ReservationReport> report = parseReservation(*bytes, self);
	if (report)
		return *report;
	Error error = errorFromErrno(EPROTO, ns.name + ": the target's report of reservations is inconsistent");
	error.object = ErrorObject::named(ns.name);
	return error;
}

} // namespace nofctl::volume
