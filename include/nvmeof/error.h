// SPDX-License-Identifier: LGPL-2.1-or-later
// What went wrong, for programs (code, object, numbers) and for people (message).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/controller.h>

namespace nvmeof {

enum class ErrorCode {
	failed,           // none of the below
	invalid,          // an argument is wrong; nothing was changed
	noSuchObject,     // no subsystem, controller, namespace, path or file of that name
	alreadyConnected, // Error::object names the controller that is there
	refused,          // the target answered with an NVMe status: Error::nvmeStatus
	timedOut,
	notPermitted,
	noModule,          // the kernel module is not loaded, cannot be, or speaks another API version: Error::sysErrno
	connectionRefused, // nobody listens at that address and port
	unreachable,       // no route to the address, or its network is down
	connectionReset,   // the other side, or something in between, ended the connection
	nameResolution,    // a host name has no address, or nobody could be asked: Error::object is the name
	authentication,    // the target wants authentication or TLS, or a key is missing or wrong
	cancelled,
};

// Stable lower-case name of a code, as in JSON output: "already_connected".
const char *toString(ErrorCode code);

// What an Error is about.
struct ErrorObject {
	enum class Kind { none, subsystem, controller, nameSpace, path, file, host, module };

	Kind kind = Kind::none;
	std::string name; // nvmeof0c1; /etc/nvme/hostid; target.example; nvmeof_tcp

	bool operator==(const ErrorObject &) const = default;
	bool none() const { return kind == Kind::none; }
	// Of the driver; none, when @name is the name of none.
	static ErrorObject named(std::string name);
};

const char *toString(ErrorObject::Kind kind); // "controller", "file", ...; "none"

struct Error {
	ErrorCode code = ErrorCode::failed;
	int sysErrno = 0;                        // positive, 0 if there is none
	std::string message;                     // the kernel's own words where it gave some; no trailing newline
	std::optional<std::uint16_t> nvmeStatus; // SCT in bits 10:8, SC in bits 7:0; NVMe Base 2.0, 3.3.3.2.1
	ErrorObject object;
	// Of a connect or a wait: the state in which the controller that object names was left behind. live: connected,
	// but not all that was waited for was there. Not set: nothing is left behind.
	std::optional<ControllerState> left;
	bool made = false; // left: this call made that controller; else it was there before
};

// An Error for a positive errno; @message may be empty, then the text of the errno is used.
Error errorFromErrno(int sysErrno, std::string message = {});

// What an errno says of an attempt to connect: connectionRefused, unreachable, connectionReset, timedOut,
// authentication; else failed.
ErrorCode connectCodeOf(int sysErrno);

// The kernel's words, and where they tell of a connection that could not be made, why: "cannot connect: No route to
// host". @message may be empty, then the text of the errno is used.
std::string describeFailure(const std::string &message, int sysErrno);

// "Connect Invalid Host (status 0x184)" for a known status, else "status 0x...".
std::string describeStatus(std::uint16_t nvmeStatus);

} // namespace nvmeof
