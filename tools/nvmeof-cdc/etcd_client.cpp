// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_client.h"

#include <unistd.h>

#include <fmt/format.h>

#include "libctl/base/invalid_error.h"

namespace cdc::etcd {

using nofctl::invalidError;
using nvmeof::Result;
using Outcome = Answer::Outcome;

namespace {

constexpr std::size_t maxLineSize = 64 << 20;

Answer strange(const std::string &what)
{
	return {.outcome = Outcome::lost, .trouble = what + ", which is not etcd's v3 JSON gateway"};
}

// By gRPC status code, or by etcd's message where the code is ambiguous
Outcome outcomeOf(int code, const std::string &message)
{
	auto says = [&](const char *words) { return message.find(words) != message.npos; };
	switch (code) {
	case 3: // invalid argument
		return says("auth token") || says("auth store is old") || says("user name is empty") ? Outcome::stranger
												     : Outcome::refused;
	case 5:  // not found
	case 11: // out of range: compacted
		return Outcome::missing;
	case 7: // permission denied
	case 8: // resource exhausted
	case 9: // failed precondition
		return Outcome::refused;
	case 16: // unauthenticated
		return Outcome::stranger;
	}
	return Outcome::lost;
}

const char *adviceFor(const std::string &message)
{
	if (message.find("database space exceeded") != message.npos)
		return "; compact and defragment it, and disarm its alarm: etcdctl";
	if (message.find("permission denied") != message.npos)
		return "; give the user's role readwrite permission on the whole prefix";
	if (message.find("user name is empty") != message.npos)
		return "; it requires a user and a password";
	return "";
}

// {"message": ..., "code": ...}, and in a stream {"message": ..., "grpc_code": ...}
Answer refusal(const JsonValue &error)
{
	Answer answer = strange("malformed error response");
	const JsonValue none;
	auto member = [&](const char *key) { return error.contains(key) ? error[key] : none; };
	const JsonValue code = member(error.contains("grpc_code") ? "grpc_code" : "code"), message = member("message");
	if (!code.is_number_integer() || !message.is_string())
		return answer;
	answer.trouble = message.get<std::string>();
	answer.outcome = outcomeOf(code.get<int>(), answer.trouble);
	answer.trouble += adviceFor(answer.trouble);
	return answer;
}

bool readable(const std::string &file)
{
	return file.empty() || ::access(file.c_str(), R_OK) == 0;
}

} // namespace

Result<void> check(const Options &options)
{
	if (options.endpoints.empty())
		return invalidError("no etcd member is configured");
	for (const std::string &endpoint : options.endpoints) {
		const auto host = endpoint.starts_with("https://")  ? endpoint.substr(8)
				  : endpoint.starts_with("http://") ? endpoint.substr(7)
								    : "";
		if (host.empty() || host.find_first_of("/?#@ ") != host.npos)
			return invalidError(fmt::format(
				"'{}' is not the URL of an etcd member: expected http://HOST:PORT or https://HOST:PORT",
				endpoint));
	}
	for (const std::string &file : {options.tls.ca, options.tls.cert, options.tls.key})
		if (!readable(file))
			return invalidError(fmt::format("{}: cannot be read", file));
	if (options.tls.cert.empty() != options.tls.key.empty())
		return invalidError("a certificate for etcd needs its key, and a key its certificate");
	if (options.user.empty() && !options.password.empty())
		return invalidError("a password for etcd needs its user");
	return {};
}

Answer answerOf(const std::string &line)
{
	Answer answer;
	answer.json = JsonValue::parse(line, nullptr, false);
	if (!answer.json.is_object())
		return strange("the response is not a JSON object");
	auto error = answer.json.find("error");
	if (error == answer.json.end())
		return answer;
	return refusal(error->is_object() ? *error : answer.json);
}

Answer answerOf(const HttpAnswer &http)
{
	if (http.outcome != CURLE_OK)
		return {.outcome = http.sent ? Outcome::lost : Outcome::unsent, .trouble = http.trouble};
	Answer answer = answerOf(http.body);
	if (http.status != 200 && (answer || !JsonValue::accept(http.body)))
		return strange(fmt::format("it responds with HTTP status {}", http.status));
	return answer;
}

Call::Call(Client &client, Kind kind, std::string path, std::string body, Done done)
	: client_(client), kind_(kind), path_(std::move(path)), body_(std::move(body)), done_(std::move(done))
{
}

Call::~Call()
{
	*ended_ = true;
}

void Call::begin()
{
	if (client_.options_.user.empty() || !client_.token_.empty())
		send();
	else
		authenticate();
}

void Call::authenticate()
{
	introduced_ = true;
	client_.token_.clear();
	const JsonValue who{{"name", client_.options_.user}, {"password", client_.options_.password}};
	auto known = [this](const HttpAnswer &http) {
		Answer answer = answerOf(http);
		if (!answer)
			return tell(std::move(answer));
		client_.token_ = answer.json.value("token", "");
		send();
	};
	http_ = client_.http_.post(client_.endpoint() + "/v3/auth/authenticate", {},
				   who.dump(-1, ' ', false, JsonValue::error_handler_t::replace),
				   client_.options_.timeout, known);
}

void Call::send()
{
	std::vector<std::string> headers;
	if (!client_.token_.empty())
		headers.push_back("Authorization: " + client_.token_);
	auto done = [this](const HttpAnswer &http) { answered(answerOf(http)); };
	auto piece = [this](std::string_view piece) { received(piece); };
	if (kind_ == Kind::call)
		http_ = client_.http_.post(client_.endpoint() + path_, headers, body_, client_.options_.timeout, done);
	else
		http_ = client_.http_.post(client_.endpoint() + path_, headers, body_, {}, done, piece);
}

void Call::answered(Answer answer)
{
	if (answer.outcome == Outcome::stranger && !client_.options_.user.empty() && !introduced_)
		return authenticate();
	if (kind_ == Kind::stream && (answer || answer.outcome == Outcome::lost))
		answer = {.outcome = Outcome::lost, .trouble = "the connection has ended"};
	tell(std::move(answer));
}

// Splits the stream into lines; an incomplete line is kept for the next piece.
void Call::received(std::string_view piece)
{
	const std::shared_ptr<bool> ended = ended_;
	while (!*ended && !piece.empty()) {
		const std::size_t end = piece.find('\n');
		line_ += piece.substr(0, end);
		if (line_.size() > maxLineSize)
			return tell(strange("the response line is too long"));
		if (end == piece.npos)
			return;
		piece.remove_prefix(end + 1);
		const std::string line = std::move(line_);
		line_.clear();
		if (!line.empty())
			tell(answerOf(line));
	}
}

void Call::tell(Answer answer)
{
	if (!answer)
		answer.trouble = fmt::format("{}: {}", client_.endpoint(), answer.trouble);
	const Done done = done_; // copied: the callback may destroy this object
	done(std::move(answer));
}

void Client::next()
{
	endpoint_ = (endpoint_ + 1) % options_.endpoints.size();
	token_.clear();
}

std::unique_ptr<Call> Client::make(Call::Kind kind, const char *path, const JsonValue &body, Call::Done done)
{
	const auto replace = JsonValue::error_handler_t::replace;
	std::unique_ptr<Call> call(new Call(*this, kind, fmt::format("/v3/{}", path),
					    body.dump(-1, ' ', false, replace), std::move(done)));
	call->begin();
	return call;
}

std::unique_ptr<Call> Client::call(const char *path, const JsonValue &body, Call::Done done)
{
	return make(Call::Kind::call, path, body, std::move(done));
}

std::unique_ptr<Call> Client::stream(const char *path, const JsonValue &body, Call::Done each)
{
	return make(Call::Kind::stream, path, body, std::move(each));
}

} // namespace cdc::etcd
