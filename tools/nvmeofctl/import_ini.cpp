// SPDX-License-Identifier: LGPL-2.1-or-later
// nvme-fabrics.conf and nvme-stas.conf of nvme-cli and nvme-stas 3; stafd.conf, stacd.conf and sys.conf of nvme-stas 2.
#include <filesystem>

#include "import.h"

using namespace nvmeof;

namespace importing {

namespace {

enum class Section { none, host, serviceDefaults, ioDefaults, service, subsystem, controllers, mdns, removal };

struct Name {
	std::string_view name; // as returned by keyOf()
	Section section;
};

constexpr Name names[] = {
	{"host", Section::host},
	{"discovery controller defaults", Section::serviceDefaults},
	{"i/o controller defaults", Section::ioDefaults},
	{"discovery controller", Section::service},
	{"subsystem", Section::subsystem},
	{"controllers", Section::controllers},
	{"service discovery", Section::mdns},
	{"discovery controller connection management", Section::removal},
	{"i/o controller connection management", Section::removal},
};

class Ini {
public:
	Ini(Import &into, const std::string &file, bool ofServices)
		: into_(into), place_{file, 0}, ofServices_(ofServices), firstService_(into.config.services.size())
	{
	}

	Result<void> read(std::string_view text);

private:
	Result<void> line(const std::string &text);
	void begin(std::string_view name);
	void end();
	void key(const std::string &key, const std::string &value);
	void hostKey(const std::string &key, const std::string &value);
	void mdnsKey(const std::string &key, const std::string &value);
	void removalKey(const std::string &key, const std::string &value);
	void settingKey(ConnectSettings &to, const std::string &key, const std::string &value);
	void controller(const std::string &value);
	void exclude(const std::string &value);
	void drop(const std::string &key, std::string reason)
	{
		into_.notCarried.push_back({place_, key, std::move(reason)});
	}

	Import &into_;
	ConfigPlace place_;
	const bool ofServices_; // stafd.conf: its controllers are services
	const std::size_t firstService_;
	Section section_ = Section::none;
	Draft draft_;              // of a [Discovery Controller] or [Subsystem]
	ConfigPlace draftPlace_;   // line of its header
	bool controllers_ = false; // the section has lines "controller"
	ConnectSettings host_, services_, io_;
	std::optional<bool> persistent_;
};

void Ini::begin(std::string_view text)
{
	end();
	section_ = Section::none;
	std::string name = keyOf(text);
	if (name == "global")
		section_ = ofServices_ ? Section::serviceDefaults : Section::ioDefaults;
	for (const Name &one : names)
		if (one.name == name)
			section_ = one.section;
	if (section_ == Section::none)
		drop("[" + trimmed(text) + "]", "nvmeof.toml has no such section");
	draftPlace_ = place_;
}

// Ends a section. Without lines "controller", the section itself is one target.
void Ini::end()
{
	const bool target = section_ == Section::service || section_ == Section::subsystem;
	if (target && !controllers_ && section_ == Section::service)
		addService(into_, draft_, draftPlace_);
	else if (target && !controllers_)
		addConnection(into_, draft_, draftPlace_);
	draft_ = {};
	controllers_ = false;
}

// "transport=tcp;traddr=10.0.0.1;..."
template <typename F> void eachPart(std::string_view value, F take)
{
	while (!value.empty()) {
		const std::string_view part = value.substr(0, value.find(';'));
		value.remove_prefix(std::min(part.size() + 1, value.size()));
		const std::size_t equals = std::min(part.find('='), part.size());
		if (!trimmed(part).empty())
			take(keyOf(part.substr(0, equals)), trimmed(part.substr(std::min(equals + 1, part.size()))));
	}
}

void Ini::controller(const std::string &value)
{
	Draft draft = draft_;
	controllers_ = true;
	eachPart(value, [&](const std::string &key, const std::string &part) {
		std::string reason;
		if (!takeKey(draft, key, part, reason))
			drop(key, reason);
	});
	const bool service = section_ == Section::service || (section_ == Section::controllers && ofServices_);
	if (service)
		addService(into_, draft, place_);
	else
		addConnection(into_, draft, place_);
}

void Ini::exclude(const std::string &value)
{
	Draft draft;
	bool whole = true;
	eachPart(value, [&](const std::string &key, const std::string &part) {
		std::string reason;
		const bool ours = key == "transport" || key == "traddr" || key == "trsvcid" || key == "nqn" ||
				  key == "host-traddr" || key == "host-iface";
		if (ours && takeKey(draft, key, part, reason))
			return;
		drop("exclude: " + key, "not supported in an exclusion, which would match more without it");
		whole = false;
	});
	Exclusion one{draft.transport.value_or(""), draft.traddr.value_or(""), draft.port.value_or(""), "",
		      draft.target.hostTraddr,      draft.target.hostIface,    place_.toString()};
	if (draft.nqn) // nvmeof.toml takes a pattern
		for (char c : *draft.nqn)
			one.nqn += std::string_view("*?[\\").find(c) == std::string_view::npos ? std::string(1, c)
											       : std::string{'\\', c};
	const bool good = (one.transport.empty() || one.transport == "tcp" || one.transport == "rdma") &&
			  (one.traddr.empty() || parseTraddr(one.traddr)) &&
			  (one.nqn.empty() || one.nqn.starts_with("nqn."));
	if (whole && good &&
	    (!one.transport.empty() || !one.traddr.empty() || !one.trsvcid.empty() || !one.nqn.empty() ||
	     !one.hostTraddr.empty() || !one.hostIface.empty()))
		into_.config.exclusions.push_back(std::move(one));
	else if (whole)
		drop("exclude", "invalid value");
}

void Ini::hostKey(const std::string &key, const std::string &value)
{
	const bool nqn = key == "nqn" || key == "hostnqn", id = key == "id" || key == "hostid";
	// These are this host's default files as well.
	if ((nqn && value == "file:///etc/nvme/hostnqn") || (id && value == "file:///etc/nvme/hostid"))
		return;
	Draft draft;
	std::string reason;
	if (!nqn && !id)
		return settingKey(host_, key, value);
	if (!takeKey(draft, nqn ? "hostnqn" : "hostid", value, reason))
		return drop(key, reason);
	if (nqn)
		into_.config.hostnqn = draft.target.hostnqn;
	else
		into_.config.hostid = draft.target.hostid;
}

void Ini::settingKey(ConnectSettings &to, const std::string &key, const std::string &value)
{
	std::string reason;
	if (!takeSetting(to, key, value, reason))
		drop(key, reason);
}

void Ini::mdnsKey(const std::string &key, const std::string &value)
{
	std::optional<bool> on = parseBool(value);
	if (key == "zeroconf" && on)
		into_.config.mdns = *on;
	else
		drop(key, key == "zeroconf" ? "invalid value" : "nvmeof.toml has no such setting");
}

void Ini::removalKey(const std::string &key, const std::string &value)
{
	const std::string word = keyOf(value);
	std::optional<bool> truth = parseBool(value);
	if (key == "persistent-connections" && truth)
		persistent_ = truth;
	else if (key == "disconnect-scope" && word == "only-stas-connections")
		into_.config.removal = RemovalPolicy::own;
	else if (key == "disconnect-scope" && word == "all-connections-matching-disconnect-trtypes")
		into_.config.removal = RemovalPolicy::all;
	else if ((key == "disconnect-scope" && word == "no-disconnect") ||
		 (key == "honor-fabric-zoning" && truth && !*truth))
		into_.config.removal = RemovalPolicy::never;
	else if (!(key == "honor-fabric-zoning" && truth))
		drop(key, "nvmeof.toml has no such setting");
}

void Ini::key(const std::string &key, const std::string &value)
{
	std::string reason;
	if (key == "controller" &&
	    (section_ == Section::controllers || section_ == Section::service || section_ == Section::subsystem))
		return controller(value);
	switch (section_) {
	case Section::none:
		return drop(key, "unknown section");
	case Section::host:
		return hostKey(key, value);
	case Section::serviceDefaults:
		return settingKey(services_, key, value);
	case Section::ioDefaults:
		return settingKey(io_, key, value);
	case Section::mdns:
		return mdnsKey(key, value);
	case Section::controllers:
		return key == "exclude" ? exclude(value) : drop(key, "nvmeof.toml has no such setting");
	case Section::removal:
		return key == "exclude" ? exclude(value) : removalKey(key, value);
	case Section::service:
	case Section::subsystem:
		if (key == "exclude")
			return exclude(value);
		if (!takeKey(draft_, key, value, reason))
			drop(key, reason);
	}
}

Result<void> Ini::line(const std::string &text)
{
	if (text.empty() || text.front() == '#' || text.front() == ';')
		return {};
	if (text.front() == '[' && text.back() == ']') {
		begin(std::string_view(text).substr(1, text.size() - 2));
		return {};
	}
	const std::size_t equals = text.find('=');
	if (equals == text.npos)
		drop("the line", "neither a section nor KEY = VALUE");
	else
		key(keyOf(std::string_view(text).substr(0, equals)),
		    trimmed(std::string_view(text).substr(equals + 1)));
	return {};
}

Result<void> Ini::read(std::string_view text)
{
	while (!text.empty()) {
		const std::string_view one = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(one.size() + 1, text.size()));
		place_.line++;
		if (Result<void> done = line(trimmed(one)); !done)
			return done;
	}
	end();
	services_.complete(host_);
	io_.complete(host_);
	for (std::size_t i = firstService_; i < into_.config.services.size(); i++) {
		ConfigTarget &service = into_.config.services[i];
		service.settings.complete(services_);
		if (!service.persistent)
			service.persistent = persistent_;
	}
	if (io_ != ConnectSettings())
		into_.config.defaults.push_back({"*", io_, {}, {place_.file, 0}});
	return {};
}

} // namespace

Result<void> readIni(Import &into, std::string_view text, const std::string &file)
{
	const std::string name = std::filesystem::path(file).filename().string();
	const bool ofServices = name.starts_with("stafd") || text.find("[Service Discovery]") != text.npos;
	return Ini(into, file, ofServices).read(text);
}

} // namespace importing
