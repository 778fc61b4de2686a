// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev.h"

#include "file.h"

namespace nofctl {

namespace fs = std::filesystem;

bool udevRuns(const UdevPlaces &places)
{
	std::error_code error;
	return fs::exists(places.run / "control", error);
}

bool udevHandled(const std::string &disk, const UdevPlaces &places)
{
	std::error_code error;
	if (!fs::exists(places.dev / disk, error))
		return false;
	nvmeof::Result<std::string> number = readSmallFile(places.sys / disk / "dev"); // MAJOR:MINOR
	if (!number)
		return false;
	std::string name = "b" + number->substr(0, number->find('\n'));
	nvmeof::Result<std::string> entry = readSmallFile(places.run / "data" / name);
	// I: is the time at which the device was first handled: systemd's device database.
	return entry && (entry->starts_with("I:") || entry->find("\nI:") != entry->npos);
}

} // namespace nofctl
