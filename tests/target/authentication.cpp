// SPDX-License-Identifier: LGPL-2.1-or-later
// Authentication Send and Authentication Receive (NVMe Base 2.0, 6.1 and 6.2)
#include "connection.h"

namespace target {
namespace {

bool authenticates(const Command &cmd)
{
	return cmd.opcode == op_fabrics && (cmd.fctype() == fc_auth_send || cmd.fctype() == fc_auth_receive);
}

} // namespace

// Adds AUTHREQ to the response to Connect. A misbehaviour can change it, and what the response says then applies.
void Connection::askForAuthentication(const Command &cmd, Reply &reply, const std::string &hostnqn)
{
	auto &config = server_.config();
	if (config.authentication && !discovery()) {
		const Authentication &how = *config.authentication;
		nofctl::DhchapRules rules{{how.hash}, {how.group}, true, how.channel};
		// texts of the server's configuration, which outlives this
		auto secrets =
			std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{how.hostSecret, how.ctrlSecret});
		dhchap_.emplace(std::move(rules), std::move(secrets), hostnqn, config.nqn);
		if (how.channel)
			reply.result |= encrypted() ? 0 : authreqSecureChannel;
		else if (qid_ ? how.io : how.admin)
			reply.result |= authreqAuthentication;
	}
	Strike strike{*this, qid_, &cmd};
	strike.value = &reply.result;
	server_.script().offer(Hook::connected, strike);
	mustAuthenticate_ = dhchap_ && (reply.result & (authreqAuthentication | authreqSecureChannel));
}

// Until the host is authenticated, only the commands for that are executed.
bool Connection::admits(const Command &cmd) const
{
	const auto &how = server_.config().authentication;
	if (how && how->channel && !discovery() && !encrypted())
		return authenticates(cmd);
	return !mustAuthenticate_ || dhchap_->authenticated() || authenticates(cmd);
}

void Connection::keepGeneratedKey()
{
	const auto &psk = *dhchap_->generated();
	Bytes key(psk.secret.bytes().begin(), psk.secret.bytes().end());
	Strike strike{*this, qid_, nullptr, nullptr, &key};
	server_.script().offer(Hook::generated, strike);
	if (!key.empty())
		server_.keepGeneratedKey(psk.identity, std::move(key));
}

void Connection::authenticationSend(const Command &cmd, const Bytes &data)
{
	if (!dhchap_)
		return finish(cmd, {st_invalid_opcode | st_dnr});
	if (!isDhchap(cmd) || cmd.cdw11 != data.size())
		return finish(cmd, {st_invalid_field | st_dnr});
	const bool last = dhchap_->step() == Dhchap::Step::success2;
	dhchap_->take(data);
	if (last && dhchap_->step() == Dhchap::Step::done && dhchap_->generated())
		keepGeneratedKey();
	sendResponse(cmd, st_ok);
}

void Connection::authenticationReceive(const Command &cmd)
{
	if (!dhchap_)
		return finish(cmd, {st_invalid_opcode | st_dnr});
	if (!isDhchap(cmd) || !cmd.cdw11)
		return finish(cmd, {st_invalid_field | st_dnr});
	bool challenge = dhchap_->step() == Dhchap::Step::challenge;
	auto message = dhchap_->next();
	if (!message)
		return finish(cmd, {st_sequence | st_dnr});
	if (message->size() > cmd.cdw11)
		message->resize(cmd.cdw11);
	Strike strike{*this, qid_, &cmd, nullptr, &*message};
	server_.script().offer(Hook::message, strike);
	if (challenge)
		dhchap_->challenged(*message);
	if (dhchap_->step() == Dhchap::Step::done && dhchap_->generated()) // the host demands no proof of the target
		keepGeneratedKey();
	if (strike.verdict == Verdict::pass)
		sendMessage(cmd, *std::move(message));
	else if (strike.verdict == Verdict::failed)
		sendResponse(cmd, strike.status);
	else
		misbehave(strike.verdict);
	if (strike.after)
		strike.after();
}

void Connection::sendMessage(const Command &cmd, Bytes message)
{
	if (message.empty())
		sendResponse(cmd, st_ok);
	else
		sendData(cmd, message, 0);
}

} // namespace target
