// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour specific to NVMe/RDMA: connection manager, keys, host memory. A host cannot detect that a target writes
// too little data.
#include "misbehaviour.h"

#include "acts.h"
#include "rdma_connection.h"

namespace target {
namespace {

using namespace acts;
using namespace std::chrono_literals;

RdmaConnection *rdma(Strike &s)
{
	return static_cast<RdmaConnection *>(&s.conn);
}

bool rejected(bool condition, Strike &s, const Bytes &privateData)
{
	return when(condition, [&] {
		s.verdict = Verdict::failed;
		*s.data = privateData;
	});
}

bool rejected(bool condition, Strike &s, std::uint16_t status)
{
	return rejected(condition, s, encode(RdmaReject{0, status}));
}

bool admin(const Strike &s)
{
	return s.qid == 0;
}

template <class Fn> bool changeAccept(Strike &s, Fn &&change)
{
	auto accept = *decode<RdmaAccept>(*s.data);
	change(accept);
	*s.data = encode(accept);
	return true;
}

// Command whose data are written to host memory
bool keyedRead(const Strike &s)
{
	return s.ioRead() && s.answer->room;
}

// Command whose data were read from host memory
bool keyedWrite(const Strike &s)
{
	return s.ioWrite() && s.answer->room;
}

bool flush(const Strike &s)
{
	return s.io() && s.is(op_flush);
}

template <class Fn> bool response(bool condition, Strike &s, Fn &&change)
{
	return when(condition, [&] {
		auto cqe = s.answer->cqe();
		change(cqe);
		s.answer->setCqe(cqe);
	});
}

bool responseOf(bool condition, Strike &s, std::size_t bytes)
{
	return when(condition, [&] { s.answer->response.resize(bytes); });
}

bool invalidates(bool condition, Strike &s, std::uint32_t change)
{
	return when(condition, [&] { s.answer->invalidate = s.answer->to.key ^ change; });
}

// Writes the data to a wrong address or key.
bool writes(bool condition, Strike &s, std::uint64_t offset, std::uint32_t keyChange)
{
	return when(condition, [&] {
		s.answer->to.addr += offset;
		s.answer->to.key ^= keyChange;
	});
}

// Writes in addition to the correct data, before the response.
bool writesAlso(bool condition, Strike &s, Remote to, std::size_t bytes)
{
	return when(condition, [&] { rdma(s)->queuePair().write(to, Bytes(bytes, 0x5a)); });
}

bool reads(bool condition, Strike &s, Remote from, std::size_t bytes)
{
	return when(condition, [&] { rdma(s)->queuePair().read(from, bytes, [](const Bytes &) {}); });
}

// Acts long after the host has completed the command.
template <class Fn> bool afterwards(bool condition, Strike &s, Fn &&act)
{
	return when(condition, [&] {
		auto *conn = rdma(s);
		auto to = s.answer->to;
		auto bytes = s.answer->room;
		s.after = [conn, to, bytes, act] { conn->later(50ms, [=] { act(conn->queuePair(), to, bytes); }); };
	});
}

// Writes the data in pieces of `step` bytes, in forward or reverse order.
bool inPieces(Strike &s, std::size_t step, bool backwards)
{
	return when(keyedRead(s) && s.answer->data.size() > step, [&] {
		auto data = std::exchange(s.answer->data, {});
		auto pieces = (data.size() + step - 1) / step;
		for (std::size_t i = 0; i < pieces; i++) {
			auto at = (backwards ? pieces - 1 - i : i) * step;
			auto from = data.begin() + static_cast<std::ptrdiff_t>(at);
			auto n = std::min(step, data.size() - at);
			rdma(s)->queuePair().write({s.answer->to.addr + at, s.answer->to.key},
						   Bytes(from, from + static_cast<std::ptrdiff_t>(n)));
		}
	});
}

bool strayResponse(Strike &s, const Bytes &bytes, unsigned times = 1)
{
	return when(s.admin(op_keep_alive), [&] {
		for (unsigned i = 0; i < times; i++)
			rdma(s)->queuePair().send(bytes);
	});
}

constexpr std::uint16_t busy = 0x181; // NVMe status Controller Busy of Connect, not an RDMA reject reason
constexpr std::uint64_t far = 1ull << 30;

// clang-format off
constexpr Misbehaviour rdmaTable[] = {
	// Private data of the accept message: a host must not depend on it
	{"cm-accept-empty", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { s.data->clear(); return true; }},
	{"cm-accept-short", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { s.data->resize(3); return true; }},
	{"cm-accept-long", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { s.data->resize(150, 0xff); return true; }},
	{"cm-accept-recfmt", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { return changeAccept(s, [](auto &a) { a.recfmt = 0xffff; }); }},
	{"cm-accept-crqsize-zero", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { return changeAccept(s, [](auto &a) { a.crqsize = 0; }); }},
	{"cm-accept-crqsize-one", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { return changeAccept(s, [](auto &a) { a.crqsize = 1; }); }},
	{"cm-accept-crqsize-huge", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { return changeAccept(s, [](auto &a) { a.crqsize = 0xffff; }); }},
	{"cm-accept-noise", 21, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { return changeAccept(s, [](auto &a) { std::ranges::fill(a.reserved, 0xff); }); }},

	// Rejects, one per reason
	{"cm-reject-length", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_length); }},
	{"cm-reject-recfmt", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_recfmt); }},
	{"cm-reject-qid", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_qid); }},
	{"cm-reject-hsqsize", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_hsqsize); }},
	{"cm-reject-hrqsize", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_hrqsize); }},
	{"cm-reject-ird", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_ird); }},
	{"cm-reject-ord", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_ord); }},
	{"cm-reject-cntlid", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(!admin(s), s, rj_cntlid); }},
	{"cm-reject-unknown", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, 0xffff); }},
	{"cm-reject-zero", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, std::uint16_t(0)); }},
	{"cm-reject-of-other-format", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, encode(RdmaReject{7, rj_qid})); }},
	{"cm-reject-empty", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, Bytes()); }},
	{"cm-reject-one-byte", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, Bytes(1, rj_qid)); }},
	{"cm-reject-long", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, Bytes(140, 0x03)); }},
	{"cm-reject-io-hsqsize", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(!admin(s), s, rj_hsqsize); }},
	{"cm-reject-last-queue", 22, Hook::cmAccept, connecting, Expect::harmless, nothing,
		[](S &s) { return rejected(s.qid == 2, s, rj_qid); }},
	// Retried until the connect timeout
	{"cm-reject-resources-never", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, rj_resources); }},
	{"cm-reject-busy-never", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(true, s, busy); }},
	{"cm-reject-io-busy-never", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return rejected(!admin(s), s, busy); }},

	// No answer, or a disconnect, at each step of a connect
	{"cm-answer-never", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::drop); }},
	{"cm-answer-io-never", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(!admin(s), s, Verdict::drop); }},
	{"cm-accept-then-close", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::close); }},
	{"cm-accept-then-close-io", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(!admin(s), s, Verdict::close); }},
	{"cm-gone-unanswered", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::abort); }},
	{"cm-gone-unanswered-io", 22, Hook::cmAccept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(!admin(s), s, Verdict::abort); }},
	{"cm-connect-close", 22, Hook::answer, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.is(op_fabrics) && s.cmd->fctype() == fc_connect, s, Verdict::abort); }},
	{"cm-connect-never", 22, Hook::answer, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.is(op_fabrics) && s.cmd->fctype() == fc_connect, s, Verdict::mute); }},

	// Responses
	{"rdma-response-empty", 5, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return responseOf(s.io(), s, 0); }},
	{"rdma-response-short", 5, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return responseOf(s.io(), s, 8); }},
	{"rdma-response-15", 5, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return responseOf(s.io(), s, 15); }},
	{"rdma-response-17", 5, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return responseOf(s.io(), s, 17); }},
	{"rdma-response-long", 5, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return responseOf(s.io(), s, 64); }},
	{"rdma-cid-unknown", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return response(s.io(), s, [](auto &c) { c.cid = 0x0fff; }); }},
	{"rdma-cid-ffff", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return response(s.io(), s, [](auto &c) { c.cid = 0xffff; }); }},
	{"rdma-cid-old-generation", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return response(s.io(), s, [](auto &c) { c.cid = c.cid ^ 0x1000; }); }},
	{"rdma-sqhd-wild", 29, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return response(s.io(), s, [](auto &c) { c.sqhd = 0xfffe; }); }},
	{"rdma-flush-twice", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return verdict(flush(s), s, Verdict::twice); }},
	{"rdma-read-twice", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return verdict(keyedRead(s), s, Verdict::twice); }},
	{"rdma-write-twice", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.ioWrite(), s, Verdict::twice); }},
	{"rdma-late-copy", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] {
				auto *conn = rdma(s);
				auto bytes = s.answer->response;
				s.after = [conn, bytes] { conn->later(50ms, [=] {
					conn->queuePair().send(bytes); }); }; }); }},
	{"rdma-too-many-responses", 4, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(flush(s), [&] { s.answer->sends = 1000; }); }},
	{"rdma-response-unasked", 4, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return strayResponse(s, Bytes(16)); }},
	{"rdma-response-unasked-empty", 5, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return strayResponse(s, Bytes()); }},
	{"rdma-responses-unasked", 4, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return strayResponse(s, Bytes(16, 0xff), 1000); }},

	// Keys to invalidate remotely
	{"rdma-invalidate-not", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->invalidate.reset(); }); }},
	{"rdma-invalidate-not-write", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return when(keyedWrite(s), [&] { s.answer->invalidate.reset(); }); }},
	{"rdma-invalidate-stale", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return invalidates(keyedRead(s), s, 1); }},
	{"rdma-invalidate-stale-write", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return invalidates(keyedWrite(s), s, 1); }},
	{"rdma-invalidate-foreign", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return invalidates(keyedRead(s), s, 0x100); }},
	{"rdma-invalidate-unknown", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return invalidates(keyedRead(s), s, 0xffffff00); }},
	{"rdma-invalidate-zero", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->invalidate = 0; }); }},
	{"rdma-invalidate-of-flush", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(flush(s), [&] { s.answer->invalidate = 0x1234; }); }},
	{"rdma-invalidate-of-capsule", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite() && !s.answer->room, [&] { s.answer->invalidate = 0x1234; }); }},

	// Writes to host memory
	{"rdma-write-beyond", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->data.resize(s.answer->room + 512); }); }},
	{"rdma-write-one-beyond", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->data.resize(s.answer->room + 1); }); }},
	{"rdma-write-before", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return writes(keyedRead(s), s, ~0ull, 0); }},
	{"rdma-write-far", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return writes(keyedRead(s), s, far, 0); }},
	{"rdma-write-nowhere", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->to.addr = 0; }); }},
	{"rdma-write-wraps", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->to.addr = ~0ull - 100; }); }},
	{"rdma-write-key-stale", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return writes(keyedRead(s), s, 0, 1); }},
	{"rdma-write-key-foreign", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return writes(keyedRead(s), s, 0, 0x100); }},
	{"rdma-write-key-zero", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] { s.answer->to.key = 0; }); }},
	{"rdma-write-of-write", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return writesAlso(keyedWrite(s), s, s.answer->to, 512); }},
	{"rdma-write-of-flush", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return writesAlso(flush(s), s, {0x1000, 0x100}, 512); }},
	{"rdma-write-after", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return afterwards(keyedRead(s), s, [](auto &qp, auto to, auto bytes) {
				qp.write(to, Bytes(bytes, 0x5a)); }); }},
	{"rdma-write-after-kept-key", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { s.answer->invalidate.reset();
			return afterwards(keyedRead(s), s, [](auto &qp, auto to, auto bytes) {
				qp.write(to, Bytes(bytes, 0x5a)); }); }},
	{"rdma-write-data-twice", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return when(keyedRead(s), [&] {
				rdma(s)->queuePair().write(s.answer->to, s.answer->data); }); }},
	{"rdma-write-overwritten", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return writesAlso(keyedRead(s), s, s.answer->to, s.answer->room); }},
	{"rdma-write-in-pieces", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return inPieces(s, 1000, false); }},
	{"rdma-write-backwards", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return inPieces(s, 512, true); }},
	{"rdma-write-and-refused", 30, Hook::answer, io, Expect::error, nothing,
		[](S &s) { return response(keyedRead(s), s, [](auto &c) {
				c.status = static_cast<std::uint16_t>((st_internal | st_dnr) << 1); }); }},

	// Reads of host memory
	{"rdma-read-beyond", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return reads(keyedWrite(s), s, s.answer->to, s.answer->room + 512); }},
	{"rdma-read-before", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return reads(keyedWrite(s), s, {s.answer->to.addr - 512, s.answer->to.key}, 512); }},
	{"rdma-read-nowhere", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return reads(keyedWrite(s), s, {0, s.answer->to.key}, 512); }},
	{"rdma-read-key-stale", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return reads(keyedWrite(s), s, {s.answer->to.addr, s.answer->to.key ^ 1}, 512); }},
	{"rdma-read-of-read", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return reads(keyedRead(s), s, s.answer->to, 512); }},
	{"rdma-read-of-flush", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return reads(flush(s), s, {0x1000, 0x100}, 512); }},
	{"rdma-read-after", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return afterwards(keyedWrite(s), s, [](auto &qp, auto to, auto) {
				qp.read(to, 512, [](const Bytes &) {}); }); }},
	{"rdma-read-after-kept-key", 30, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { s.answer->invalidate.reset();
			return afterwards(keyedWrite(s), s, [](auto &qp, auto to, auto) {
				qp.read(to, 512, [](const Bytes &) {}); }); }},
	{"rdma-read-again", 30, Hook::answer, io, Expect::harmless, nothing,
		[](S &s) { return reads(keyedWrite(s), s, s.answer->to, s.answer->room); }},

	// No answer, or a disconnect
	{"rdma-answer-never", 22, Hook::answer, io, Expect::silence, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::mute); }},
	{"rdma-answer-lost", 22, Hook::answer, io, Expect::silence, nothing,
		[](S &s) { return verdict(keyedRead(s), s, Verdict::drop); }},
	{"rdma-data-without-answer", 22, Hook::answer, io, Expect::silence, nothing,
		[](S &s) { return when(keyedRead(s), [&] {
				rdma(s)->queuePair().write(s.answer->to, s.answer->data);
				s.verdict = Verdict::drop; }); }},
	{"rdma-gone-before-answer", 3, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::abort); }},
	{"rdma-gone-with-data", 3, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(keyedRead(s), [&] {
				rdma(s)->queuePair().write(s.answer->to, s.answer->data);
				s.verdict = Verdict::abort; }); }},
	{"rdma-gone-after-answer", 3, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::close); }},
	{"rdma-gone-before-write", 3, Hook::command, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.ioWrite() && s.cmd->sgl.type != sgl_in_capsule, s, Verdict::abort); }},
	{"rdma-gone-idle", 3, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return verdict(s.admin(op_keep_alive), s, Verdict::abort); }},
	{"rdma-queue-pair-error", 3, Hook::answer, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] { rdma(s)->queuePair().fail(); }); }},
	{"rdma-queue-pair-error-idle", 3, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return when(s.admin(op_keep_alive), [&] { rdma(s)->queuePair().fail(); }); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> rdmaMisbehaviours()
{
	return rdmaTable;
}

} // namespace target
