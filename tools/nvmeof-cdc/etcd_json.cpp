// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_json.h"

#include <array>
#include <charconv>

namespace cdc::etcd {

using nvmeof::Result;

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int maxNested = 4;

constexpr std::array<std::uint8_t, 256> valuesOf(std::string_view alphabet)
{
	std::array<std::uint8_t, 256> values;
	values.fill(0xff);
	for (std::size_t i = 0; i < alphabet.size(); i++)
		values[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
	return values;
}

constexpr auto values = valuesOf(digits);

// Reads members; a member of the wrong type makes the whole message invalid.
class JsonReader {
public:
	const JsonValue &object(const JsonValue &of, const char *key)
	{
		static const JsonValue none = JsonValue::object();
		const JsonValue *member = find(of, key);
		return member && check(member->is_object()) ? *member : none;
	}
	const JsonValue &list(const JsonValue &of, const char *key)
	{
		static const JsonValue none = JsonValue::array();
		const JsonValue *member = find(of, key);
		return member && check(member->is_array()) ? *member : none;
	}
	template <typename T = std::uint64_t> T number(const JsonValue &of, const char *key)
	{
		T value = 0;
		const JsonValue *member = find(of, key);
		if (member && member->is_string()) {
			const auto &text = member->get_ref<const std::string &>();
			auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
			check(error == std::errc() && end == text.data() + text.size());
		} else if (member && check(member->is_number_integer())) {
			if (member->is_number_unsigned() && check(std::in_range<T>(member->get<std::uint64_t>())))
				value = static_cast<T>(member->get<std::uint64_t>());
			else if (!member->is_number_unsigned() && check(std::in_range<T>(member->get<std::int64_t>())))
				value = static_cast<T>(member->get<std::int64_t>());
		}
		return value;
	}
	bool flag(const JsonValue &of, const char *key)
	{
		const JsonValue *member = find(of, key);
		return member && check(member->is_boolean()) && member->get<bool>();
	}
	std::string text(const JsonValue &of, const char *key)
	{
		const JsonValue *member = find(of, key);
		return member && check(member->is_string()) ? member->get<std::string>() : "";
	}
	std::string bytes(const JsonValue &of, const char *key)
	{
		auto decoded = ofBase64(text(of, key));
		return check(decoded.has_value()) ? *std::move(decoded) : "";
	}
	Header header(const JsonValue &of)
	{
		const JsonValue &header = object(of, "header");
		return {number(header, "cluster_id"), number(header, "revision")};
	}
	Event event(const JsonValue &kv, bool gone)
	{
		Event event{.key = bytes(kv, "key"), .value = {}, .revision = number(kv, "mod_revision")};
		if (!gone)
			event.value = bytes(kv, "value");
		return event;
	}
	bool check(bool holds)
	{
		good_ = good_ && holds;
		return holds;
	}
	template <typename T> Result<T> outcome(T value) const
	{
		if (good_)
			return value;
		nvmeof::Error error;
		error.message = "not a response of etcd's v3 JSON gateway";
		return error;
	}

private:
	const JsonValue *find(const JsonValue &of, const char *key)
	{
		if (!check(of.is_object()))
			return nullptr;
		auto found = of.find(key);
		return found == of.end() ? nullptr : &*found;
	}

	bool good_ = true;
};

// A put always causes an event, a deletion only if the key existed.
bool changes(JsonReader &reader, const JsonValue &responses, int nested = 0)
{
	if (!reader.check(nested < maxNested))
		return false;
	for (const JsonValue &response : responses) {
		if (!reader.check(response.is_object()))
			return false;
		if (response.contains("response_put") ||
		    reader.number(reader.object(response, "response_delete_range"), "deleted") > 0 ||
		    changes(reader, reader.list(reader.object(response, "response_txn"), "responses"), nested + 1))
			return true;
	}
	return false;
}

// The payload of a stream message
const JsonValue &resultOf(JsonReader &reader, const JsonValue &answer)
{
	return reader.object(answer, "result");
}

} // namespace

std::string toBase64(std::string_view bytes)
{
	std::string text;
	text.reserve((bytes.size() + 2) / 3 * 4);
	for (std::size_t i = 0; i < bytes.size(); i += 3) {
		const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
		std::uint32_t group = 0;
		for (std::size_t j = 0; j < 3; j++)
			group = group << 8 | (j < count ? static_cast<std::uint8_t>(bytes[i + j]) : 0);
		for (std::size_t j = 0; j < 4; j++)
			text += j <= count ? digits[group >> (18 - 6 * j) & 63] : '=';
	}
	return text;
}

std::optional<std::string> ofBase64(std::string_view text)
{
	if (text.size() % 4)
		return {};
	for (int i = 0; i < 2 && text.ends_with('='); i++)
		text.remove_suffix(1);
	std::string bytes;
	bytes.reserve(text.size() * 3 / 4);
	std::uint32_t group = 0;
	unsigned bits = 0;
	for (const char c : text) {
		const std::uint8_t digit = values[static_cast<std::uint8_t>(c)];
		if (digit == 0xff)
			return {};
		group = group << 6 | digit;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes += static_cast<char>(group >> bits & 0xff);
		}
	}
	return bytes;
}

std::string endOf(std::string prefix)
{
	while (!prefix.empty() && static_cast<std::uint8_t>(prefix.back()) == 0xff)
		prefix.pop_back();
	if (prefix.empty())
		return std::string(1, '\0'); // no upper bound
	prefix.back()++;
	return prefix;
}

JsonValue put(std::string_view key, std::string_view value, std::int64_t lease)
{
	JsonValue put{{"key", toBase64(key)}, {"value", toBase64(value)}};
	if (lease)
		put["lease"] = std::to_string(lease);
	return {{"request_put", std::move(put)}};
}

JsonValue remove(std::string_view key)
{
	return {{"request_delete_range", {{"key", toBase64(key)}}}};
}

JsonValue isRevision(std::string_view key, std::uint64_t revision)
{
	return {{"key", toBase64(key)}, {"target", "MOD"}, {"mod_revision", std::to_string(revision)}};
}

JsonValue isValue(std::string_view key, std::string_view value)
{
	return {{"key", toBase64(key)}, {"target", "VALUE"}, {"value", toBase64(value)}};
}

Result<Range> rangeOf(const JsonValue &answer)
{
	JsonReader reader;
	Range range{.header = reader.header(answer), .records = {}, .more = reader.flag(answer, "more")};
	for (const JsonValue &kv : reader.list(answer, "kvs"))
		range.records.push_back(reader.event(kv, false));
	return reader.outcome(std::move(range));
}

Result<Transaction> transactionOf(const JsonValue &answer)
{
	JsonReader reader;
	Transaction transaction{.header = reader.header(answer), .succeeded = reader.flag(answer, "succeeded")};
	transaction.changed = changes(reader, reader.list(answer, "responses"));
	return reader.outcome(transaction);
}

Result<Notice> noticeOf(const JsonValue &answer)
{
	JsonReader reader;
	const JsonValue &result = resultOf(reader, answer);
	Notice notice{.header = reader.header(result),
		      .created = reader.flag(result, "created"),
		      .canceled = reader.flag(result, "canceled"),
		      .compacted = reader.number(result, "compact_revision"),
		      .reason = reader.text(result, "cancel_reason"),
		      .events = {}};
	for (const JsonValue &event : reader.list(result, "events"))
		notice.events.push_back(
			reader.event(reader.object(event, "kv"), reader.text(event, "type") == "DELETE"));
	return reader.outcome(std::move(notice));
}

// From the response to a lease grant, or from a message of a keep-alive stream
Result<Lease> leaseOf(const JsonValue &answer)
{
	JsonReader reader;
	reader.check(answer.is_object());
	const JsonValue &lease = answer.is_object() && answer.contains("result") ? resultOf(reader, answer) : answer;
	Lease found{.id = reader.number<std::int64_t>(lease, "ID"), .ttl = reader.number<std::int64_t>(lease, "TTL")};
	return reader.outcome(found);
}

} // namespace cdc::etcd
