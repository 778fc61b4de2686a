// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Input: the bytes of a connection to the discovery service, as a valid beginning with arbitrary bytes behind it, or as
 * arbitrary bytes. Whatever the input is, the service answers with valid PDUs, and the connection ends after the host
 * has closed it.
 */
#include "input.h"

#include <atomic>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libctl/wire/pdu.h"
#include "worker.h"

using namespace cdc;
namespace wire = nofctl::wire;

namespace {

constexpr std::size_t maxPduSize = 16u << 20;

std::shared_ptr<const Views> someViews()
{
	Model model("self");
	StoreUpdate news{true, {}, 7};
	for (int i = 0; i < 5; i++) {
		Target target;
		target.nqn = "nqn.t" + std::to_string(i);
		target.traddr = "10.0.0.1";
		news.changes.push_back({target.key(), target.json().dump()});
	}
	model.apply(news);
	return std::make_shared<const Views>(model, ViewRules{Unzoned::all}, nullptr);
}

class Front {
public:
	Front() : context_({"self", "nqn.self", "serial", "0"}, {})
	{
		address_.sun_family = AF_UNIX;
		std::snprintf(address_.sun_path + 1, sizeof(address_.sun_path) - 1, "nvmeof-fuzz-%d", ::getpid());
		const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		expect(::bind(socket, reinterpret_cast<sockaddr *>(&address_), sizeof(address_)) == 0,
		       "it can be bound");
		expect(::listen(socket, 8) == 0, "and listens");
		context_.registration = [](Worker &worker, RegistrationRequest request) {
			worker.registered(request.connection, request.cid, wire::st_ok);
		};
		worker_ = std::make_unique<Worker>(context_, std::vector<int>{socket}, someViews());
	}

	int connect() const
	{
		const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		expect(::connect(socket, reinterpret_cast<const sockaddr *>(&address_), sizeof(address_)) == 0,
		       "it takes connections");
		return socket;
	}
	void settle() const
	{
		while (context_.counters.open > 0)
			std::this_thread::yield();
	}

private:
	sockaddr_un address_{};
	ServerContext context_;
	std::unique_ptr<Worker> worker_;
};

const Front &front()
{
	static Front *one = new Front; // its thread lives as long as the process
	return *one;
}

// Returns a valid beginning of a connection with this number of steps.
wire::Bytes beginning(unsigned steps, std::uint8_t digests, wire::PduFormat &format)
{
	wire::Bytes bytes;
	if (steps > 0) {
		auto request = wire::make<wire::IcReq>();
		request.digest = digests & 3;
		request.hpda = digests >> 3;
		wire::write(bytes, request);
		format = {bool(digests & 1), bool(digests & 2), 0};
	}
	if (steps > 1) {
		wire::Connect connect;
		connect.subsysnqn = wire::wellKnownDiscoveryNqn;
		connect.hostnqn = "nqn.host";
		connect.attributes = digests & 4;
		auto pdu = wire::make<wire::CommandPdu>();
		pdu.cmd = connect.command();
		pdu.cmd.sgl.type = wire::sgl_in_capsule;
		pdu.cmd.sgl.length = sizeof(wire::ConnectData);
		wire::write(bytes, pdu, format, wire::encode(connect.data()));
		pdu.cmd = wire::propertySet(wire::prop_cc, 1);
		wire::write(bytes, pdu, format);
	}
	return bytes;
}

// A command or data of the input in a well-formed PDU
void addPdu(wire::Bytes &bytes, Input &in, const wire::PduFormat &format)
{
	static constexpr std::uint8_t opcodes[] = {0x02, 0x02, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x18, 0x21, 0x7f};
	const auto kind = in.take<std::uint8_t>();
	if (kind & 1) {
		auto pdu = wire::make<wire::CommandPdu>();
		auto fields = in.take<std::array<std::uint8_t, sizeof(wire::Command)>>();
		std::memcpy(static_cast<void *>(&pdu.cmd), fields.data(), fields.size());
		pdu.cmd.opcode = opcodes[(kind >> 1) % std::size(opcodes)];
		wire::write(bytes, pdu, format, in.cut(kind & 0x80 ? in.take<std::uint16_t>() : 0));
		return;
	}
	auto pdu = wire::make<wire::DataPdu>(wire::pdu_h2c_data);
	pdu.cid = in.take<std::uint8_t>();
	pdu.ttag = 1;
	pdu.offset = in.take<std::uint16_t>();
	auto data = in.cut(in.take<std::uint16_t>());
	pdu.length = static_cast<std::uint32_t>(data.size());
	pdu.h.flags = kind & 2 ? wire::f_last : 0;
	if (!data.empty())
		wire::write(bytes, pdu, format, data);
}

void exchange(int socket, const wire::Bytes &bytes, const wire::PduFormat &format, bool known)
{
	std::size_t sent = 0;
	wire::Bytes answers;
	std::array<std::uint8_t, 65536> room;
	while (sent < bytes.size()) {
		const auto n = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			break;
		sent += n > 0 ? static_cast<std::size_t>(n) : 0;
		const auto got = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
		if (got > 0)
			wire::append(answers, std::span(room).first(static_cast<std::size_t>(got)));
	}
	::shutdown(socket, SHUT_WR);
	for (ssize_t got; (got = ::recv(socket, room.data(), room.size(), 0)) > 0;)
		wire::append(answers, std::span(room).first(static_cast<std::size_t>(got)));
	for (std::span<const std::uint8_t> rest = answers; known && !rest.empty();) {
		const wire::Pdu pdu = wire::cut(rest, format, maxPduSize);
		expect(!pdu.fault && !pdu.damaged, "the response is free of faults");
		if (pdu.length == 0)
			break; // the connection ended within this PDU
		rest = rest.subspan(pdu.length);
	}
}

} // namespace

void fuzz(Input in)
{
	const auto how = in.take<std::uint8_t>();
	wire::PduFormat format;
	wire::Bytes bytes = beginning(how & 3, in.take<std::uint8_t>(), format);
	if (how & 4)
		for (int i = 0; i < 16 && !in.empty(); i++)
			addPdu(bytes, in, format);
	wire::append(bytes, in.rest());
	const int socket = front().connect();
	exchange(socket, bytes, format, how & 3);
	::close(socket);
	front().settle();
}
