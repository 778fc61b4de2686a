// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of the JSON gateway of etcd 3.4. All calls go to one of the configured members until next() selects another.
#pragma once

#include "etcd_json.h"
#include "http_client.h"

namespace cdc::etcd {

struct Options {
	std::vector<std::string> endpoints = {"http://127.0.0.1:2379"};
	HttpTls tls = {};
	std::string user = {}, password = {}; // empty: none
	std::chrono::milliseconds timeout{2000};
};

// Errors: a message for the operator
nvmeof::Result<void> check(const Options &options);

struct Answer {
	enum class Outcome {
		good,
		unsent,   // no connection: the request was not sent
		lost,     // no response: the request may have been executed
		refused,  // not executed; a retry fails as well
		stranger, // authentication is required or has expired
		missing,  // not found or compacted
	};
	Outcome outcome = Outcome::good;
	std::string trouble = {}; // for messages
	JsonValue json = {};

	explicit operator bool() const { return outcome == Outcome::good; }
};

// Interprets a response of a member
Answer answerOf(const HttpAnswer &http);
Answer answerOf(const std::string &line); // one line of a stream

class Client;

// A call or stream in progress. Destroying the object cancels it; its callbacks may do so.
class Call {
public:
	using Done = std::function<void(Answer)>;

	~Call();
	Call(const Call &) = delete;
	Call &operator=(const Call &) = delete;

private:
	friend class Client;
	enum class Kind { call, stream };
	Call(Client &client, Kind kind, std::string path, std::string body, Done done);
	void begin();
	void authenticate();
	void send();
	void answered(Answer answer);
	void received(std::string_view piece);
	void tell(Answer answer);

	Client &client_;
	Kind kind_;
	std::string path_, body_, line_;
	Done done_;
	bool introduced_ = false; // authenticated in this call
	std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
	std::unique_ptr<HttpCall> http_;
};

class Client {
public:
	Client(serving::Loop &loop, Options options) : options_(std::move(options)), http_(loop, options_.tls) {}

	const std::string &endpoint() const { return options_.endpoints[endpoint_]; }
	std::size_t endpoints() const { return options_.endpoints.size(); }
	// Selects the next member and drops the authentication token.
	void next();

	// @path: "kv/range". Authenticates first if a user is configured and there is no token.
	std::unique_ptr<Call> call(const char *path, const JsonValue &body, Call::Done done);
	// @each: called for each message; an error is the last one
	std::unique_ptr<Call> stream(const char *path, const JsonValue &body, Call::Done each);

private:
	friend class Call;
	std::unique_ptr<Call> make(Call::Kind kind, const char *path, const JsonValue &body, Call::Done done);

	Options options_;
	HttpClient http_;
	std::size_t endpoint_ = 0;
	std::string token_;
};

} // namespace cdc::etcd
