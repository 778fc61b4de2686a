// SPDX-License-Identifier: LGPL-2.1-or-later
// reservation: the reservation report of a namespace.
#include <cerrno>
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/client.h>
#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "format.h"
#include "libctl/volume/fence.h"
#include "table.h"

using namespace nvmeof;
using nofctl::volume::readReservation;
using nofctl::volume::Registrant;
using nofctl::volume::ReservationReport;

namespace {

std::string textOf(const ReservationReport &report)
{
	std::string text = report.type ? fmt::format("held: {}\n", reservationType(report)) : "not held\n";
	text += fmt::format("generation {}{}\n", report.generation,
			    report.persists ? "; registrations persist through power loss" : "");
	if (report.registrants.empty())
		return text + "no host is registered\n";
	Table table({{"HOST"}, {"KEY", Align::right}, {"HOLDS"}, {""}});
	for (const Registrant &one : report.registrants)
		table.add({one.host, fmt::format("0x{:x}", one.key), one.holds ? "yes" : "no",
			   one.thisHost ? "this host" : ""});
	return text + "\n" + table.render();
}

} // namespace

std::string reservationType(const ReservationReport &report)
{
	return reservationTypes(static_cast<std::uint8_t>(1 << report.type)).front();
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
	if (!ns->reservations) {
		Error error = errorFromErrno(EOPNOTSUPP, "the namespace does not support reservations");
		error.object = ErrorObject::named(ns->name);
		return context.fail(name, error);
	}
	Result<ReservationReport> report = readReservation(*ns, subsystem ? subsystem->hostid : std::nullopt);
	if (!report)
		return context.fail(name, report.error());
	if (context.json())
		context.print(reservationDocument(ns->name, *report));
	else
		context.out() << textOf(*report);
	return 0;
}
