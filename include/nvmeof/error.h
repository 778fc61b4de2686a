// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors, for programs (code, object, numbers) and for display (message).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/controller.h>

namespace nvmeof {

enum class ErrorCode {
	failed,           // none of the codes below
	invalid,          // an argument is wrong; nothing changed
	noSuchObject,     // no subsystem, controller, namespace, path or file has that name
	alreadyConnected, // Error::object names the existing controller
	refused,          // the target answered with an NVMe status: Error::nvmeStatus
	timedOut,
	notPermitted,
	noModule,          // module not loaded, cannot be loaded, or has another API version: Error::sysErrno
	connectionRefused, // no service listens at that address and port
	unreachable,       // no route to the address, or its network is down
	connectionReset,   // the peer or the network closed the connection
	nameResolution,    // the host name has no address, or no resolver answered: Error::object is the name
	authentication,    // the target requires authentication or TLS, or a key is missing or wrong
	cancelled,
};

// Stable lower-case name of a code, as in JSON output: "already_connected".
const char *toString(ErrorCode code);

// The object that an Error is about.
struct ErrorObject {
	enum class Kind { none, subsystem, controller, nameSpace, path, file, host, module };

	Kind kind = Kind::none;
	std::string name; // nvmeof0c1; /etc/nvme/hostid; target.example; nvmeof_tcp

	bool operator==(const ErrorObject &) const = default;
	bool none() const { return kind == Kind::none; }
	// An object of the driver; none if @name is not the name of one.
	static ErrorObject named(std::string name);
};

const char *toString(ErrorObject::Kind kind); // "controller", "file", ...; "none"

struct Error {
	ErrorCode code = ErrorCode::failed;
	int sysErrno = 0;                        // positive, 0 if there is none
	std::string message;                     // the kernel's message if it sent one; no trailing newline
	std::optional<std::uint16_t> nvmeStatus; // SCT in bits 10:8, SC in bits 7:0; NVMe Base 2.0, 3.3.3.2.1
	ErrorObject object;
	// Set if a connect or wait failed but the controller named by object still exists: its state. live: connected,
	// but not everything that was waited for is there yet.
	std::optional<ControllerState> left;
	bool made = false; // with left: this call created the controller
};

// The Error for a positive errno. If @message is empty, the text of the errno is used.
Error errorFromErrno(int sysErrno, std::string message = {});

// The code for the errno of a connect attempt: connectionRefused, unreachable, connectionReset, timedOut,
// authentication; failed for other values.
ErrorCode connectCodeOf(int sysErrno);

// The kernel's message. If it reports a failed connect, the text of the errno is appended: "cannot connect: No route to
// host". If @message is empty, returns the text of the errno alone.
std::string describeFailure(const std::string &message, int sysErrno);

// "Connect Invalid Host (status 0x184)" for a known status, otherwise "status 0x...".
std::string describeStatus(std::uint16_t nvmeStatus);

} // namespace nvmeof
