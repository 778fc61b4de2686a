// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tcp_connection.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace target {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t maxPdu = 4 << 20;

} // namespace

TcpConnection::TcpConnection(Server &server, Fd socket) : Connection(server), socket_(std::move(socket)) {}
TcpConnection::~TcpConnection() = default;

bool TcpConnection::begin(Verdict verdict)
{
	mutated_ = server_.mutatedStream();
	if (verdict != Verdict::pass)
		misbehave(verdict);
	return true;
}

void TcpConnection::close(bool rst)
{
	linger hard{1, 0};
	if (rst)
		::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	socket_.reset();
}

std::uint64_t TcpConnection::unreadBytes() const
{
	std::lock_guard guard(const_cast<std::mutex &>(lock_));
	int n = 0;
	if (!socket_ || ::ioctl(socket_.get(), FIONREAD, &n))
		return 0;
	return static_cast<std::uint64_t>(n);
}

bool TcpConnection::exchange(bool stalled, int timeout)
{
	pollfd fds[] = {{socket_.get(), static_cast<short>(stalled ? 0 : POLLIN), 0}, {wake_.fd(), POLLIN, 0}};
	::poll(fds, 2, timeout);
	wake_.clear();
	if (!fds[0].revents)
		return true;
	if (stalled) {
		// closed by the peer while its data must stay unread: avoids spinning
		std::this_thread::sleep_for(5ms);
		return true;
	}
	return receive();
}

// Whether the peer begins the connection with a TLS record, where the configuration admits that
bool TcpConnection::startsTls() const
{
	constexpr std::uint8_t handshakeRecord = 22; // RFC 8446, 5.1; an ICReq begins with 0
	const auto &how = server_.config().authentication;
	std::uint8_t first = 0;
	return how && how->channel && !icDone_ && !tls_ && rx_.empty() &&
	       ::recv(socket_.get(), &first, 1, MSG_PEEK) == 1 && first == handshakeRecord;
}

bool TcpConnection::startTls()
{
	Strike strike{*this};
	server_.script().offer(Hook::tls, strike);
	if (strike.verdict == Verdict::pass) {
		tls_ = std::make_unique<TlsSession>(
			socket_.get(), [this](const std::string &identity) { return server_.generatedKey(identity); });
		return tls_->handshake([this] { return !ending_; });
	}
	misbehave(strike.verdict);
	if (strike.after)
		strike.after();
	// what the peer goes on to send is not understood
	std::array<std::uint8_t, 4096> chunk;
	while (!ending_) {
		pollfd fds[] = {{socket_.get(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
		::poll(fds, 2, 200);
		const auto n = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
	}
	return false;
}

bool TcpConnection::receive()
{
	if (startsTls() && !startTls())
		return false;
	std::array<std::uint8_t, 65536> chunk;
	for (;;) {
		const auto n = tls_ ? tls_->receive(chunk) : ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		append(rx_, std::span(chunk).first(static_cast<std::size_t>(n)));
		if (!parse())
			return false;
		if (!tls_) // of TLS, the next record may be in memory, where poll() does not see it
			return true;
	}
}

bool TcpConnection::parse()
{
	std::size_t at = 0;
	bool good = true;
	while (good && !ending_ && !(inputDeferred_ = silent())) {
		auto pdu = cut(std::span(rx_).subspan(at), format_, maxPdu);
		if (!pdu.length && !pdu.fault)
			break;
		at += pdu.length;
		good = takePdu(pdu);
	}
	rx_.erase(rx_.begin(), rx_.begin() + static_cast<std::ptrdiff_t>(at));
	return good && !ending_;
}

bool TcpConnection::takePdu(const Pdu &pdu)
{
	if (pdu.damaged || (pdu.fault && pdu.fault->fes == fes_digest))
		server_.counters().digestErrors++;
	if (pdu.fault)
		return reportViolation(pdu.fault->why);
	if (pdu.damaged)
		return reportViolation("data digest");
	if (pdu.type() == pdu_ic_req)
		return !icDone_ ? takeIcReq(pdu.as<IcReq>()) : reportViolation("second ICReq");
	if (pdu.type() == pdu_h2c_term) {
		server_.counters().terms++;
		return false;
	}
	if (!icDone_)
		return reportViolation("PDU before ICReq");
	if (pdu.type() == pdu_command)
		return takeCommand(pdu);
	if (pdu.type() == pdu_h2c_data)
		return takeH2cData(pdu);
	return reportViolation("PDU type " + std::to_string(pdu.type()));
}

bool TcpConnection::takeIcReq(const IcReq &req)
{
	if (req.pfv != 0 || req.hpda > 31)
		return reportViolation("ICReq fields");
	auto digest = static_cast<std::uint8_t>(server_.config().allowDigests ? req.digest & 3 : 0);
	icDone_ = true;
	auto resp = make<IcResp>();
	resp.digest = digest;
	resp.maxh2cdata = server_.config().maxH2cData;
	sendPdu(encode(resp), {}, nullptr, Hook::icResp);
	format_ = {bool(digest & 1), bool(digest & 2), req.hpda};
	return true;
}

bool TcpConnection::takeCommand(const Pdu &pdu)
{
	return take(pdu.as<CommandPdu>().cmd, Bytes(pdu.data.begin(), pdu.data.end()));
}

bool TcpConnection::dataAtHost(const Command &cmd) const
{
	return cmd.sgl.length && cmd.sgl.type == sgl_transport;
}

void TcpConnection::fetch(const Command &cmd)
{
	if (cmd.sgl.length > maxPdu) {
		reportViolation("transfer length");
		end();
		return;
	}
	do {
		lastTtag_++;
	} while (transfers_.contains(lastTtag_));
	auto &t = transfers_[lastTtag_];
	t.cmd = cmd;
	t.data.resize(cmd.sgl.length);
	askMore(lastTtag_, t);
}

void TcpConnection::askMore(std::uint16_t ttag, Transfer &t)
{
	auto length =
		std::min<std::uint32_t>(server_.config().r2tBytes, static_cast<std::uint32_t>(t.data.size()) - t.asked);
	auto offset = t.asked;
	t.asked += length;
	sendR2t(t.cmd, ttag, offset, length);
}

void TcpConnection::sendR2t(const Command &cmd, std::uint16_t ttag, std::uint32_t offset, std::uint32_t length)
{
	auto pdu = make<R2tPdu>();
	pdu.cid = cmd.cid;
	pdu.ttag = ttag;
	pdu.offset = offset;
	pdu.length = length;
	server_.counters().r2ts++;
	sendPdu(encode(pdu), {}, &cmd, Hook::r2t);
}

bool TcpConnection::takeH2cData(const Pdu &pdu)
{
	auto p = pdu.as<DataPdu>();
	auto at = transfers_.find(p.ttag);
	if (at == transfers_.end() || at->second.cmd.cid != p.cid)
		return reportViolation("H2CData for no transfer");
	auto &t = at->second;
	if (p.offset != t.received || p.length > t.asked - t.received || p.length > server_.config().maxH2cData)
		return reportViolation("H2CData range " + std::to_string(p.offset) + "+" + std::to_string(p.length));
	std::ranges::copy(pdu.data, t.data.begin() + static_cast<std::ptrdiff_t>(t.received));
	t.received += p.length;
	if (bool(p.h.flags & f_last) != (t.received == t.asked))
		return reportViolation("LAST flag of H2CData");

	Strike strike{*this, qid_, &t.cmd, nullptr, &t.data};
	server_.script().offer(Hook::h2cData, strike);
	Bytes none;
	if (strike.verdict == Verdict::failed)
		sendResponse(t.cmd, strike.status);
	else if (strike.verdict != Verdict::pass)
		applyVerdict(strike.verdict, none);
	if (strike.verdict == Verdict::failed)
		t.cmd.opcode = 0xff; // the remaining data are dropped
	if (t.received < t.asked || t.cmd.opcode == 0xff)
		return true;
	if (t.asked < t.data.size()) {
		askMore(p.ttag, t);
		return true;
	}
	auto done = std::move(t);
	transfers_.erase(at);
	dispatch(done.cmd, std::move(done.data));
	return true;
}

void TcpConnection::change(const Command &cmd, Bytes &data)
{
	if (mutated_)
		mutated_->payload(cmd, data);
}

void TcpConnection::sendData(const Command &cmd, const Bytes &data, std::uint64_t result)
{
	// without a completion there is no result
	bool success = !result && server_.config().successFlag && (!sqFlow_ || server_.config().successAlways);
	auto step = server_.config().c2hBytes;
	for (std::size_t at = 0; at < data.size() && !ending_; at += step) {
		auto n = std::min<std::size_t>(step, data.size() - at);
		bool last = at + n == data.size();
		auto pdu = make<DataPdu>(pdu_c2h_data);
		pdu.h.flags = static_cast<std::uint8_t>(last ? f_last | (success ? f_success : 0) : 0);
		pdu.cid = cmd.cid;
		pdu.offset = static_cast<std::uint32_t>(at);
		pdu.length = static_cast<std::uint32_t>(n);
		auto from = data.begin() + static_cast<std::ptrdiff_t>(at);
		if (last && success)
			inflight_.erase(cmd.cid);
		sendPdu(encode(pdu), Bytes(from, from + static_cast<std::ptrdiff_t>(n)), &cmd, Hook::c2hData);
	}
	if (!success)
		sendResponse(cmd, st_ok, result);
}

void TcpConnection::sendCompletion(const Command &cmd, Completion cqe)
{
	auto pdu = make<ResponsePdu>();
	pdu.cqe = cqe;
	sendPdu(encode(pdu), {}, &cmd, Hook::response);
}

void TcpConnection::sendPdu(Bytes head, Bytes data, const Command *cmd, Hook hook)
{
	seal(head, data.size(), format_);
	Strike strike{*this, qid_, cmd, &head, &data};
	server_.script().offer(hook, strike);
	if (mutated_)
		mutated_->contents(head, data);
	Bytes raw;
	assemble(raw, head, data, format_);
	Strike wire{*this, qid_, cmd, &head, &data, &raw};
	server_.script().offer(Hook::wire, wire);
	if (mutated_)
		sendMutated(std::move(raw));
	else
		applyVerdict(strike.verdict == Verdict::pass ? wire.verdict : strike.verdict, raw);
	for (auto *s : {&strike, &wire})
		if (s->after)
			s->after();
}

void TcpConnection::misbehave(Verdict verdict)
{
	Bytes none;
	applyVerdict(verdict, none);
}

void TcpConnection::applyVerdict(Verdict verdict, Bytes &raw)
{
	switch (verdict) {
	case Verdict::twice:
		sendBytes(raw);
		[[fallthrough]];
	case Verdict::pass:
		sendBytes(raw);
		break;
	case Verdict::close:
		sendBytes(raw);
		end();
		break;
	case Verdict::urgent:
		::send(socket_.get(), raw.data(), raw.size(), MSG_OOB | MSG_NOSIGNAL);
		break;
	case Verdict::abort:
		sendBytes(std::span(raw).first(raw.size() / 2));
		end(true);
		break;
	case Verdict::slow:
		sendSlowly(raw, 200ms);
		break;
	case Verdict::crawl:
		sendSlowly(raw, 1s);
		break;
	case Verdict::mute:
		mute_ = true;
		break;
	case Verdict::drop:
	case Verdict::hold:
	case Verdict::failed:
		break;
	}
}

void TcpConnection::sendSlowly(std::span<const std::uint8_t> bytes, std::chrono::milliseconds pause)
{
	for (std::size_t i = 0; i < bytes.size() && !ending_; i++) {
		sendBytes(bytes.subspan(i, 1));
		pollfd fds[] = {{socket_.get(), 0, 0}, {wake_.fd(), POLLIN, 0}};
		::poll(fds, 2, static_cast<int>(pause.count()));
	}
}

void TcpConnection::sendMutated(Bytes raw)
{
	auto out = mutated_->wire(std::move(raw), inflight_, format_.dataDigest);
	if (out.delay.count())
		std::this_thread::sleep_for(out.delay);
	for (auto &piece : out.pieces)
		sendBytes(piece);
	if (out.event)
		server_.sendEvent(*out.event);
	if (out.close)
		end(out.reset);
}

void TcpConnection::sendBytes(std::span<const std::uint8_t> bytes)
{
	if (mute_)
		return;
	while (!bytes.empty() && !ending_) {
		auto n = tls_ ? tls_->send(bytes) : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (n > 0) {
			bytes = bytes.subspan(static_cast<std::size_t>(n));
		} else if (errno == EAGAIN) {
			pollfd fd{socket_.get(), POLLOUT, 0};
			::poll(&fd, 1, 100);
		} else if (errno != EINTR) {
			ending_ = true;
		}
	}
}

} // namespace target
