// SPDX-License-Identifier: LGPL-2.1-or-later
// What went wrong, for programs (code) and for people (message).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nvmeof {

enum class ErrorCode {
	failed,           // none of the below
	invalid,          // an argument is wrong; nothing was changed
	noSuchObject,     // no subsystem, controller, namespace, path or file of that name
	alreadyConnected, // Error::object names the controller that is there
	refused,          // the target answered with an NVMe status: Error::nvmeStatus
	timedOut,
	notPermitted,
	noModule, // the kernel module is not loaded, or speaks another API version
};

// Stable lower-case name of a code, as in JSON output: "already_connected".
const char *toString(ErrorCode code);

struct Error {
	ErrorCode code = ErrorCode::failed;
	int sysErrno = 0;                        // positive, 0 if there is none
	std::string message;                     // the kernel's own words where it gave some; no trailing newline
	std::optional<std::uint16_t> nvmeStatus; // SCT in bits 10:8, SC in bits 7:0; NVMe Base 2.0, 3.3.3.2.1
	std::string object;                      // name of the object that the error is about, if known
};

// An Error for a positive errno; @message may be empty, then the text of the errno is used.
Error errorFromErrno(int sysErrno, std::string message = {});

// "Connect Invalid Host (status 0x184)" for a known status, else "status 0x...".
std::string describeStatus(std::uint16_t nvmeStatus);

} // namespace nvmeof
