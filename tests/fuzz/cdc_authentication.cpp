// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Input: commands of authentication with their messages, as a host without the key may send them to the discovery
 * service. It never authenticates itself by them, receives only messages of the protocol, and its place among
 * unfinished authentications is released in the end.
 */
#include "input.h"

#include "authenticator.h"

using namespace cdc;
namespace wire = nofctl::wire;

namespace {

constexpr std::string_view secret = "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";

wire::Command command(wire::FabricsType type, std::uint32_t length)
{
	wire::Command cmd{};
	cmd.opcode = wire::op_fabrics;
	cmd.nsid = type;
	cmd.cdw10 = wire::dhchapProtocol;
	cmd.cdw11 = length;
	return cmd;
}

// A negotiation that is accepted: all hash functions, and the NULL group, which costs no time
wire::Bytes negotiation()
{
	wire::Bytes message = nofctl::dhchapMessage(wire::auth_common, wire::dhchap_negotiate, 1, 72);
	message[wire::dhchap_at::descriptors] = 1;
	message[wire::dhchap_at::authid] = wire::spspDhchap;
	message[wire::dhchap_at::halen] = 3;
	for (std::uint8_t i = 0; i < 3; i++)
		message[wire::dhchap_at::hashes + i] = static_cast<std::uint8_t>(i + 1);
	message[wire::dhchap_at::dhlen] = 1;
	return message;
}

void check(const Answer &answer, std::uint32_t room)
{
	if (answer.status != wire::st_ok)
		return expect(answer.data.empty(), "a refused command has no data");
	expect(answer.data.size() >= wire::dhchap_at::values && answer.data.size() <= room, "a message fits");
	const std::uint8_t id = answer.data[wire::dhchap_at::id];
	expect(id == wire::dhchap_challenge || id == wire::dhchap_failure1, "a message is a challenge or a failure");
}

} // namespace

void fuzz(Input in)
{
	AuthenticationLimit limit({});
	Counters counters;
	SteadyMs now = 0;
	const auto secrets = std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{secret, secret});
	auto host = Authenticator::begin(limit, counters, {{{1, 2, 3}, {0, 1}}, 10000}, secrets,
					 {"nqn.host", "nqn.service", {}}, now);
	for (int i = 0; i < 32 && !in.empty(); i++) {
		const auto kind = in.take<std::uint8_t>();
		now += kind >> 4;
		if (kind & 1) {
			const std::uint32_t room = kind & 2 ? in.take<std::uint16_t>() : 4096;
			check(host->receive(command(wire::fc_auth_receive, room), now), room);
		} else if (kind & 2) {
			const wire::Bytes message = negotiation();
			host->send(command(wire::fc_auth_send, static_cast<std::uint32_t>(message.size())), message,
				   now);
		} else {
			const auto message = in.cut(in.take<std::uint16_t>());
			const auto length = static_cast<std::uint32_t>(message.size()) + (kind >> 2 & 1);
			host->send(command(wire::fc_auth_send, length), message, now);
		}
		expect(!host->proof(), "without the key there is no proof");
		(void)host->late(now);
	}
	host.reset();
	expect(limit.taken() == 1, "a failed or abandoned authentication keeps its place for a while");
	expect(limit.admit({}, now + 1000000), "another one is admitted");
	expect(limit.taken() == 1, "and the place of the first is released");
}
