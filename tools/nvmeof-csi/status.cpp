// SPDX-License-Identifier: LGPL-2.1-or-later
#include "status.h"

#include "libctl/volume/grpc_code.h"

namespace csi {

grpc::Status statusOf(const nvmeof::Error &error)
{
	return {static_cast<grpc::StatusCode>(nofctl::volume::grpcCodeOf(error)), error.message};
}

} // namespace csi
