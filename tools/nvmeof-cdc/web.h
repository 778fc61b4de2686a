// SPDX-License-Identifier: LGPL-2.1-or-later
// The web page and the metrics of an instance. HTTP requests are handled in a thread of their own; the thread of the
// service only takes snapshots for it, one at a time.
#pragma once

#include "http_server.h"
#include "serving/loop.h"
#include "status.h"

namespace cdc {

class Web {
public:
	Web(serving::Loop &loop, Service &service);
	~Web();

	// Without addresses it is off. Errors: an address is in use
	nvmeof::Result<void> start(const std::vector<nvmeof::Address> &addresses);

private:
	void takeSnapshot();

	Service &service_;
	serving::Mailbox mailbox_;
	std::unique_ptr<HttpServer> server_; // null: off
	std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace cdc
