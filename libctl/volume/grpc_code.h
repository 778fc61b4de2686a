// SPDX-License-Identifier: LGPL-2.1-or-later
// gRPC status codes for errors reported to an orchestrator. The same table is in Documentation/cluster.md.
#pragma once

#include <nvmeof/error.h>

namespace nofctl::volume {

// Values of the gRPC status codes
enum class GrpcCode {
	ok = 0,
	cancelled = 1,
	invalidArgument = 3,
	deadlineExceeded = 4,
	notFound = 5,
	alreadyExists = 6,
	permissionDenied = 7,
	failedPrecondition = 9,
	internal = 13,
	unavailable = 14,
	unauthenticated = 16,
};

// The disk is in use, or another driver is connected to the subsystem. ErrorCode has no value for this.
bool inUse(const nvmeof::Error &error);

GrpcCode grpcCodeOf(const nvmeof::Error &error);
const char *toString(GrpcCode code); // "NOT_FOUND"

} // namespace nofctl::volume
