// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of etcd 3.4's JSON gateway, to one of several members: which one, who is used for all until next().
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

// What can be wrong with them, for people
nvmeof::Result<void> check(const Options &options);

struct Answer {
	enum class Outcome {
		good,
		unsent,   // nobody was there to be asked
		lost,     // asked, but not answered: what was asked may have been done
		refused,  // nothing was done, and will not be
		stranger, // it does not know who asks, or no longer
		missing,  // what it was about
	};
	Outcome outcome = Outcome::good;
	std::string trouble = {}; // for people
	Json json = {};

	explicit operator bool() const { return outcome == Outcome::good; }
};

// Of what a member has sent
Answer answerOf(const HttpAnswer &http);
Answer answerOf(const std::string &line); // of a stream

class Client;

class Client;

// A call under way, or a stream. It ends with the object, which may be ended by what it calls.
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
	bool introduced_ = false; // anew
	std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
	std::unique_ptr<HttpCall> http_;
};

class Client {
public:
	Client(serving::Loop &loop, Options options) : options_(std::move(options)), http_(loop, options_.tls) {}

	const std::string &endpoint() const { return options_.endpoints[endpoint_]; }
	std::size_t endpoints() const { return options_.endpoints.size(); }
	// Another member is asked from now on, by whom we make ourselves known again.
	void next();

	// @path: "kv/range". Who asks is made known first, where that is needed.
	std::unique_ptr<Call> call(const char *path, const Json &body, Call::Done done);
	// @each: is given each answer; one that is not good is the last
	std::unique_ptr<Call> stream(const char *path, const Json &body, Call::Done each);

private:
	friend class Call;
	std::unique_ptr<Call> make(Call::Kind kind, const char *path, const Json &body, Call::Done done);

	Options options_;
	HttpClient http_;
	std::size_t endpoint_ = 0;
	std::string token_;
};

} // namespace cdc::etcd
