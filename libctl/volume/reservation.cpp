// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reservation.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libctl/wire/bytes.h"
#include "libctl/wire/nvme.h"
#include "libctl/wire/status.h"

namespace nofctl::volume {

using namespace nvmeof;
using nofctl::wire::get;

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
