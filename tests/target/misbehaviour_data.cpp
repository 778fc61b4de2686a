// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour about the data of reads (C2HData) and writes (R2T), over TCP only
#include "acts.h"
#include "tcp_connection.h"

#include <chrono>
#include <thread>

namespace target {
namespace {

using namespace acts;
using namespace std::chrono_literals;

TcpConnection *tcp(Strike &s)
{
	return dynamic_cast<TcpConnection *>(&s.conn);
}

DataPdu &data(Strike &s)
{
	return s.as<DataPdu>();
}

R2tPdu &r2t(Strike &s)
{
	return s.as<R2tPdu>();
}

bool firstOfMany(Strike &s)
{
	return s.ioRead() && data(s).offset == 0 && !(data(s).h.flags & f_last);
}

bool notFirst(Strike &s)
{
	return s.ioRead() && data(s).offset != 0;
}

// Completes the command before its data was transferred.
void completeEarly(Strike &s)
{
	auto *conn = &s.conn;
	auto cmd = *s.cmd;
	s.after = [conn, cmd] { conn->sendResponse(cmd, st_ok); };
}

// Sends an R2T for a command that must not get one.
bool strayR2t(Strike &s, bool condition, std::uint32_t length)
{
	return when(condition, [&] {
		auto *conn = tcp(s);
		auto cmd = *s.cmd;
		s.verdict = Verdict::drop;
		s.after = [conn, cmd, length] { conn->sendR2t(cmd, 999, 0, length); };
	});
}

// clang-format off
const Misbehaviour dataTable[] = {
	// Read data
	{"c2h-for-write", 6, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] {
				auto *conn = &s.conn;
				auto cmd = *s.cmd;
				s.verdict = Verdict::drop;
				s.after = [conn, cmd] { conn->sendData(cmd, Bytes(4096), 0); }; }); }},
	{"c2h-empty", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(firstOfMany(s), [&] {
				data(s).length = 0;
				data(s).h.plen = sizeof(DataPdu);
				data(s).h.pdo = sizeof(DataPdu);
				s.data->clear(); }); }},
	{"c2h-long", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(notFirst(s), [&] {
				s.data->resize(s.data->size() + 4096);
				data(s).length = data(s).length + 4096;
				data(s).h.plen = data(s).h.plen + 4096; }); }},
	{"c2h-long-huge", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(firstOfMany(s), [&] {
				data(s).length = 0xffffff00;
				data(s).h.plen = 0xffffff00 + 24; }); }},
	{"c2h-offset-ahead", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).offset = data(s).offset + 512; }); }},
	{"c2h-offset-back", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(notFirst(s), [&] { data(s).offset = 0; }); }},
	{"c2h-offset-huge", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).offset = 0xfffffe00; }); }},
	{"c2h-success-not-last", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(firstOfMany(s), [&] { data(s).h.flags |= f_success; }); }},
	{"c2h-success-early", 7, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(firstOfMany(s), [&] { data(s).h.flags |= f_success | f_last; }); }},
	{"c2h-last-early", 7, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(firstOfMany(s), [&] { data(s).h.flags |= f_last; }); }},
	{"c2h-short-last", 7, Hook::wire, io, Expect::retried, nothing,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data && header(s).flags & f_last, [&] {
				auto &pdu = *reinterpret_cast<DataPdu *>(s.raw->data());
				pdu.length = pdu.length - 512;
				pdu.h.plen = pdu.h.plen - 512;
				s.raw->resize(s.raw->size() - 512); }); }},
	{"c2h-padded", 6, Hook::wire, io, Expect::harmless, nothing,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data, [&] {
				auto &raw = *s.raw;
				raw[3] += 40; // PDO
				std::uint32_t plen = header(s).plen + 40;
				for (int i = 0; i < 4; i++)
					raw[4 + i] = static_cast<std::uint8_t>(plen >> 8 * i);
				raw.insert(raw.begin() + sizeof(DataPdu), 40, 0x5a); }); }},
	{"c2h-urgent", 6, Hook::wire, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.ioRead() && header(s).type == pdu_c2h_data, s, Verdict::urgent); }},
	{"c2h-missing-last-part", 7, Hook::c2hData, io, Expect::retried, nothing,
		[](S &s) { return verdict(notFirst(s) && (data(s).h.flags & f_last), s, Verdict::drop); }},
	{"c2h-missing-first-part", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return verdict(firstOfMany(s), s, Verdict::drop); }},
	{"c2h-none", 7, Hook::c2hData, io, Expect::retried, nothing,
		[](S &s) { return verdict(s.ioRead() && data(s).offset == 0 &&
			(data(s).h.flags & f_last), s, Verdict::drop); }},
	{"c2h-twice", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return verdict(firstOfMany(s), s, Verdict::twice); }},
	{"c2h-unknown-cid", 4, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).cid = 0xffff; }); }},
	{"c2h-old-generation", 4, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).cid = data(s).cid ^ 0x1000; }); }},
	{"c2h-pdo-small", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).h.pdo = 8; }); }},
	{"c2h-pdo-large", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).h.pdo = 252; }); }},
	{"c2h-plen-short", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).h.plen = data(s).h.plen - 512; }); }},
	{"c2h-plen-long", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).h.plen = data(s).h.plen + 512; }); }},
	{"c2h-plen-header-only", 6, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).h.plen = 24; }); }},
	{"c2h-data-digest", 9, Hook::wire, io, Expect::retried, Needs::dataDigest,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data, [&] { s.raw->back() ^= 1; }); }},
	{"c2h-data-flipped", 9, Hook::wire, io, Expect::retried, Needs::dataDigest,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data,
			[&] { (*s.raw)[s.raw->size() / 2] ^= 4; }); }},
	{"c2h-header-digest", 9, Hook::wire, io, Expect::reset, Needs::headerDigest,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data, [&] { (*s.raw)[24] ^= 1; }); }},
	{"c2h-digest-flag-missing", 9, Hook::wire, io, Expect::reset, Needs::dataDigest,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data,
			[&] { (*s.raw)[1] &= static_cast<std::uint8_t>(~f_ddgst); }); }},
	{"c2h-digest-flag-unasked", 9, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioRead(), [&] { data(s).h.flags |= f_ddgst; }); }},
	{"c2h-slow-header", 22, Hook::wire, io, Expect::harmless, nothing,
		[](S &s) { return when(s.ioRead() && header(s).type == pdu_c2h_data, [&] {
				auto *conn = tcp(s);
				Bytes rest(s.raw->begin() + 6, s.raw->end());
				s.raw->resize(6);
				s.after = [conn, rest] { std::this_thread::sleep_for(30ms); conn->sendBytes(rest); };
					}); }},
	{"c2h-half-then-rst", 7, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.ioRead(), s, Verdict::abort); }},
	{"c2h-then-close", 7, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return verdict(firstOfMany(s), s, Verdict::close); }},
	{"c2h-wrong-then-status", 7, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return when(firstOfMany(s), [&] { completeEarly(s); }); }},

	// R2T
	{"r2t-zero", 8, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).length = 0; }); }},
	{"r2t-long", 8, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).length = r2t(s).length + 512; }); }},
	{"r2t-huge", 8, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).length = 0xfffffe00; }); }},
	{"r2t-offset-ahead", 8, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).offset = 512; r2t(s).length = r2t(s).length - 512;
			}); }},
	{"r2t-offset-wraps", 8, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).offset = 0xfffff000; }); }},
	{"r2t-twice", 8, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.ioWrite(), s, Verdict::twice); }},
	{"r2t-for-read", 8, Hook::c2hData, io, Expect::reset, nothing,
		[](S &s) { return strayR2t(s, s.ioRead(), 4096); }},
	{"r2t-for-in-capsule", 8, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return strayR2t(s, s.ioWrite() && s.cmd->sgl.type == sgl_in_capsule, 4096); }},
	{"r2t-for-flush", 8, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return strayR2t(s, s.io() && s.is(op_flush), 512); }},
	{"r2t-unknown-cid", 4, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).cid = 0xffff; }); }},
	{"r2t-old-generation", 4, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).cid = r2t(s).cid ^ 0x1000; }); }},
	{"r2t-hlen", 5, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).h.hlen = 20; }); }},
	{"r2t-plen", 5, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { r2t(s).h.plen = 4120; }); }},
	{"r2t-never", 22, Hook::r2t, io, Expect::silence, nothing,
		[](S &s) { return verdict(s.ioWrite(), s, Verdict::mute); }},
	{"r2t-then-status-fault", 12, Hook::h2cData, io, Expect::error, nothing,
		[](S &s) { return failed(s.ioWrite(), s, st_write_fault | st_dnr); }},
	{"r2t-then-rst", 3, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { auto *conn = &s.conn; s.after = [conn] { conn->end(true); };
			}); }},
	{"write-done-unasked", 7, Hook::r2t, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] { s.verdict = Verdict::drop; completeEarly(s); }); }},
	{"h2c-then-close", 3, Hook::h2cData, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.ioWrite(), s, Verdict::close); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> dataMisbehaviours()
{
	return dataTable;
}

} // namespace target
