// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listener.h"
#include "rdma_connection.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <stdexcept>
#include <system_error>

namespace target {
namespace {

[[noreturn]] void failRdma(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_storage rdmaAddress(const std::string &text, std::uint16_t port)
{
	sockaddr_storage out{};
	auto &v4 = reinterpret_cast<sockaddr_in &>(out);
	auto &v6 = reinterpret_cast<sockaddr_in6 &>(out);
	if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
		v4.sin_family = AF_INET;
		v4.sin_port = htons(port);
	} else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
		v6.sin6_family = AF_INET6;
		v6.sin6_port = htons(port);
	} else {
		throw std::invalid_argument("not a numeric address: " + text);
	}
	return out;
}

class RdmaListener : public Listener {
public:
	RdmaListener(Server &server, const std::string &address, std::uint16_t port)
		: server_(server), events_(::rdma_create_event_channel())
	{
		if (!events_)
			failRdma("rdma_create_event_channel");
		::fcntl(events_->fd, F_SETFL, O_NONBLOCK);
		auto sa = rdmaAddress(address, port);
		if (::rdma_create_id(events_.get(), &id_, nullptr, RDMA_PS_TCP))
			failRdma("rdma_create_id");
		if (::rdma_bind_addr(id_, reinterpret_cast<sockaddr *>(&sa)) || ::rdma_listen(id_, 256)) {
			::rdma_destroy_id(id_);
			failRdma("rdma_listen");
		}
	}
	~RdmaListener() override { ::rdma_destroy_id(id_); }
	RdmaListener(const RdmaListener &) = delete;
	RdmaListener &operator=(const RdmaListener &) = delete;

	std::uint16_t port() const override { return ntohs(::rdma_get_src_port(id_)); }
	int fd() const override { return events_->fd; }
	std::shared_ptr<Connection> accept() override
	{
		rdma_cm_event *event = nullptr;
		if (::rdma_get_cm_event(events_.get(), &event))
			return nullptr;
		auto &param = event->param.conn;
		auto from = static_cast<const std::uint8_t *>(param.private_data);
		ConnectRequest arrived{event->id, Bytes(from, from + (from ? param.private_data_len : 0)),
				       param.initiator_depth};
		bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
		::rdma_ack_cm_event(event);
		return request ? std::make_shared<RdmaConnection>(server_, std::move(arrived)) : nullptr;
	}

private:
	Server &server_;
	std::unique_ptr<rdma_event_channel, Deleter<rdma_destroy_event_channel>> events_;
	rdma_cm_id *id_ = nullptr;
};

} // namespace

std::unique_ptr<Listener> listenRdma(Server &server, const std::string &address, std::uint16_t port)
{
	return std::make_unique<RdmaListener>(server, address, port);
}

} // namespace target
