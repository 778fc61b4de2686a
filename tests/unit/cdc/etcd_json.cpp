// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers recorded from etcd 3.4.23, and malformed answers.
#include "etcd_store.h"

#include "support.h"
#include "etcd_client.h"

#include <fmt/format.h>

using namespace cdc;

namespace cdc::etcd {

using Outcome = Answer::Outcome;
using Catch::Contains;

namespace {

etcd::JsonValue parsedJson(const std::string &text)
{
	return etcd::JsonValue::parse(text);
}

HttpAnswer httpAnswer(long status, const std::string &body)
{
	return {.outcome = CURLE_OK, .sent = true, .status = status, .body = body, .trouble = ""};
}

Event is(const std::string &key, const std::string &value, std::uint64_t revision)
{
	return {key, value, revision};
}

} // namespace

TEST_CASE("base64 is encoded and decoded as in RFC 4648", "[cdc][etcd]")
{
	const std::pair<std::string, std::string> known[] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{std::string("\0\xff\xfe", 3), "AP/+"},
	}; // RFC 4648, 10
	for (const auto &[bytes, text] : known) {
		CHECK(toBase64(bytes) == text);
		CHECK(ofBase64(text) == bytes);
	}
	for (const char *wrong : {"Zg", "Zg=", "Z===", "Zm9v!AAA", "=Zg=", "Zg==Zg==", "Zm9vYg==\n"})
		CHECK_FALSE(ofBase64(wrong).has_value());
}

TEST_CASE("a range ends behind the last key with the prefix", "[cdc][etcd]")
{
	CHECK(endOf("/nvmeof/cdc/") == "/nvmeof/cdc0");
	CHECK(endOf("a\xff\xff") == "b");
	CHECK(endOf("\xff") == std::string(1, '\0'));
}

TEST_CASE("etcd's answers are decoded", "[cdc][etcd]")
{
	const auto range = rangeOf(parsedJson(R"({"header":{"cluster_id":"14841639068965178418","revision":"12"},
		"kvs":[{"key":"YQ==","create_revision":"2","mod_revision":"7","version":"3","value":"Yg=="},
		       {"key":"Yw==","mod_revision":"8"}],"more":true,"count":"5"})"));
	REQUIRE(range.ok());
	CHECK(range->header.cluster == 14841639068965178418u);
	CHECK(range->header.revision == 12);
	CHECK(range->more);
	REQUIRE(range->records.size() == 2);
	CHECK(range->records[0].key == "a");
	CHECK(range->records[0].value == "b");
	CHECK(range->records[0].revision == 7);
	CHECK(range->records[1].value == ""); // etcd omits an empty value

	const auto written = transactionOf(parsedJson(R"({"header":{"revision":"3"},"succeeded":true,"responses":[
		{"response_delete_range":{"header":{"revision":"3"}}},
		{"response_txn":{"succeeded":true,"responses":[{"response_put":{"header":{"revision":"3"}}}]}}]})"));
	REQUIRE(written.ok());
	CHECK((written->succeeded && written->changed));
	const auto nothing = transactionOf(parsedJson(R"({"responses":[{"response_delete_range":{}}]})"));
	REQUIRE(nothing.ok());
	CHECK_FALSE((nothing->succeeded || nothing->changed));
	CHECK(transactionOf(parsedJson(R"({"responses":[{"response_delete_range":{"deleted":"1"}}]})"))->changed);

	const auto notice = noticeOf(parsedJson(R"({"result":{"header":{"revision":"9"},"events":[
		{"kv":{"key":"YQ==","mod_revision":"8","value":"Yg=="}},
		{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"9"}}]}})"));
	REQUIRE(notice.ok());
	REQUIRE(notice->events.size() == 2);
	CHECK(notice->events[0].value == "b");
	CHECK_FALSE(notice->events[1].value.has_value());
	const auto canceled = noticeOf(parsedJson(R"({"result":{"canceled":true,"compact_revision":"5"}})"));
	REQUIRE(canceled.ok());
	CHECK(canceled->canceled);
	CHECK(canceled->compacted == 5);

	CHECK(leaseOf(parsedJson(R"({"ID":"2324035582273456392","TTL":"5"})"))->id == 2324035582273456392);
	CHECK(leaseOf(parsedJson(R"({"result":{"ID":"77"}})"))->ttl == 0); // the lease has expired

	for (const char *wrong :
	     {R"({"kvs":{}})", R"({"kvs":[1]})", R"({"kvs":[{"key":"!"}]})", R"([])", R"({"header":7})",
	      R"({"kvs":[{"mod_revision":"-1"}]})", R"({"kvs":[{"mod_revision":1.5}]})", R"({"more":"yes"})"})
		CHECK_FALSE(rangeOf(parsedJson(wrong)).ok());
}

TEST_CASE("etcd's errors say whether a write was executed", "[cdc][etcd]")
{
	auto of = [](long status, const char *message, int code) {
		return answerOf(httpAnswer(
			status, fmt::format(R"({{"error":"{0}","message":"{0}","code":{1}}})", message, code)));
	};
	CHECK(of(400, "etcdserver: request is too large", 3).outcome == Outcome::refused);
	CHECK(of(400, "etcdserver: revision of auth store is old", 3).outcome == Outcome::stranger);
	CHECK(of(401, "etcdserver: invalid auth token", 16).outcome == Outcome::stranger);
	CHECK(of(404, "etcdserver: requested lease not found", 5).outcome == Outcome::missing);
	CHECK(of(400, "etcdserver: mvcc: required revision has been compacted", 11).outcome == Outcome::missing);
	CHECK(of(503, "etcdserver: request timed out", 14).outcome == Outcome::lost);
	const Answer full = of(429, "etcdserver: mvcc: database space exceeded", 8);
	CHECK(full.outcome == Outcome::refused);
	CHECK_THAT(full.trouble, Contains("defragment"));
	CHECK(answerOf(R"({"error":{"grpc_code":7,"http_code":403,"message":"m"}})").outcome == Outcome::refused);
	CHECK_THAT(answerOf(httpAnswer(502, "<html>")).trouble, Contains("502"));
	CHECK(answerOf(httpAnswer(200, "<html>")).outcome == Outcome::lost);
	CHECK(answerOf(httpAnswer(200, "{}")).outcome == Outcome::good);
	CHECK(answerOf(R"({"error":7})").outcome == Outcome::lost);
	HttpAnswer nobody{.outcome = CURLE_COULDNT_CONNECT, .sent = false, .status = 0, .body = "", .trouble = "no"};
	CHECK(answerOf(nobody).outcome == Outcome::unsent);
}

TEST_CASE("invalid etcd options are refused", "[cdc][etcd]")
{
	auto wrong = [](etcd::Options options) { return check(options) ? "" : check(options).error().message; };
	CHECK(wrong({.endpoints = {"http://10.0.0.1:2379", "https://etcd.example:2379"}}) == "");
	CHECK_THAT(wrong({.endpoints = {}}), Contains("no etcd member"));
	for (const char *endpoint : {"10.0.0.1:2379", "http://", "ftp://a", "http://a/b", "http://user@host"})
		CHECK_THAT(wrong({.endpoints = {endpoint}}), Contains("http://HOST:PORT"));
	CHECK_THAT(wrong({.tls = {.ca = "/none"}}), Contains("/none"));
	CHECK_THAT(wrong({.tls = {.cert = "/dev/null"}}), Contains("key"));
	CHECK_THAT(wrong({.password = "p"}), Contains("user"));
}

TEST_CASE("the generation is computed from etcd's keys alone", "[cdc][etcd]")
{
	View view("/p/");
	view.begin({.cluster = 1, .revision = 20});
	CHECK(view.generation() == 0);
	view.apply({is("/p/base", "1000", 2), is("/p/generation", "", 7), is("/p/zones/z", "{}", 7),
		    is("/p/instances/i", "{}", 5), is("/p/alive/i", "", 5)});
	CHECK(view.generation() == 1007);
	CHECK(view.revision() == 20);
	CHECK(view.whole().changes.size() == 2);
	CHECK(view.dead().empty());

	StoreUpdate news = view.apply({is("/p/hosts/h", "{}", 21), is("/p/zones/z", "{}", 21), is("/other", "", 21)});
	CHECK(news.changes.size() == 1); // the zone is unchanged
	CHECK(news.generation == 1007);
	news = view.apply({{"/p/alive/i", {}, 22}});
	CHECK((news.changes.empty() && news.generation == 1007)); // the record stays
	CHECK(view.dead() == std::vector<std::string>{"i"});
	news = view.apply({{"/p/instances/i", {}, 23}, is("/p/generation", "", 23)});
	CHECK(news.changes.size() == 1);
	CHECK(news.generation == 1023);
	CHECK(view.apply({is("/p/unknown/x", "", 24), is("/p/targets", "", 25)}).changes.empty());
	CHECK(view.revision() == 25);
	CHECK(view.apply({is("/p/base", "rubbish", 26)}).generation == 0);
}

TEST_CASE("marks distinguish the same etcd at a later revision from another or a restored etcd", "[cdc][etcd]")
{
	const View::Position before{{.cluster = 1, .revision = 20}, 1000, 2, 7};
	CHECK(before.isContinuedBy(before));
	CHECK(before.isContinuedBy({{.cluster = 1, .revision = 25}, 1000, 2, 25}));
	CHECK(before.isContinuedBy({{.cluster = 1, .revision = 25}, 2000, 25, 25}));      // raised meanwhile
	CHECK_FALSE(before.isContinuedBy({{.cluster = 2, .revision = 25}, 1000, 2, 25})); // another cluster
	CHECK_FALSE(before.isContinuedBy({{.cluster = 1, .revision = 19}, 1000, 2, 7}));  // restored from an older copy
	CHECK_FALSE(before.isContinuedBy({{.cluster = 1, .revision = 25}, 3000, 2, 25})); // created again
	CHECK_FALSE(before.isContinuedBy({{.cluster = 1, .revision = 25}, 0, 0, 0}));     // emptied
	CHECK_FALSE(View::Position{}.isContinuedBy(before));                              // no marks are known
}

} // namespace cdc::etcd
