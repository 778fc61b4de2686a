// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the negotiated parameters, then the bytes of a connection as a service sees it. Each accepted PDU lies within
// the input, and is the same after it has been written and read again.
#include "input.h"

#include "libctl/wire/fabrics.h"
#include "libctl/wire/pdu.h"

namespace wire = nofctl::wire;

namespace {

constexpr std::size_t longest = 65536;

bool lies(Bytes part, Bytes within)
{
	return part.empty() ||
	       (part.data() >= within.data() && part.data() + part.size() <= within.data() + within.size());
}

void checkFault(const wire::Pdu &pdu)
{
	expect(pdu.length == 0, "nothing is taken of what is wrong");
	expect(pdu.fault->why && *pdu.fault->why, "a fault has words");
	expect(pdu.fault->fes >= wire::fes_header && pdu.fault->fes <= wire::fes_parameter, "and a status");
	expect(pdu.fault->fes != wire::fes_header || pdu.fault->fei < sizeof(wire::IcReq), "it points into the header");
}

// Writes the PDU with correct digests and reads it again.
void writeAgain(const wire::Pdu &pdu, const wire::PduFormat &format)
{
	wire::Bytes head(pdu.head.begin(), pdu.head.end()), out;
	const wire::PduFormat its = format.of(pdu.type());
	wire::seal(head, pdu.data.size(), its);
	wire::assemble(out, head, pdu.data, its);
	const auto again = wire::cut(out, format, longest + 256); // the alignment of the data may differ
	expect(!again.fault && again.length == out.size(), "a written PDU is valid");
	expect(!again.damaged, "undamaged");
	expect(std::ranges::equal(again.data, pdu.data), "of the same data");
	expect(std::ranges::equal(again.head.subspan(sizeof(wire::PduHeader)),
				  pdu.head.subspan(sizeof(wire::PduHeader))),
	       "and the same fields");
}

void checkPdu(const wire::Pdu &pdu, Bytes stream, const wire::PduFormat &format)
{
	expect(pdu.length <= stream.size() && pdu.length <= longest, "as long as it may be, and all there");
	expect(lies(pdu.head, stream.first(pdu.length)) && lies(pdu.data, stream.first(pdu.length)),
	       "within the stream");
	expect(pdu.head.size() == wire::headerSize(pdu.type()) && !pdu.head.empty(), "a header of its type");
	for (std::size_t cut = 0; cut < pdu.length; cut += 1 + cut / 8)
		expect(!wire::cut(stream.first(cut), format, longest).length, "not taken before it is all there");
	writeAgain(pdu, format);
	if (pdu.type() != wire::pdu_command)
		return;
	const auto connect = wire::Connect::decode(pdu.as<wire::CommandPdu>().cmd, pdu.data);
	expect(connect.has_value() == (pdu.data.size() == sizeof(wire::ConnectData)), "Connect has 1,024 bytes");
	if (!connect)
		return;
	expect(connect->subsysnqn.size() <= 256 && connect->hostnqn.size() <= 256, "names as long as their fields");
	const auto same = wire::Connect::decode(connect->command(), wire::bytesOf(connect->data()));
	expect(same && same->subsysnqn == connect->subsysnqn && same->hostnqn == connect->hostnqn &&
		       same->qid == connect->qid && same->entries == connect->entries && same->kato == connect->kato,
	       "the same when written again");
}

} // namespace

void fuzz(Input in)
{
	const auto flags = in.take<std::uint8_t>();
	const wire::PduFormat format{bool(flags & 1), bool(flags & 2), std::uint8_t(flags >> 3)};
	const auto copy = exact(in.rest()); // ends with its allocation
	Bytes stream(copy.get(), in.rest().size());
	while (!stream.empty()) {
		const auto pdu = wire::cut(stream, format, longest);
		if (pdu.fault)
			return checkFault(pdu);
		if (!pdu.length)
			return;
		checkPdu(pdu, stream, format);
		stream = stream.subspan(pdu.length);
	}
}
