// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rdma_connection.h"

#include <fcntl.h>
#include <poll.h>

#include <cstring>
#include <system_error>

namespace target {
namespace {

constexpr std::size_t maxTransfer = 4 << 20;

} // namespace

// From here on the connection receives its own CM events.
RdmaConnection::RdmaConnection(Server &server, ConnectRequest arrived)
	: Connection(server), events_(::rdma_create_event_channel()), id_(arrived.id),
	  privateData_(std::move(arrived.privateData)), reads_(arrived.reads)
{
	if (!events_)
		throw std::system_error(errno, std::generic_category(), "rdma_create_event_channel");
	::fcntl(events_->fd, F_SETFL, O_NONBLOCK);
	if (::rdma_migrate_id(id_, events_))
		throw std::system_error(errno, std::generic_category(), "rdma_migrate_id");
}

RdmaConnection::~RdmaConnection()
{
	pair_.reset();
	::rdma_destroy_id(id_);
	::rdma_destroy_event_channel(events_);
}

std::uint16_t RdmaConnection::fault(std::size_t length) const
{
	if (length < sizeof(RdmaRequest))
		return rj_length;
	if (request_.recfmt)
		return rj_recfmt;
	if (request_.qid > server_.config().maxIoQueues)
		return rj_qid;
	unsigned entries = request_.hsqsize + 1u;
	if (entries < 2 || (request_.qid && entries > server_.config().queueEntries))
		return rj_hsqsize;
	if (request_.hrqsize < entries)
		return rj_hrqsize;
	// older kernels leave CNTLID 0
	if (request_.qid && request_.cntlid && !server_.associations().find(request_.cntlid))
		return rj_cntlid;
	return 0;
}

bool RdmaConnection::begin(Verdict verdict)
{
	if (auto request = decode<RdmaRequest>(privateData_))
		request_ = *request;
	if (auto status = fault(privateData_.size())) {
		if (status != rj_cntlid) // the controller may have ended meanwhile
			reportViolation("connect request, reason " + std::to_string(status));
		reject(encode(RdmaReject{0, status}));
		return false;
	}
	misbehave(verdict);
	return !ending_ && accept();
}

bool RdmaConnection::accept()
try {
	auto capsule = sizeof(Command) + std::max<std::size_t>(server_.config().inCapsule, sizeof(ConnectData));
	pair_ = std::make_unique<QueuePair>(id_, request_.hsqsize + 2u, capsule);
	Bytes told = encode(RdmaAccept{0, static_cast<std::uint16_t>(request_.hsqsize + 1u), {}});
	Strike strike{*this, request_.qid, nullptr, nullptr, &told};
	server_.script().offer(Hook::cmAccept, strike);
	if (strike.verdict == Verdict::failed) {
		reject(told);
		return false;
	}
	if (strike.verdict == Verdict::drop) { // the request stays unanswered
		mute_ = true;
		return true;
	}
	if (strike.verdict == Verdict::abort)
		return false;
	rdma_conn_param param{};
	param.private_data = told.data();
	param.private_data_len = static_cast<std::uint8_t>(told.size());
	param.responder_resources = 0;
	param.initiator_depth = reads_;
	param.rnr_retry_count = 7;
	answered_ = true;
	if (::rdma_accept(id_, &param))
		return reportViolation("rdma_accept: " + std::string(std::strerror(errno)));
	if (strike.verdict == Verdict::close)
		end();
	if (strike.after)
		strike.after();
	return true;
} catch (const std::system_error &) { // no resources left, or the host has given up
	reject(encode(RdmaReject{0, rj_resources}));
	return false;
}

void RdmaConnection::reject(Bytes privateData)
{
	answered_ = true;
	::rdma_reject(id_, privateData.data(), static_cast<std::uint8_t>(privateData.size()));
}

void RdmaConnection::close(bool rst)
{
	if (!pair_)
		return;
	if (rst)
		pair_->fail(); // aborts outstanding work requests
	if (answered_)
		::rdma_disconnect(id_);
}

// Completions are processed before CM events, because capsules sent before a disconnect have already arrived.
bool RdmaConnection::exchange(bool stalled, int timeout)
{
	pollfd fds[] = {{wake_.fd(), POLLIN, 0}, {events_->fd, POLLIN, 0}, {pair_->fd(), POLLIN, 0}};
	::poll(fds, stalled ? 1 : 3, timeout);
	wake_.clear();
	return stalled || (takeCapsules() && takeEvents());
}

bool RdmaConnection::resume()
{
	return takeCapsules();
}

bool RdmaConnection::takeEvents()
{
	bool live = true;
	for (rdma_cm_event *event; ::rdma_get_cm_event(events_, &event) == 0; ::rdma_ack_cm_event(event)) {
		if (event->event != RDMA_CM_EVENT_ESTABLISHED)
			live = false; // disconnected, rejected by the host, or a device was removed
	}
	return live;
}

bool RdmaConnection::takeCapsules()
{
	pair_->poll();
	while (!ending_ && !(inputDeferred_ = silent())) {
		auto capsule = pair_->received();
		if (!capsule)
			return !pair_->error();
		if (!takeCapsule(*capsule))
			return false;
	}
	return !ending_;
}

bool RdmaConnection::takeCapsule(const Bytes &capsule)
{
	auto cmd = decode<Command>(capsule);
	if (!cmd)
		return reportViolation("a capsule of " + std::to_string(capsule.size()) + " bytes");
	if (cmd->opcode == op_fabrics && cmd->fctype() == fc_connect && (cmd->cdw10 >> 16) != request_.qid)
		return reportViolation("Connect of another queue than the request was for");
	Bytes data;
	if (cmd->sgl.type == sgl_in_capsule) {
		if (cmd->sgl.addr > capsule.size() - sizeof(Command) ||
		    cmd->sgl.length > capsule.size() - sizeof(Command) - cmd->sgl.addr)
			return reportViolation("data in the capsule that are not there");
		auto from = capsule.begin() + static_cast<std::ptrdiff_t>(sizeof(Command) + cmd->sgl.addr);
		data.assign(from, from + static_cast<std::ptrdiff_t>(cmd->sgl.length));
	} else if (cmd->sgl.type == sgl_keyed || cmd->sgl.type == sgl_keyed_invalidate) {
		auto place = KeyedSgl::of(cmd->sgl);
		hostBuffers_[cmd->cid] = place;
		cmd->sgl.length = place.length(); // where the other code expects the length
	} else {
		return reportViolation("a descriptor of type " + std::to_string(cmd->sgl.type));
	}
	return take(*cmd, std::move(data));
}

bool RdmaConnection::dataAtHost(const Command &cmd) const
{
	return cmd.sgl.length && cmd.sgl.type != sgl_in_capsule;
}

void RdmaConnection::fetch(const Command &cmd)
{
	auto &place = hostBuffers_[cmd.cid];
	if (place.length() > maxTransfer) {
		reportViolation("transfer length");
		return end();
	}
	server_.counters().remoteReads++;
	pair_->read({place.addr, place.key}, place.length(),
		    [this, cmd](Bytes data) { dispatch(cmd, std::move(data)); });
}

Answer RdmaConnection::answerTo(const Command &cmd, const Completion &cqe)
{
	Answer answer;
	answer.setCqe(cqe);
	auto place = hostBuffers_.find(cmd.cid);
	if (place == hostBuffers_.end())
		return answer;
	answer.to = {place->second.addr, place->second.key};
	answer.room = place->second.length();
	if (place->second.type == sgl_keyed_invalidate && answer.to.key)
		answer.invalidate = answer.to.key;
	hostBuffers_.erase(place);
	return answer;
}

void RdmaConnection::sendData(const Command &cmd, const Bytes &data, std::uint64_t result)
{
	inflight_.erase(cmd.cid);
	auto out = answerTo(cmd, completion(cmd, st_ok, result));
	out.data = data;
	answer(cmd, std::move(out));
}

void RdmaConnection::sendCompletion(const Command &cmd, Completion cqe)
{
	answer(cmd, answerTo(cmd, cqe));
}

void RdmaConnection::answer(const Command &cmd, Answer answer)
{
	Strike strike{*this, qid_, &cmd, nullptr, &answer.data};
	strike.answer = &answer;
	server_.script().offer(Hook::answer, strike);
	carryOut(answer, strike.verdict);
	if (strike.after)
		strike.after();
}

void RdmaConnection::carryOut(const Answer &answer, Verdict verdict)
{
	if (verdict == Verdict::mute)
		mute_ = true;
	if (mute_ || verdict == Verdict::drop || verdict == Verdict::hold)
		return;
	if (verdict == Verdict::abort)
		return end(true);
	if (!answer.data.empty() && !answer.dataLater)
		pair_->write(answer.to, answer.data);
	for (unsigned i = 0; i < answer.sends * (verdict == Verdict::twice ? 2 : 1); i++)
		pair_->send(answer.response, answer.invalidate);
	if (!answer.data.empty() && answer.dataLater)
		pair_->write(answer.to, answer.data);
	if (verdict == Verdict::close)
		end();
}

// Verdicts of hooks at which nothing is being sent
void RdmaConnection::misbehave(Verdict verdict)
{
	if (verdict == Verdict::mute)
		mute_ = true;
	else if (verdict == Verdict::close || verdict == Verdict::abort)
		end(verdict == Verdict::abort);
}

} // namespace target
