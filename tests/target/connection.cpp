// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connection.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace target {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_pdu = 4 << 20;

} // namespace

Connection::Connection(Server &server, Fd socket) : server_(server), socket_(std::move(socket)) {}
Connection::~Connection() = default;

void Connection::run()
{
	mutated_ = server_.mutatedStream();
	Strike strike{*this};
	server_.script().offer(Hook::accept, strike);
	Bytes none;
	if (strike.verdict != Verdict::pass)
		applyVerdict(strike.verdict, none);
	while (pump())
		;
	if (assoc_ && qid_ == 0) {
		std::lock_guard guard(assoc_->lock);
		assoc_->admin = nullptr;
		server_.associations().remove(*assoc_);
	}
	std::lock_guard guard(lock_);
	linger hard{1, 0};
	if (rst_)
		::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	socket_.reset();
}

void Connection::end(bool rst)
{
	rst_ = rst;
	ending_ = true;
	wake_.set();
}

void Connection::post(std::function<void()> fn)
{
	std::lock_guard guard(lock_);
	posted_.push_back(std::move(fn));
	wake_.set();
}

std::uint64_t Connection::unreadBytes() const
{
	std::lock_guard guard(const_cast<std::mutex &>(lock_));
	int n = 0;
	if (!socket_ || ::ioctl(socket_.get(), FIONREAD, &n))
		return 0;
	return static_cast<std::uint64_t>(n);
}

int Connection::pollTimeout() const
{
	auto wait = Clock::duration(200ms);
	if (!due_.empty())
		wait = std::min(wait, due_.begin()->first - Clock::now());
	auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
	return ms < 0 ? 0 : static_cast<int>(ms);
}

// One turn: what is due, what was posted, what has arrived. False: the connection is over.
bool Connection::pump()
{
	bool quiet = silent();
	if (!quiet) {
		fireDue();
		runPosted();
		if (std::exchange(unheard_, false) && !parse())
			return false;
	}
	if (ending_ || expired())
		return false;
	bool stalled = quiet || (server_.readsStalled() && qid_ != 0);
	pollfd fds[] = {{socket_.get(), static_cast<short>(stalled ? 0 : POLLIN), 0}, {wake_.fd(), POLLIN, 0}};
	::poll(fds, 2, quiet ? 50 : pollTimeout());
	wake_.clear();
	if (!fds[0].revents)
		return true;
	if (stalled) {
		// closed by the peer, and what it has sent is to stay unread for now
		std::this_thread::sleep_for(5ms);
		return true;
	}
	return receive();
}

void Connection::fireDue()
{
	while (!due_.empty() && due_.begin()->first <= Clock::now()) {
		auto fn = std::move(due_.begin()->second);
		due_.erase(due_.begin());
		fn();
	}
}

void Connection::runPosted()
{
	std::vector<std::function<void()>> now;
	{
		std::lock_guard guard(lock_);
		now.swap(posted_);
	}
	for (auto &fn : now)
		fn();
}

// An association ends with its admin queue, and when the host shows no sign of life; Base 2.0, 3.9.
bool Connection::expired()
{
	if (!assoc_)
		return false;
	if (assoc_->dead)
		return true;
	if (qid_ != 0) // what a stalled connection has received is kept for the test to look at
		return !server_.readsStalled() && server_.associations().find(assoc_->cntlid) != assoc_;
	if (silent())
		return server_.config().enforceKeepAlive && Clock::now() >= assoc_->quietAt();
	std::lock_guard guard(assoc_->lock);
	auto limit = assoc_->kato.count() ? assoc_->kato : assoc_->idle;
	auto grace = limit + limit / 2 + 1s; // a guest under TCG is slow
	return server_.config().enforceKeepAlive && limit.count() && Clock::now() - assoc_->lastSign > grace;
}

// A controller behind a network that loses everything
bool Connection::silent() const
{
	return server_.silent() || (assoc_ && assoc_->silent);
}

bool Connection::receive()
{
	std::array<std::uint8_t, 65536> chunk;
	auto n = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	append(rx_, std::span(chunk).first(static_cast<std::size_t>(n)));
	return parse();
}

bool Connection::parse()
{
	std::size_t at = 0;
	bool good = true;
	while (good && !ending_ && !(unheard_ = silent())) {
		auto pdu = cut(std::span(rx_).subspan(at), format_, max_pdu);
		if (!pdu.length && !pdu.fault)
			break;
		at += pdu.length;
		good = takePdu(pdu);
	}
	rx_.erase(rx_.begin(), rx_.begin() + static_cast<std::ptrdiff_t>(at));
	return good && !ending_;
}

bool Connection::broken(const std::string &text)
{
	server_.violation("queue " + std::to_string(qid_) + ": " + text);
	return false;
}

bool Connection::takePdu(const Pdu &pdu)
{
	if (pdu.damaged || (pdu.fault && pdu.fault->fes == fes_digest))
		server_.counters().digestErrors++;
	if (pdu.fault)
		return broken(pdu.fault->why);
	if (pdu.damaged)
		return broken("data digest");
	if (pdu.type() == pdu_ic_req)
		return !icDone_ ? takeIcReq(pdu.as<IcReq>()) : broken("second ICReq");
	if (pdu.type() == pdu_h2c_term) {
		server_.counters().terms++;
		return false;
	}
	if (!icDone_)
		return broken("PDU before ICReq");
	if (pdu.type() == pdu_command)
		return takeCommand(pdu);
	if (pdu.type() == pdu_h2c_data)
		return takeH2cData(pdu);
	return broken("PDU type " + std::to_string(pdu.type()));
}

bool Connection::takeIcReq(const IcReq &req)
{
	if (req.pfv != 0 || req.hpda > 31)
		return broken("ICReq fields");
	auto digest = static_cast<std::uint8_t>(server_.config().allowDigests ? req.digest & 3 : 0);
	icDone_ = true;
	auto resp = make<IcResp>();
	resp.digest = digest;
	resp.maxh2cdata = server_.config().maxH2cData;
	sendPdu(encode(resp), {}, nullptr, Hook::icResp);
	format_ = {bool(digest & 1), bool(digest & 2), req.hpda};
	return true;
}

bool Connection::takeCommand(const Pdu &pdu)
{
	auto cmd = pdu.as<CommandPdu>().cmd;
	Bytes data(pdu.data.begin(), pdu.data.end());
	lastCid_ = cmd.cid;
	if (!inflight_.insert(cmd.cid).second)
		return broken("command identifier in use: " + std::to_string(cmd.cid));
	if (connected_ && inflight_.size() >= entries_)
		return broken("more commands than the queue has room for: " + std::to_string(inflight_.size()));
	if (entries_)
		sqhd_ = static_cast<std::uint16_t>((sqhd_ + 1) % entries_);
	auto &most = server_.counters().maxInflight;
	if (qid_ && inflight_.size() > most)
		most = inflight_.size();
	bool sign = server_.config().trafficKeepAlive || (qid_ == 0 && cmd.opcode == op_keep_alive);
	if (assoc_) {
		std::lock_guard guard(assoc_->lock);
		if (sign || (assoc_->idle.count() && !assoc_->kato.count()))
			assoc_->lastSign = Clock::now();
	}
	execute(cmd, std::move(data));
	return true;
}

void Connection::execute(const Command &cmd, Bytes data)
{
	Strike strike{*this, qid_, &cmd, nullptr, &data};
	server_.script().offer(Hook::command, strike);
	Bytes none;
	switch (strike.verdict) {
	case Verdict::failed:
		sendResponse(cmd, strike.status);
		break;
	case Verdict::hold:
		held_.emplace_back(cmd, std::move(data));
		break;
	case Verdict::pass:
		if (cmd.hostToController() && cmd.sgl.length && cmd.sgl.type == sgl_transport)
			fetch(cmd);
		else
			dispatch(cmd, std::move(data));
		break;
	default:
		applyVerdict(strike.verdict, none);
	}
	if (strike.after)
		strike.after();
}

void Connection::releaseHeld()
{
	auto held = std::move(held_);
	held_.clear();
	for (auto &[cmd, data] : held) {
		if (cmd.hostToController() && cmd.sgl.length && cmd.sgl.type == sgl_transport)
			fetch(cmd);
		else
			dispatch(cmd, std::move(data));
	}
}

void Connection::fetch(const Command &cmd)
{
	if (cmd.sgl.length > max_pdu) {
		broken("transfer length");
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

void Connection::askMore(std::uint16_t ttag, Transfer &t)
{
	auto length =
		std::min<std::uint32_t>(server_.config().r2tBytes, static_cast<std::uint32_t>(t.data.size()) - t.asked);
	auto offset = t.asked;
	t.asked += length;
	sendR2t(t.cmd, ttag, offset, length);
}

void Connection::sendR2t(const Command &cmd, std::uint16_t ttag, std::uint32_t offset, std::uint32_t length)
{
	auto pdu = make<R2tPdu>();
	pdu.cid = cmd.cid;
	pdu.ttag = ttag;
	pdu.offset = offset;
	pdu.length = length;
	server_.counters().r2ts++;
	sendPdu(encode(pdu), {}, &cmd, Hook::r2t);
}

bool Connection::takeH2cData(const Pdu &pdu)
{
	auto p = pdu.as<DataPdu>();
	auto at = transfers_.find(p.ttag);
	if (at == transfers_.end() || at->second.cmd.cid != p.cid)
		return broken("H2CData for no transfer");
	auto &t = at->second;
	if (p.offset != t.received || p.length > t.asked - t.received || p.length > server_.config().maxH2cData)
		return broken("H2CData range " + std::to_string(p.offset) + "+" + std::to_string(p.length));
	std::ranges::copy(pdu.data, t.data.begin() + static_cast<std::ptrdiff_t>(t.received));
	t.received += p.length;
	if (bool(p.h.flags & f_last) != (t.received == t.asked))
		return broken("LAST flag of H2CData");

	Strike strike{*this, qid_, &t.cmd, nullptr, &t.data};
	server_.script().offer(Hook::h2cData, strike);
	Bytes none;
	if (strike.verdict == Verdict::failed)
		sendResponse(t.cmd, strike.status);
	else if (strike.verdict != Verdict::pass)
		applyVerdict(strike.verdict, none);
	if (strike.verdict == Verdict::failed)
		t.cmd.opcode = 0xff; // the rest of its data is swallowed
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

void Connection::dispatch(const Command &cmd, Bytes data)
{
	if (cmd.opcode == op_fabrics)
		return finish(cmd, fabrics(cmd, data));
	if (!connected_) {
		broken("command before Connect");
		return end();
	}
	if (qid_ == 0) {
		if (auto reply = admin(cmd))
			finish(cmd, std::move(*reply));
		return;
	}
	execution(cmd, std::move(data));
}

void Connection::execution(const Command &cmd, Bytes data)
{
	Strike strike{*this, qid_, &cmd, nullptr, &data};
	server_.script().offer(Hook::execute, strike);
	if (strike.verdict == Verdict::failed)
		finish(cmd, {strike.status});
	if (strike.verdict == Verdict::ghost || strike.verdict == Verdict::haunt)
		haunt(cmd, std::exchange(data, {}), strike.verdict == Verdict::haunt);
	if (strike.after)
		strike.after();
	if (strike.verdict == Verdict::pass)
		carryOut(cmd, std::move(data));
}

void Connection::carryOut(const Command &cmd, Bytes data)
{
	auto run = [this, cmd, data = std::move(data)] { finish(cmd, io(cmd, data)); };
	auto latency = server_.latency();
	if (latency.count())
		later(latency, run);
	else
		run();
}

// The controller has taken the command; a write it will do some time.
void Connection::haunt(const Command &cmd, Bytes data, bool silent)
{
	if (silent)
		assoc_->silent = true; // before a test can see the ghost
	if (cmd.opcode == op_write)
		server_.subsystem().ghosts().keep(assoc_, server_.stores().find(cmd.nsid), cmd.slba(), std::move(data));
}

void Connection::finish(const Command &cmd, Reply reply)
{
	if (reply.status || reply.data.empty())
		return sendResponse(cmd, reply.status, reply.result);
	reply.data.resize(std::min<std::size_t>(reply.data.size(), cmd.sgl.length));
	if (reply.data.empty()) // the host has asked for nothing of it
		return sendResponse(cmd, reply.status, reply.result);
	if (qid_ == 0) {
		Strike strike{*this, 0, &cmd, nullptr, &reply.data};
		server_.script().offer(Hook::adminData, strike);
		if (strike.verdict == Verdict::failed)
			return sendResponse(cmd, strike.status);
		if (mutated_)
			mutated_->payload(cmd, reply.data);
	}
	sendData(cmd, reply.data);
}

void Connection::sendData(const Command &cmd, const Bytes &data)
{
	bool success = server_.config().successFlag && (!sqFlow_ || server_.config().successAlways);
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
		sendResponse(cmd, st_ok);
}

void Connection::sendResponse(const Command &cmd, std::uint16_t status, std::uint64_t result)
{
	auto pdu = make<ResponsePdu>();
	pdu.cqe.result = result;
	pdu.cqe.sqhd = static_cast<std::uint16_t>(sqFlow_ ? sqhd_ : 0xffff);
	pdu.cqe.cid = cmd.cid;
	pdu.cqe.status = static_cast<std::uint16_t>(status << 1);
	inflight_.erase(cmd.cid);
	sendPdu(encode(pdu), {}, &cmd, Hook::response);
}

void Connection::sendPdu(Bytes head, Bytes data, const Command *cmd, Hook hook)
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

void Connection::applyVerdict(Verdict verdict, Bytes &raw)
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

void Connection::sendSlowly(std::span<const std::uint8_t> bytes, std::chrono::milliseconds pause)
{
	for (std::size_t i = 0; i < bytes.size() && !ending_; i++) {
		sendBytes(bytes.subspan(i, 1));
		pollfd fds[] = {{socket_.get(), 0, 0}, {wake_.fd(), POLLIN, 0}};
		::poll(fds, 2, static_cast<int>(pause.count()));
	}
}

void Connection::sendMutated(Bytes raw)
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

void Connection::sendBytes(std::span<const std::uint8_t> bytes)
{
	if (mute_)
		return;
	while (!bytes.empty() && !ending_) {
		auto n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
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

void Connection::later(Clock::duration delay, std::function<void()> fn)
{
	due_.emplace(Clock::now() + delay, std::move(fn));
}

void Connection::tell(AsyncEvent event)
{
	{
		std::lock_guard guard(assoc_->lock);
		assoc_->asyncEvents.push_back(event);
	}
	deliverEvents();
}

// Pairs waiting events with waiting commands.
void Connection::deliverEvents()
{
	std::vector<std::pair<std::uint16_t, AsyncEvent>> pairs;
	{
		std::lock_guard guard(assoc_->lock);
		while (!assoc_->asyncCommands.empty() && !assoc_->asyncEvents.empty()) {
			pairs.emplace_back(assoc_->asyncCommands.front(), assoc_->asyncEvents.front());
			assoc_->asyncCommands.pop_front();
			assoc_->asyncEvents.pop_front();
		}
	}
	for (auto &[cid, event] : pairs) {
		Command cmd{};
		cmd.opcode = op_async_event;
		cmd.cid = cid;
		sendResponse(cmd, st_ok, event.result());
	}
}

} // namespace target
