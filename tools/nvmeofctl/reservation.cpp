// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reservation.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <ostream>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nvmeof/client.h>
#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "format.h"
#include "libctl/wire/bytes.h"
#include "libctl/wire/nvme.h"
#include "table.h"

using namespace nvmeof;
using nofctl::wire::get;

namespace {

// NVMe Base 2.0, 7.4: the header and the entries, with 128-bit identifiers
constexpr std::size_t entryBytes = 64;
constexpr std::size_t mostEntries = 1023;

// What the target says, as many bytes as it needs for that
Result<std::vector<std::uint8_t>> readReport(const Namespace &ns)
{
	std::string node = deviceOf(ns);
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
		std::size_t needs = entryBytes * (1 + std::min(reservationEntries(report), mostEntries));
		whole = needs <= report.size();
		if (!status && !whole)
			report.resize(needs);
	}
	Error error = errorFromErrno(status < 0 ? errno : EOPNOTSUPP);
	if (fd >= 0)
		::close(fd);
	if (!status)
		return report;
	if (status > 0)
		error.message = fmt::format("Reservation Report: the target refused it, status 0x{:x}", status & 0x7ff);
	error.object = ErrorObject::named(ns.name);
	return error;
}

std::string textOf(const ReservationReport &report)
{
	std::string text = report.type.empty() ? "not held\n" : fmt::format("held: {}\n", report.type);
	text += fmt::format("generation {}{}\n", report.generation,
			    report.persists ? "; registrations outlive a loss of power" : "");
	if (report.registrants.empty())
		return text + "nobody is registered\n";
	Table table({{"HOST"}, {"KEY", Align::right}, {"HOLDS"}, {""}});
	for (const Registrant &one : report.registrants)
		table.add({one.host, fmt::format("0x{:x}", one.key), one.holds ? "yes" : "no",
			   one.thisHost ? "this host" : ""});
	return text + "\n" + table.render();
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
	if (report[4] > 6)
		return std::nullopt;
	if (report[4])
		is.type = reservationTypes(static_cast<std::uint8_t>(1 << report[4])).front();
	for (std::size_t i = 1; i <= entries; i++) {
		auto entry = report.subspan(i * entryBytes, entryBytes);
		Registrant one{hostText(entry.subspan(16, 16)), get<std::uint64_t>(entry, 8), (entry[2] & 1) != 0};
		one.thisHost = self && one.host == self->toString();
		if (std::ranges::none_of(is.registrants, [&](auto &r) { return r.host == one.host; }))
			is.registrants.push_back(one);
	}
	return is;
}

int runReservation(Context &context)
{
	std::string name = context.args().textOr("NAME", "");
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(name, client.error());
	Result<Namespace> ns = client->nameSpace(plainName(name));
	if (!ns)
		return context.fail(name, ns.error());
	Result<Subsystem> subsystem = client->subsystem(fmt::format("nvmeof{}", ns->subsystem));
	if (!ns->reservations)
		return context.fail(name, errorFromErrno(EOPNOTSUPP), "the namespace offers no reservations");
	Result<std::vector<std::uint8_t>> bytes = readReport(*ns);
	if (!bytes)
		return context.fail(name, bytes.error());
	auto report = parseReservation(*bytes, subsystem ? subsystem->hostid : std::nullopt);
	if (!report)
		return context.fail(name, errorFromErrno(EPROTO), "the target's report of reservations cannot be");
	if (context.json())
		context.print(reservationDocument(ns->name, *report));
	else
		context.out() << textOf(*report);
	return 0;
}
