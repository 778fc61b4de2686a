// SPDX-License-Identifier: LGPL-2.1-or-later
// A stripe over 16 namespaces of four targets: creation, restart, path loss, growth under load
#include "control/control.h"
#include "support/fio.h"
#include "support/host.h"
#include "support/loop.h"
#include "support/netns.h"
#include "support/nvmet.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

namespace guest::stripe {

using Json = nlohmann::json;

namespace {

constexpr const char *config = "/run/stripe/nvmeof.toml";
constexpr std::uint64_t size = 16 << 20;   // bytes per namespace
constexpr std::uint64_t forXfs = 64 << 20; // per namespace when sixteen hold an xfs, which requires a log of 64 MiB
const std::string device = "/dev/mapper/scratch";

// Four subsystems with four namespaces each, over two links. Each link is optimized for two namespaces of a subsystem.
class Jbofs {
public:
	explicit Jbofs(std::uint64_t bytes = size)
	{
		for (unsigned lane = 0; lane < 2; lane++) {
			netns_.push_back(std::make_unique<Netns>("jbof" + std::to_string(lane)));
			links_.push_back(std::make_unique<Link>(*netns_[lane], "j" + std::to_string(lane), 80 + lane));
			ports_.push_back(std::make_unique<nvmet::Port>(
				lane + 1, links_[lane]->targetAddress(), 4420,
				nvmet::PortOptions{.netns = netns_[lane]->name(), .inlineData = {}}));
			ports_[lane]->setAnaState(1, lane ? "non-optimized" : "optimized");
			ports_[lane]->setAnaState(2, lane ? "optimized" : "non-optimized");
		}
		for (unsigned n = 0; n < 4; n++)
			add(n, bytes);
	}
	~Jbofs()
	{
		for (auto &link : links_)
			link->repair();
	}

	void add(unsigned n, std::uint64_t bytes)
	{
		auto subsystem = std::make_unique<nvmet::Subsystem>(nqn(n));
		for (std::uint32_t nsid = 1; nsid <= 4; nsid++) {
			disks_.push_back(std::make_unique<Loop>(bytes));
			char uuid[40];
			std::snprintf(uuid, sizeof(uuid), "00000000-0000-4000-8000-0000000000%u%u", n, nsid);
			subsystem->addNamespace(nsid, disks_.back()->device(),
						{.uuid = uuid, .anaGroup = nsid % 2 + 1});
		}
		for (auto &port : ports_)
			port->link(*subsystem);
		subsystems_.push_back(std::move(subsystem));
	}
	static std::string nqn(unsigned n) { return "nqn.2024-01.io.nvmeof:jbof" + std::to_string(n); }
	void connect(Host &host, unsigned first = 0)
	{
		for (unsigned n = first; n < subsystems_.size(); n++)
			for (auto &link : links_) {
				auto options = Host::options(link->targetAddress(), "4420", nqn(n));
				options.ctrlLoss = scaled(90s);
				options.reconnectDelay = 200ms;
				options.ioQueues = 1;
				host.connect(options);
			}
		for (unsigned n = first; n < subsystems_.size(); n++)
			for (std::uint32_t nsid = 1; nsid <= 4; nsid++)
				REQUIRE(!host.disk(nsid, 10s, nqn(n)).empty());
	}
	Link &link(unsigned lane) { return *links_[lane]; }
	std::size_t count() const { return subsystems_.size(); }

private:
	std::vector<std::unique_ptr<Loop>> disks_;
	std::vector<std::unique_ptr<Netns>> netns_;
	std::vector<std::unique_ptr<Link>> links_;
	std::vector<std::unique_ptr<nvmet::Subsystem>> subsystems_;
	std::vector<std::unique_ptr<nvmet::Port>> ports_;

public:
	Host host; // destroyed first
};

struct Configured {
	Configured() { must("rm -rf /run/stripe; mkdir -p /run/stripe; modprobe dm-mod; modprobe dm-mirror"); }
	~Configured() { run("for d in scratch scratch-old scratch-new; do dmsetup remove $d 2>/dev/null; done"); }
};

// Adds the configuration, which plan does not use.
std::string lineOf(const std::string &args)
{
	return "nvmeofctl stripe " + args + (args.starts_with("plan ") ? "" : " --config " + std::string(config));
}

Output stripe(const std::string &args)
{
	return run(lineOf(args));
}

Json stripeJson(const std::string &args)
{
	return Json::parse(must(lineOf(args) + " --json"));
}

std::string create(const std::string &more = "")
{
	const Output out = stripe("create scratch -n '*:jbof[0-3]' " + more);
	INFO(out.text);
	REQUIRE(out.status == 0);
	return out.text;
}

FioJob load(unsigned seconds)
{
	FioJob job;
	job.file = device;
	job.rw = "randwrite";
	job.blocks = "64k";
	job.depth = 16;
	job.size = "64m";
	job.seconds = seconds;
	return job;
}

std::string tableOf(const std::string &name)
{
	return must("dmsetup table " + name);
}

} // namespace

TEST_CASE("a stripe of 16 namespaces is planned, created, stopped and started again", "[stripe]")
{
	Configured configured;
	Jbofs jbofs(forXfs);
	jbofs.connect(jbofs.host);
	const Json plan = stripeJson("plan scratch -n '*:jbof?'");
	REQUIRE(plan["members"].size() == 16);
	for (std::size_t i = 0; i < 16; i++) {
		CHECK(plan["members"][i]["nqn"] == Jbofs::nqn(i % 4));
		if (i + 4 < 16)
			CHECK(plan["members"][i]["owner"] != plan["members"][i + 4]["owner"]);
	}
	CHECK(plan["size"] == 16 * forXfs);
	CHECK_FALSE(std::filesystem::exists(device));
	// a member that is not empty
	const std::string first = plan["members"][0]["disk"];
	must("mkfs.ext4 -q /dev/" + first);
	const Output refused = stripe("create scratch -n '*:jbof?'");
	CHECK(refused.status == failed);
	CHECK(namesIt(refused.text, first + ": there is ext4 on it"));
	CHECK_FALSE(std::filesystem::exists(device));

	create("--force --mkfs xfs");
	CHECK(namesIt(tableOf("scratch"), "striped 16 256 "));
	CHECK(stripe("create scratch -n '*:jbof?'").status == usage);
	CHECK(stripe("create other -n '*:jbof0'").status == usage); // in use
	must("mkdir -p /run/stripe/mount && mount " + device + " /run/stripe/mount");
	CHECK(namesIt(must("xfs_growfs -n /run/stripe/mount"), "sunit=32"));
	CHECK(namesIt(must("xfs_growfs -n /run/stripe/mount"), "swidth=512"));
	const Output busy = stripe("stop scratch");
	CHECK(busy.status == failed);
	CHECK(namesIt(busy.text, "unmount it"));
	must("echo data > /run/stripe/mount/file && umount /run/stripe/mount");
	CHECK(stripeJson("show")["stripes"][0]["state"] == "active");
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
	CHECK(stripeJson("show scratch")["stripes"][0]["state"] == "not made");
	jbofs.host.disconnectAll();
	CHECK(stripeJson("show scratch")["stripes"][0]["missing"].size() == 16);
	const Output missing = stripe("start scratch");
	CHECK(missing.status == noObject);
	CHECK(namesIt(missing.text, "16 of 16 members are missing"));
	CHECK(namesIt(stripe("start scratch --json").text, "\"failures\""));
	// names may differ, the order must not
	jbofs.connect(jbofs.host);
	// only the first of its members shows that they are in use
	const Output foreign = stripe("create other --force -n '*:jbof[1-3]'");
	CHECK(foreign.status == usage);
	CHECK(namesIt(foreign.text, "is a member of the stripe 'scratch'"));
	CHECK(stripeJson("start")["made"].size() == 1);
	CHECK(must("mount " + device + " /run/stripe/mount && cat /run/stripe/mount/file; umount /run/stripe/mount") ==
	      "data\n");
	must("nvmeofctl stripe stop scratch --forget --config " + std::string(config));
	CHECK(stripeJson("show")["stripes"].empty());
	CHECK(stripe("stop scratch").status == noObject);
	CHECK(stripe("create x/y -n '*'").status == usage);
	CHECK(stripe("plan scratch nvmeof9n9").status == noObject);
	CHECK(stripe("plan scratch -n '*:jbof?' --chunk 100KiB").status == usage);
}

TEST_CASE("a verified load on a stripe of 16 survives path loss", "[stripe]")
{
	Configured configured;
	Jbofs jbofs;
	jbofs.connect(jbofs.host);
	create();
	FioLoad fio(load(30));
	auto live = [&](std::size_t wanted) {
		return eventually(
			[&] {
				auto all = take(jbofs.host.client().controllers());
				return static_cast<std::size_t>(
					       std::count_if(all.begin(), all.end(), [](const auto &c) {
						       return c.state == nvmeof::ControllerState::live;
					       })) == wanted;
			},
			scaled(30s));
	};
	for (unsigned round = 0; round < 2; round++) {
		jbofs.link(round).impair("loss 100%");
		CHECK(live(4));
		jbofs.link(round).repair();
		CHECK(live(8));
	}
	const FioResult result = fio.finish(scaled(30s));
	INFO(result.text);
	CHECK(result.error == 0);
	CHECK(result.ios > 0);
	std::uint64_t moved = 0;
	for (const auto &path : jbofs.host.paths())
		moved += path.failoversTo;
	CHECK(moved > 0);
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
}

TEST_CASE("a stripe moves to larger members while in use, or stays unchanged", "[stripe]")
{
	Configured configured;
	Jbofs jbofs;
	jbofs.connect(jbofs.host);
	jbofs.add(4, 2 * size);
	jbofs.add(5, 8 * size);
	jbofs.connect(jbofs.host, 4);
	create();
	const std::string before = tableOf("scratch");
	CHECK(stripe("grow scratch -n '*:jbof4'").status == usage);      // smaller
	CHECK(stripe("grow scratch -n '*:jbof[0-3]'").status == failed); // its own members
	CHECK(namesIt(must("nvmeofctl stripe grow scratch -n '*:jbof5' --dry-run --config " + std::string(config)),
		      "plan: copy"));
	CHECK(tableOf("scratch") == before);
	must("dd if=/dev/urandom of=/run/stripe/data bs=1M count=16 2>/dev/null && dd if=/run/stripe/data of=" +
	     device + " bs=1M seek=100 oflag=direct 2>/dev/null");
	{
		FioLoad fio(load(30));
		const Output out = stripe("grow scratch -n '*:jbof5'");
		INFO(out.text);
		CHECK(out.status == 0);
		const FioResult result = fio.finish(scaled(30s));
		INFO(result.text);
		CHECK(result.error == 0);
		CHECK(result.ios > 0);
	}
	CHECK(namesIt(tableOf("scratch"), "striped 4 256 "));
	CHECK(must("blockdev --getsize64 " + device) == std::to_string(4 * 8 * size) + "\n");
	must("dd if=" + device + " bs=1M skip=100 count=16 iflag=direct 2>/dev/null | cmp - /run/stripe/data");
	CHECK(must("dmsetup ls | wc -l") == "1\n");
	CHECK(stripeJson("show")["stripes"][0]["members"].size() == 4);
	// the new configuration starts the same stripe
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
	must("nvmeofctl stripe start scratch --config " + std::string(config));
	must("dd if=" + device + " bs=1M skip=100 count=16 iflag=direct 2>/dev/null | cmp - /run/stripe/data");
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
}

TEST_CASE("a move whose process was killed is undone or completed by the next one", "[stripe]")
{
	Configured configured;
	Jbofs jbofs(size / 4);
	jbofs.connect(jbofs.host);
	jbofs.add(4, size);
	jbofs.connect(jbofs.host, 4);
	create();
	const std::string file = "/run/stripe/nvmeof.d/stripe-scratch.toml", move = "grow scratch -n '*:jbof4'",
			  copied = "dmsetup status scratch | awk '{ split($7, n, \"/\"); exit n[1] != n[2] }'";
	const bool saved = GENERATE(false, true);
	must("dd if=/dev/urandom of=/run/stripe/data bs=1M count=16 2>/dev/null && dd if=/run/stripe/data of=" +
	     device + " bs=1M seek=20 oflag=direct 2>/dev/null");
	{
		Background killed("exec " + lineOf(move));
		REQUIRE(eventually([] { return namesIt(tableOf("scratch"), " mirror "); }));
		CHECK(stripe(move).status == usage); // two at a time
		killed.signal(SIGKILL);
	}
	const bool whole = eventually([&] { return run(copied).status == 0; }, 60s); // the kernel goes on
	INFO(run("dmsetup status; dmsetup table").text);
	REQUIRE(whole);
	if (saved) { // as by a process that was killed after this
		must("{ printf '[[stripe]]\\nname = \"scratch\"\\nmembers = ['; "
		     "for d in $(dmsetup table scratch-new | grep -o '[0-9]*:[0-9]*'); do "
		     "printf '\"%s\", ' $(cat /sys/dev/block/$d/wwid); done; echo ']'; } > " +
		     file);
	}
	const Output again = stripe(move);
	INFO(again.text);
	CHECK(again.status == 0);
	CHECK(namesIt(again.text, saved ? "completing it" : "undoing it"));
	CHECK(namesIt(tableOf("scratch"), "striped 4 256 "));
	CHECK(must("dmsetup ls | wc -l") == "1\n");
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
	must("nvmeofctl stripe start scratch --config " + std::string(config));
	must("dd if=" + device + " bs=1M skip=20 count=16 iflag=direct 2>/dev/null | cmp - /run/stripe/data");
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
}

TEST_CASE("the daemon creates a configured stripe when its members are there", "[stripe]")
{
	Configured configured;
	Jbofs jbofs;
	jbofs.connect(jbofs.host);
	create();
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
	jbofs.host.disconnectAll();
	must(std::string("touch ") + config);
	Background daemon("exec nvmeofd --config " + std::string(config) +
			  " --state /run/stripe/state --lock /run/stripe/lock");
	std::this_thread::sleep_for(500ms);
	CHECK_FALSE(std::filesystem::exists(device));
	jbofs.connect(jbofs.host);
	CHECK(eventually([] { return std::filesystem::exists(device); }, scaled(10s)));
	daemon.signal(SIGTERM);
	const Output ended = daemon.wait(scaled(5s));
	INFO(ended.text);
	CHECK(ended.status == 0);
	CHECK(std::filesystem::exists(device)); // the stripe outlives the daemon
	must("nvmeofctl stripe stop scratch --config " + std::string(config));
}

} // namespace guest::stripe
