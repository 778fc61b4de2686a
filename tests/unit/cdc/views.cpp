// SPDX-License-Identifier: LGPL-2.1-or-later
// The entries that each host sees, computed from records.
#include "views.h"

#include "support.h"

using namespace cdc;
using namespace nofctl::wire;
using Catch::Contains;

namespace {

const std::string host_a = "nqn.2014-08.org.nvmexpress:uuid:a", host_b = "nqn.2014-08.org.nvmexpress:uuid:b";

Target inState(Target target, AnaState state)
{
	target.state = state;
	return target;
}

// A model and its views; the views of the previous generation are kept
struct ViewFixture {
	Model model{"self"};
	std::unique_ptr<Views> views, before;
	Unzoned unzoned = Unzoned::unlessZoned;
	std::uint64_t generation = 0;
	std::vector<std::string> wrong;

	ViewFixture &operator()(std::vector<Change> changes, bool whole = false)
	{
		wrong = model.apply({.whole = whole, .changes = std::move(changes), .generation = ++generation});
		before = std::move(views);
		views = std::make_unique<Views>(model, ViewRules{.unzoned = unzoned}, before.get());
		return *this;
	}
	// The entries that a host sees, as the end of the NQN and the address
	std::vector<std::string> told(const std::string &host) const
	{
		std::vector<std::string> told;
		for (const Block &entry : views->of(host)->entries()) {
			const std::string nqn = text(entry->subnqn);
			told.push_back(nqn.substr(nqn.rfind(':') + 1) + " " + text(entry->traddr));
		}
		return told;
	}
};

using List = std::vector<std::string>;

} // namespace

TEST_CASE("optimized paths come first", "[cdc][views]")
{
	ViewFixture world;
	world({is(inState(aTarget("a", "10.0.0.1"), ana_inaccessible)),
	       is(inState(aTarget("a", "10.0.0.2"), ana_optimized)),
	       is(inState(aTarget("a", "10.0.0.3"), ana_non_optimized)),
	       is(inState(aTarget("b", "10.0.0.4"), ana_change)),
	       is(inState(aTarget("b", "10.0.0.5"), ana_persistent_loss)), is(aTarget("c", "10.0.0.6"))});
	CHECK(world.told(host_a) ==
	      List{"a 10.0.0.2", "c 10.0.0.6", "a 10.0.0.3", "b 10.0.0.4", "a 10.0.0.1", "b 10.0.0.5"});
	world({is(inState(aTarget("a", "10.0.0.2"), ana_inaccessible))});
	CHECK(world.told(host_a).front() == "c 10.0.0.6");
}

TEST_CASE("zones define which hosts see which targets", "[cdc][views]")
{
	ViewFixture world;
	world({is(aTarget("a")), is(aTarget("b")), is(aTarget("other"))});
	CHECK(world.told(host_a).size() == 3); // no zone exists

	world({is(aZone("one", {host_a}, {"nqn.2024-01.io.nvmeof:a"}))});
	CHECK(world.told(host_a) == List{"a 10.0.0.1"});
	CHECK(world.told(host_b).empty());

	// Zones have patterns of hosts and targets. A host of several zones sees each of their targets once.
	world({is(aZone("two", {"nqn.2014-08.*:[ab]"}, {"*:?"}))});
	CHECK(world.told(host_a) == List{"a 10.0.0.1", "b 10.0.0.1"});
	CHECK(world.told(host_b) == List{"a 10.0.0.1", "b 10.0.0.1"});
	CHECK(world.views->of(host_a) != world.views->of(host_b));
	CHECK(world.views->of("nqn.2014-08.org.nvmexpress:uuid:c")->count() == 0);

	world({isGone(aZone("one")), isGone(aZone("two"))});
	CHECK(world.told(host_b).size() == 3);
}

TEST_CASE("the configuration decides what hosts of no zone see", "[cdc][views]")
{
	for (Unzoned unzoned : {Unzoned::unlessZoned, Unzoned::all, Unzoned::none}) {
		ViewFixture world;
		world.unzoned = unzoned;
		world({is(aTarget("a"))});
		CHECK(world.told(host_b).size() == (unzoned == Unzoned::none ? 0 : 1));
		world({is(aZone("z", {host_a}, {"*"}))});
		CHECK(world.told(host_a).size() == 1);
		CHECK(world.told(host_b).size() == (unzoned == Unzoned::all ? 1 : 0));
	}
}

TEST_CASE("hosts with the same entries share a page, which is kept while its entries are the same", "[cdc][views]")
{
	ViewFixture world;
	world({is(anInstance("self")), is(aTarget("a")), is(aTarget("b")), is(aZone("one", {host_a, "*:c*"}, {"*:a"})),
	       is(aZone("two", {host_b}, {"*:b"}))});
	const auto a = world.views->of(host_a), b = world.views->of(host_b);
	const auto session = world.views->zoneTable().use(host_a);
	CHECK(world.views->of("nqn.x:c1") == a); // a host of the same zones
	CHECK(world.views->of("nqn.x:c2") == a);
	CHECK(world.views->pages() == 2);

	world({is(aTarget("b", "10.0.0.2"))}); // only one of the two hosts sees this target
	CHECK(world.views->pages() == 2);      // made before a host asks
	CHECK(world.views->generation() == 2);
	CHECK(world.views->of(host_a) == a);
	CHECK(world.views->of(host_b) != b);
	CHECK(b->count() == 2); // a page stays valid for its readers

	world({is(aHost("h")), is(aTarget("a"))}); // a host, and an unchanged target
	CHECK(world.views->of(host_a) == a);
	world({is(aZone("three", {"nqn.x:d"}, {"*"}))}); // a zone of neither host
	CHECK(world.views->of(host_a) == a);
	// the store reports all records again, as after a reconnect
	world({is(anInstance("self")), is(aTarget("a")), is(aTarget("b")), is(aZone("one", {host_a, "*:c*"}, {"*:a"}))},
	      true);
	CHECK(world.views->of(host_a) == a);
	CHECK(world.model.targets().size() == 2); // records that are not reported are gone
	CHECK(world.model.hosts().empty());
	world({isGone(aTarget("a"))});
	CHECK(world.views->of(host_a)->count() == 1);
}

TEST_CASE("a slice of a page has the right bytes", "[cdc][views]")
{
	ViewFixture world;
	world({is(aTarget("a")), is(aTarget("b")), is(aTarget("c"))});
	world({is(aTarget("d"))}); // in another slab
	const auto page = world.views->of(host_a);
	std::string whole;
	for (const Block &entry : page->entries())
		whole.append(reinterpret_cast<const char *>(entry.get()), sizeof(*entry));
	REQUIRE(whole.size() == 4096);
	for (const auto &[offset, length] : {std::pair<std::uint64_t, std::uint64_t>{0, 4096},
					     {0, 1},
					     {1023, 2},
					     {1, 4094},
					     {3072, 1024},
					     {4095, 100},
					     {4096, 1},
					     {100000, 4},
					     {0, 1u << 30}}) {
		std::vector<std::span<const std::uint8_t>> pieces;
		page->slice(offset, length, pieces);
		std::string got;
		for (auto piece : pieces)
			got.append(reinterpret_cast<const char *>(piece.data()), piece.size());
		CHECK(got == (offset < whole.size() ? whole.substr(offset, length) : ""));
	}
	std::vector<std::span<const std::uint8_t>> pieces;
	page->slice(0, 4096, pieces);
	CHECK(pieces.size() == 2);
}

TEST_CASE("instances appear as discovery services, except draining ones", "[cdc][views]")
{
	ViewFixture world;
	Instance self = anInstance("self"), other = anInstance("other");
	other.addresses = {"10.0.1.1:8009", "10.0.2.1:8009"};
	world({is(self), is(other), is(aTarget("a"))});
	const auto page = world.views->of(host_a);
	REQUIRE(page->count() == 4);
	int referrals = 0;
	for (const Block &entry : page->entries()) {
		referrals += entry->subtype == sub_referral;
		if (entry->subtype == sub_nvm)
			continue;
		CHECK(entry->subtype == (text(entry->subnqn) == self.nqn ? sub_current : sub_referral));
		CHECK(entry->eflags == (ef_duplicate | ef_persistent));
	}
	CHECK(referrals == 2);
	other.draining = true;
	world({is(other)});
	CHECK(world.views->of(host_a)->count() == 2);
	world({isGone(other)});
	CHECK(world.model.instances().size() == 1);
}

TEST_CASE("an invalid record is left out and reported", "[cdc][views]")
{
	ViewFixture world;
	world({is(aTarget("a")),
	       {"targets/rubbish", "{"},
	       {"zones/z", R"({"name":"y"})"},
	       {"zones/u", R"({"name":7})"}});
	REQUIRE(world.wrong.size() == 3);
	CHECK_THAT(world.wrong[1], Contains("zones/z is skipped") && Contains("zones/y"));
	CHECK(world.told(host_a).size() == 1);
	// a record that becomes invalid is removed
	world({{aTarget("a").key(), "{}"}});
	CHECK(world.wrong.size() == 1);
	CHECK(world.told(host_a).empty());
}

TEST_CASE("patterns match as in fnmatch(3)", "[cdc][views]")
{
	CHECK(isPattern("nqn.*"));
	CHECK(isPattern("nqn.[ab]"));
	CHECK_FALSE(isPattern("nqn.2024-01.io.nvmeof:a"));
	CHECK(fits("nqn.*:a?", "nqn.2024/01:ab")); // a slash is an ordinary character
	CHECK_FALSE(fits("nqn.*:a?", "nqn.2024:a"));
}

TEST_CASE("a host is cached also after a hundred thousand others", "[cdc][views]")
{
	const ZoneTable table({}, Unzoned::unlessZoned, nullptr);
	for (int i = 0; i < 100000; i++)
		table.of("nqn.invented" + std::to_string(i));
	const ZoneSet *set = table.of(host_a);
	const auto hosts = table.hosts();
	CHECK(std::ranges::find(hosts, host_a) != hosts.end());
	CHECK(hosts.size() <= 100000);
	CHECK(table.of(host_a) == set);
	CHECK(table.lookUp(host_b) == *set);
	CHECK(table.hosts().size() == hosts.size());
}

TEST_CASE("a new table of zones looks up only hosts that are in use", "[cdc][views]")
{
	const std::map<std::string, Zone> zones{{Zone::keyOf("z"), aZone("z", {"*"}, {"*"})}};
	const ZoneTable one({}, Unzoned::unlessZoned, nullptr);
	for (int i = 0; i < 1000; i++)
		one.of("nqn.gone" + std::to_string(i));
	auto session = one.use(host_a), other = one.use(host_a);
	one.use(host_b); // has disconnected
	const ZoneTable two(zones, Unzoned::unlessZoned, &one);
	CHECK(two.hosts() == List{host_a});
	CHECK(two.sets().size() == 1);
	session.reset();
	const ZoneTable three({}, Unzoned::unlessZoned, &two);
	CHECK(three.hosts() == List{host_a});
	other.reset();
	CHECK(ZoneTable(zones, Unzoned::unlessZoned, &three).hosts().empty());
}
