// SPDX-License-Identifier: LGPL-2.1-or-later
// How an orchestrator that speaks gRPC is told of an error: Documentation/cluster.md has the same table.
#pragma once

#include <nvmeof/error.h>

namespace nofctl::volume {

// Values of gRPC's status codes
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

// Somebody uses the disk, or another driver has the subsystem: in no code of the library's, as it would not mind.
bool inUse(const nvmeof::Error &error);

GrpcCode grpcCodeOf(const nvmeof::Error &error);
const char *toString(GrpcCode code); // "NOT_FOUND"

} // namespace nofctl::volume
