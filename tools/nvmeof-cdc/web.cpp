// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web.h"

#include <unistd.h>

#include "listening.h"

namespace cdc {

using nvmeof::Address;
using nvmeof::Result;

namespace {

bool isLoopback(const Address &address)
{
	return address.traddr == "::1" || address.traddr.starts_with("127.");
}

} // namespace

Web::Web(serving::Loop &loop, Service &service) : service_(service), mailbox_(loop)
{
	service_.onChangeEvent([this, alive = std::weak_ptr(alive_)](const ChangeEvent &changeEvent) {
		if (!alive.expired() && server_)
			server_->onChange(changeEvent);
	});
}

Web::~Web() = default;

Result<void> Web::start(const std::vector<Address> &addresses)
{
	std::vector<HttpServer::ListenSocket> doors;
	for (const Address &address : addresses) {
		Result<std::vector<int>> sockets = listenAt(address, 1);
		if (!sockets) {
			for (const HttpServer::ListenSocket &door : doors)
				::close(door.socket);
			return sockets.error();
		}
		doors.push_back({sockets->front(), isLoopback(address)});
	}
	if (doors.empty())
		return {};
	server_ = std::make_unique<HttpServer>([this] { mailbox_.post([this] { takeSnapshot(); }); });
	return server_->start(doors);
}

void Web::takeSnapshot()
{
	cdc::takeSnapshot(service_, [this, alive = std::weak_ptr(alive_)](SnapshotPtr snapshot) {
		if (!alive.expired())
			server_->take(std::move(snapshot));
	});
}

} // namespace cdc
