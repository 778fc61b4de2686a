// SPDX-License-Identifier: LGPL-2.1-or-later
// The web page and the metrics of an instance. What comes over HTTP is answered by a thread of its own; the service's
// only takes pictures for it, one at a time.
#pragma once

#include "http_server.h"
#include "serving/loop.h"
#include "status.h"

namespace cdc {

class Web {
public:
	Web(serving::Loop &loop, Service &service);
	~Web();

	// At none of them: it is off. Errors: somebody else listens there
	nvmeof::Result<void> start(const std::vector<nvmeof::Address> &addresses);

private:
	void takePicture();

	Service &service_;
	serving::Mailbox mailbox_;
	std::unique_ptr<HttpServer> server_; // null: off
	std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace cdc
