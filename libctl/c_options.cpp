// SPDX-License-Identifier: LGPL-2.1-or-later
#include "c_options.h"

#include <charconv>
#include <limits>

#include "base/invalid_error.h"

using namespace nvmeof;

namespace nofctl {

namespace {

template <typename T> bool number(const std::string &text, T &value)
{
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	return error == std::errc() && end == text.data() + text.size();
}

bool take(std::string &to, const std::string &value)
{
	to = value;
	return true;
}

bool take(std::optional<std::string> &to, const std::string &value)
{
	to = value;
	return true;
}

bool take(std::optional<Uuid> &to, const std::string &value)
{
	to = Uuid::parse(value);
	return to.has_value();
}

bool take(bool &to, const std::string &value)
{
	to = value == "1";
	return to || value == "0";
}

template <typename T> bool take(std::optional<T> &to, const std::string &value)
{
	T read{};
	if (!number(value, read))
		return false;
	to = read;
	return true;
}

bool take(std::optional<std::chrono::milliseconds> &to, const std::string &value)
{
	std::int32_t read = 0;
	if (!number(value, read))
		return false;
	to = std::chrono::milliseconds(read);
	return true;
}

struct Option {
	const char *name;
	bool (*take)(nvmeof_options &, const std::string &);
};

template <auto Member> bool toConnect(nvmeof_options &options, const std::string &value)
{
	return take(options.connect.*Member, value);
}

template <auto Member> bool toWait(nvmeof_options &options, const std::string &value)
{
	return take(options.wait.*Member, value);
}

template <auto Member> bool toAddress(nvmeof_options &options, const std::string &value)
{
	return take(options.connect.address.*Member, value);
}

constexpr Option table[] = {
	{"transport", toConnect<&ConnectOptions::transport>},
	{"traddr", toAddress<&Address::traddr>},
	{"trsvcid", toAddress<&Address::trsvcid>},
	{"nqn", toConnect<&ConnectOptions::subsysnqn>},
	{"hostnqn", toConnect<&ConnectOptions::hostnqn>},
	{"hostid", toConnect<&ConnectOptions::hostid>},
	{"host_traddr", toConnect<&ConnectOptions::hostTraddr>},
	{"host_iface", toConnect<&ConnectOptions::hostIface>},
	{"owner", toConnect<&ConnectOptions::owner>},
	{"io_queues", toConnect<&ConnectOptions::ioQueues>},
	{"poll_queues", toConnect<&ConnectOptions::pollQueues>},
	{"queue_size", toConnect<&ConnectOptions::queueSize>},
	{"tags", toConnect<&ConnectOptions::tags>},
	{"tos", toConnect<&ConnectOptions::tos>},
	{"ack_timeout", toConnect<&ConnectOptions::ackTimeout>},
	{"retry_count", toConnect<&ConnectOptions::retryCount>},
	{"keep_alive", toConnect<&ConnectOptions::keepAlive>},
	{"reconnect_delay", toConnect<&ConnectOptions::reconnectDelay>},
	{"ctrl_loss", toConnect<&ConnectOptions::ctrlLoss>},
	{"fast_io_fail", toConnect<&ConnectOptions::fastIoFail>},
	{"connect_timeout", toConnect<&ConnectOptions::connectTimeout>},
	{"stall_timeout", toConnect<&ConnectOptions::stallTimeout>},
	{"first_connect", toConnect<&ConnectOptions::firstConnect>},
	{"hdr_digest", toConnect<&ConnectOptions::hdrDigest>},
	{"data_digest", toConnect<&ConnectOptions::dataDigest>},
	{"duplicate_connect", toConnect<&ConnectOptions::duplicateConnect>},
	{"idempotent", toConnect<&ConnectOptions::idempotent>},
	{"nsid", toWait<&WaitOptions::nsid>},
	{"uuid", toWait<&WaitOptions::uuid>},
};

} // namespace

Result<void> setOption(nvmeof_options &options, const std::string &name, const std::string &value)
{
	for (const Option &option : table) {
		if (name != option.name)
			continue;
		if (option.take(options, value))
			return {};
		return invalidError("'" + value + "' is not a valid value of " + name);
	}
	return invalidError("there is no option '" + name + "'");
}

} // namespace nofctl
