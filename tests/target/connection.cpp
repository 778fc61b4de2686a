// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connection.h"

#include <utility>

namespace target {
namespace {

using namespace std::chrono_literals;

} // namespace

Connection::Connection(Server &server) : server_(server) {}
Connection::~Connection() = default;

void Connection::run()
{
	Strike strike{*this};
	server_.script().offer(Hook::accept, strike);
	if (begin(strike.verdict))
		while (pump())
			;
	if (assoc_ && qid_ == 0) {
		std::lock_guard guard(assoc_->lock);
		assoc_->admin = nullptr;
		server_.associations().remove(*assoc_);
	}
	std::lock_guard guard(lock_);
	close(rst_);
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

int Connection::pollTimeout(bool quiet) const
{
	if (quiet)
		return 50;
	auto wait = Clock::duration(200ms);
	if (!due_.empty())
		wait = std::min(wait, due_.begin()->first - Clock::now());
	auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
	return ms < 0 ? 0 : static_cast<int>(ms);
}

// One iteration: runs what is due, what was posted, and processes received data. False: the connection has ended.
bool Connection::pump()
{
	bool quiet = silent();
	if (!quiet) {
		fireDue();
		runPosted();
		if (std::exchange(inputDeferred_, false) && !resume())
			return false;
	}
	if (ending_ || expired())
		return false;
	return exchange(quiet || (server_.readsStalled() && qid_ != 0), pollTimeout(quiet));
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

// An association ends with its admin queue, or when the keep-alive timer expires; Base 2.0, 3.9.
bool Connection::expired()
{
	if (!assoc_)
		return false;
	if (assoc_->dead)
		return true;
	if (qid_ != 0) // a stalled connection keeps its received data for the test
		return !server_.readsStalled() && server_.associations().find(assoc_->cntlid) != assoc_;
	if (silent())
		return server_.config().enforceKeepAlive && Clock::now() >= assoc_->quiescedAt();
	std::lock_guard guard(assoc_->lock);
	auto limit = assoc_->kato.count() ? assoc_->kato : assoc_->idle;
	auto grace = limit + limit / 2 + 1s; // guests under TCG are slow
	return server_.config().enforceKeepAlive && limit.count() && Clock::now() - assoc_->lastSign > grace;
}

// Whether the controller behaves as behind a network that drops everything
bool Connection::silent() const
{
	return server_.silent() || (assoc_ && assoc_->silent);
}

bool Connection::reportViolation(const std::string &text)
{
	server_.violation("queue " + std::to_string(qid_) + ": " + text);
	return false;
}

// Processes a command that has arrived with its in-capsule data.
bool Connection::take(const Command &cmd, Bytes data)
{
	if (!inflight_.insert(cmd.cid).second)
		return reportViolation("command identifier in use: " + std::to_string(cmd.cid));
	if (connected_ && inflight_.size() >= entries_)
		return reportViolation("more commands than the queue has room for: " +
				       std::to_string(inflight_.size()));
	if (entries_)
		sqhd_ = static_cast<std::uint16_t>((sqhd_ + 1) % entries_);
	auto &max = server_.counters().maxInflight;
	if (qid_ && inflight_.size() > max)
		max = inflight_.size();
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
	switch (strike.verdict) {
	case Verdict::failed:
		sendResponse(cmd, strike.status);
		break;
	case Verdict::hold:
		held_.emplace_back(cmd, std::move(data));
		break;
	case Verdict::pass:
		if (cmd.hostToController() && dataAtHost(cmd))
			fetch(cmd);
		else
			dispatch(cmd, std::move(data));
		break;
	default:
		misbehave(strike.verdict);
	}
	if (strike.after)
		strike.after();
}

void Connection::releaseHeld()
{
	auto held = std::move(held_);
	held_.clear();
	for (auto &[cmd, data] : held) {
		if (cmd.hostToController() && dataAtHost(cmd))
			fetch(cmd);
		else
			dispatch(cmd, std::move(data));
	}
}

void Connection::dispatch(const Command &cmd, Bytes data)
{
	if (connected_ && !admits(cmd))
		return finish(cmd, {st_auth_required | st_dnr});
	if (cmd.opcode == op_fabrics && cmd.fctype() == fc_auth_send)
		return authenticationSend(cmd, data);
	if (cmd.opcode == op_fabrics && cmd.fctype() == fc_auth_receive)
		return authenticationReceive(cmd);
	if (cmd.opcode == op_fabrics)
		return finish(cmd, fabrics(cmd, data));
	if (!connected_) {
		reportViolation("command before Connect");
		return end();
	}
	if (qid_ == 0) {
		if (auto reply = admin(cmd, data))
			finish(cmd, std::move(*reply));
		return;
	}
	offerExecute(cmd, std::move(data));
}

void Connection::offerExecute(const Command &cmd, Bytes data)
{
	Strike strike{*this, qid_, &cmd, nullptr, &data};
	server_.script().offer(Hook::execute, strike);
	if (strike.verdict == Verdict::failed)
		finish(cmd, {strike.status});
	if (strike.verdict == Verdict::stall || strike.verdict == Verdict::stallSilently)
		stallCommand(cmd, std::exchange(data, {}), strike.verdict == Verdict::stallSilently);
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

// The controller keeps the command without completing it; a write may be executed later.
void Connection::stallCommand(const Command &cmd, Bytes data, bool silent)
{
	if (silent)
		assoc_->silent = true; // before a test can see the stalled write
	if (cmd.opcode == op_write)
		server_.subsystem().stalledWrites().keep(assoc_, server_.stores().find(cmd.nsid), cmd.slba(),
							 std::move(data));
}

void Connection::finish(const Command &cmd, Reply reply)
{
	if (reply.status || reply.data.empty())
		return sendResponse(cmd, reply.status, reply.result);
	reply.data.resize(std::min<std::size_t>(reply.data.size(), cmd.sgl.length));
	if (reply.data.empty()) // the host requests no data
		return sendResponse(cmd, reply.status, reply.result);
	if (qid_ == 0) {
		Strike strike{*this, 0, &cmd, nullptr, &reply.data};
		server_.script().offer(Hook::adminData, strike);
		if (strike.verdict == Verdict::failed)
			return sendResponse(cmd, strike.status);
		change(cmd, reply.data);
	}
	sendData(cmd, reply.data, reply.result);
}

void Connection::sendResponse(const Command &cmd, std::uint16_t status, std::uint64_t result)
{
	inflight_.erase(cmd.cid);
	sendCompletion(cmd, completion(cmd, status, result));
}

Completion Connection::completion(const Command &cmd, std::uint16_t status, std::uint64_t result) const
{
	Completion cqe{};
	cqe.result = result;
	cqe.sqhd = static_cast<std::uint16_t>(sqFlow_ ? sqhd_ : 0xffff);
	cqe.cid = cmd.cid;
	cqe.status = static_cast<std::uint16_t>(status << 1);
	return cqe;
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

// Completes waiting Asynchronous Event Requests with pending events.
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
