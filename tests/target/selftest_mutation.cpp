// SPDX-License-Identifier: LGPL-2.1-or-later
// Random mutation: sessions are reproducible, all kinds occur, and the target survives a bad host
#include "identify.h"
#include "mutator.h"
#include "payload.h"
#include "server.h"

#include <catch2/catch.hpp>
#include <arpa/inet.h>
#include <sys/socket.h>

#include <map>

using namespace target;
using namespace std::chrono_literals;

namespace {

Bytes response(std::uint16_t cid)
{
	Bytes pdu(24);
	pdu[0] = pdu_response;
	pdu[2] = pdu[4] = 24;
	put<std::uint16_t>(pdu, 20, cid);
	return pdu;
}

Bytes dataHeader(std::uint16_t cid, std::uint32_t length)
{
	Bytes pdu(24);
	pdu[0] = pdu_c2h_data;
	pdu[1] = f_last;
	pdu[2] = pdu[3] = 24;
	put<std::uint32_t>(pdu, 4, 24 + length);
	put<std::uint16_t>(pdu, 8, cid);
	put<std::uint32_t>(pdu, 16, length);
	return pdu;
}

struct MutatedSession {
	std::vector<Bytes> sent;
	std::shared_ptr<Mutator> mutator;
};

void send(MutatedSession &to, MutatedStream &stream, Bytes head, Bytes data, const std::set<std::uint16_t> &outstanding)
{
	stream.contents(head, data);
	head.insert(head.end(), data.begin(), data.end());
	for (auto &piece : stream.wire(head, outstanding, false).pieces)
		to.sent.push_back(piece);
}

// Always sends the same PDUs: reads, answered one after another
MutatedSession play(std::uint64_t seed, std::uint64_t session, const std::set<std::uint16_t> &outstanding = {})
{
	MutatedSession played{{}, std::make_shared<Mutator>(seed, session)};
	auto stream = played.mutator->stream();
	for (std::uint16_t cid = 0; cid < 100; cid++) {
		Bytes data(512, static_cast<std::uint8_t>(cid));
		Command cmd{};
		cmd.opcode = op_identify;
		cmd.cdw10 = cid % 4;
		stream->payload(cmd, data);
		send(played, *stream, dataHeader(cid, 512), data, outstanding);
		send(played, *stream, response(cid), {}, outstanding);
	}
	return played;
}

// A host that sends commands without reading the responses
void blunder(std::uint16_t port)
{
	Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	sockaddr_in to{};
	to.sin_family = AF_INET;
	to.sin_port = htons(port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	timeval limit{0, 20000};
	::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (::connect(socket.get(), reinterpret_cast<sockaddr *>(&to), sizeof(to)))
		return;
	IcReq hello{};
	hello.h = {pdu_ic_req, 0, sizeof(hello), 0, sizeof(hello)};
	::send(socket.get(), &hello, sizeof(hello), MSG_NOSIGNAL);
	for (std::uint16_t cid = 0; cid < 20; cid++) {
		CommandPdu pdu{};
		pdu.h = {pdu_command, 0, sizeof(pdu), 0, sizeof(pdu)};
		pdu.cmd.opcode = op_fabrics;
		pdu.cmd.nsid = fc_property_get;
		pdu.cmd.cid = cid;
		::send(socket.get(), &pdu, sizeof(pdu), MSG_NOSIGNAL);
	}
	for (char buffer[4096]; ::recv(socket.get(), buffer, sizeof(buffer), 0) > 0;)
		;
}

} // namespace

TEST_CASE("mutation: a session is reproducible, and others differ")
{
	unsigned differ = 0;
	for (std::uint64_t session = 0; session < 50; session++) {
		auto one = play(7, session), two = play(7, session), other = play(8, session);
		CHECK(one.sent == two.sent);
		CHECK(one.mutator->line() == two.mutator->line());
		differ += one.sent != other.sent;
	}
	CHECK(differ > 25);
}

TEST_CASE("mutation: every kind occurs and is reported")
{
	std::map<std::size_t, std::uint64_t> sum;
	for (std::uint64_t session = 0; session < 1000; session++) {
		auto played = play(1, session);
		for (std::size_t i = 0; i < mutationKinds; i++)
			sum[i] += played.mutator->counts()[i];
		CHECK((played.mutator->total() == 0) == (played.mutator->line().find('[') == std::string::npos));
	}
	for (std::size_t i = 0; i < mutationKinds; i++) {
		INFO(toString(static_cast<Mutation>(i)));
		CHECK(sum[i] > 0);
	}
}

TEST_CASE("mutation: changes that make wrong data look right are flagged")
{
	unsigned deceived = 0, honest = 0;
	for (std::uint64_t session = 0; session < 500; session++) {
		auto played = play(3, session);
		if (!played.mutator->deceived() && played.mutator->total())
			honest++;
		if (played.mutator->deceived())
			deceived++;
	}
	CHECK(deceived > 0);
	CHECK(honest > 0);
}

TEST_CASE("mutation: a forged completion of an outstanding command is flagged")
{
	std::set<std::uint16_t> every;
	for (unsigned cid = 0; cid <= 0xffff; cid++)
		every.insert(static_cast<std::uint16_t>(cid));
	unsigned forged = 0;
	for (std::uint64_t session = 0; session < 200; session++) {
		auto played = play(3, session, every);
		if (!played.mutator->counts()[static_cast<std::size_t>(Mutation::forge)])
			continue;
		forged++;
		CHECK(played.mutator->deceived());
	}
	CHECK(forged > 0);
}

TEST_CASE("mutation: payload is changed by data structure")
{
	Random random{5};
	std::set<std::string> names;
	for (int i = 0; i < 2000; i++) {
		Command cmd{};
		cmd.opcode = op_identify;
		cmd.cdw10 = cns_ctrl;
		Bytes data(4096);
		auto text = mutatePayload(cmd, data, random);
		for (auto *name : {"MDTS", "IOCCSZ", "ICDOFF", "MAXCMD", "CNTLID", "NN", "noise"})
			if (text.find(name) != std::string::npos)
				names.insert(name);
	}
	CHECK(names.size() == 7);
	Bytes empty, tiny(3);
	mutatePayload(Command{}, empty, random);
	CHECK(empty.empty());
	for (int i = 0; i < 200; i++)
		mutatePayload(Command{}, tiny, random);
	CHECK(tiny.size() == 3);
}

TEST_CASE("mutation: seeds are parsed")
{
	CHECK(parseMutationSeed("7")->seed == 7);
	CHECK_FALSE(parseMutationSeed("7")->session);
	CHECK(parseMutationSeed("7:12")->session == 12u);
	for (auto *text : {"", "x", "7:", "7:x", "7,1", ":1"})
		CHECK_FALSE(parseMutationSeed(text));
}

TEST_CASE("mutation: the target keeps serving, session after session")
{
	std::vector<std::string> lines;
	{
		MutatedSessions sessions({11, {}}, [&lines](auto &line) { lines.push_back(line); });
		Server server;
		server.stores().add(1, 1 << 20);
		server.mutate([&sessions](bool alone) { return sessions.stream(alone); });
		auto &count = server.counters();
		for (std::uint64_t i = 0; i < 60; i++) {
			blunder(server.port());
			for (int wait = 0; (count.connections <= i || count.open) && wait < 2000; wait++)
				std::this_thread::sleep_for(1ms);
		}
		CHECK(server.counters().open == 0);
		server.mutate(nullptr);
		auto before = server.counters().connections.load();
		blunder(server.port());
		CHECK(server.counters().connections == before + 1);
	}
	REQUIRE(lines.size() == 60);
	CHECK(lines[59].starts_with("mutation 11:59:"));
}
