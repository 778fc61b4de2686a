// SPDX-License-Identifier: LGPL-2.1-or-later
// The embedded store: acknowledged records survive, whatever happens to the process and the disk.
#include "sqlite_store.h"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "tests/unit/scratch.h"

using namespace cdc;
using Catch::Contains;

namespace {

// A full disk, or a read-only one
struct Disk {
	static inline bool full = false, readOnly = false;

	struct File : sqlite3_file {
		sqlite3_file *real() { return reinterpret_cast<sqlite3_file *>(this + 1); }
	};
	static File &of(sqlite3_file *file) { return *static_cast<File *>(file); }
	template <auto member, typename... Values> static int pass(sqlite3_file *file, Values... values)
	{
		sqlite3_file *real = of(file).real();
		return real->pMethods ? (real->pMethods->*member)(real, values...) : SQLITE_IOERR;
	}
	static int write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset)
	{
		return full ? SQLITE_FULL : pass<&sqlite3_io_methods::xWrite>(file, bytes, count, offset);
	}
	static inline const sqlite3_io_methods methods = {
		1,
		pass<&sqlite3_io_methods::xClose>,
		pass<&sqlite3_io_methods::xRead>,
		write,
		pass<&sqlite3_io_methods::xTruncate>,
		pass<&sqlite3_io_methods::xSync>,
		pass<&sqlite3_io_methods::xFileSize>,
		pass<&sqlite3_io_methods::xLock>,
		pass<&sqlite3_io_methods::xUnlock>,
		pass<&sqlite3_io_methods::xCheckReservedLock>,
		pass<&sqlite3_io_methods::xFileControl>,
		pass<&sqlite3_io_methods::xSectorSize>,
		pass<&sqlite3_io_methods::xDeviceCharacteristics>,
		{},
		{},
		{},
		{},
		{},
		{},
	};
	static int open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *outFlags)
	{
		auto *base = static_cast<sqlite3_vfs *>(vfs->pAppData);
		if (readOnly)
			flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
		of(file).pMethods = &methods;
		const int result = base->xOpen(base, name, of(file).real(), flags, outFlags);
		if (result != SQLITE_OK)
			of(file).pMethods = nullptr;
		return result;
	}

	Disk()
	{
		base_ = sqlite3_vfs_find(nullptr);
		vfs_ = *base_;
		vfs_.zName = "test-disk";
		vfs_.szOsFile = static_cast<int>(sizeof(File)) + base_->szOsFile;
		vfs_.pAppData = base_;
		vfs_.xOpen = open;
		sqlite3_vfs_register(&vfs_, 1);
	}
	~Disk()
	{
		full = readOnly = false;
		sqlite3_vfs_unregister(&vfs_);
		sqlite3_vfs_register(base_, 1);
	}

	sqlite3_vfs *base_, vfs_;
};

// A store in a file, with the records and generation that it has reported
struct Embedded {
	runtime::Loop loop{runtime::Loop::Watchdog::none};
	ReportedRecords told;
	SqliteStore store;

	explicit Embedded(const std::filesystem::path &file, bool rebuild = false) : store(loop, file, rebuild) {}
	nvmeof::Result<void> start() { return store.start(std::ref(told)); }
	std::string write(std::vector<Change> changes) { return written(loop, store, std::move(changes)); }
};

std::string openRefusal(const std::filesystem::path &file)
{
	Embedded embedded(file);
	nvmeof::Result<void> started = embedded.start();
	return started ? "" : started.error().message;
}

void sql(const std::filesystem::path &file, const std::string &text)
{
	sqlite3 *db = nullptr;
	REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
	REQUIRE(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
	sqlite3_close(db);
}

void damage(const std::filesystem::path &file)
{
	const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	const std::string rubbish(4096, '\xa5');
	CHECK(::pwrite(fd, rubbish.data(), rubbish.size(), 4096) == 4096);
	::close(fd);
}

} // namespace

TEST_CASE("records and the generation survive a restart", "[cdc][sqlite]")
{
	Scratch folder;
	const auto file = folder.path() / "store";
	std::uint64_t generation;
	const std::uint64_t begin = nowMs();
	{
		Embedded embedded(file);
		REQUIRE(embedded.start().ok());
		CHECK(embedded.told.whole == 1);
		CHECK(embedded.told.records.empty());
		CHECK(embedded.told.generation >= begin); // greater than that of any earlier store
		generation = embedded.told.generation;
		CHECK(embedded.write({is(aTarget("a")), is(aZone("z"))}) == "");
		CHECK(embedded.told.generation == generation + 1);
		CHECK(embedded.write({is(aHost("h"))}) == ""); // no host sees this record
		CHECK(embedded.told.generation == generation + 1);
		CHECK(embedded.told.has(aHost("h")));
		const std::size_t news = embedded.told.news;
		CHECK(embedded.write({is(aTarget("a"))}) == ""); // unchanged
		CHECK(embedded.told.news == news);
		CHECK(embedded.write({isGone(aZone("z")), isGone(aZone("never there"))}) == "");
		CHECK(embedded.told.generation == generation + 2);
		CHECK(embedded.store.state().writable);
	}
	Embedded again(file);
	REQUIRE(again.start().ok());
	CHECK(again.told.generation == generation + 2);
	CHECK(again.told.records.size() == 2);
	CHECK(again.told.has(aTarget("a")));
	CHECK(again.told.has(aHost("h")));
	CHECK_THAT(openRefusal(file), Contains("another nvmeof-cdc uses it"));
}

TEST_CASE("all writes of one turn of the loop are one change", "[cdc][sqlite]")
{
	Scratch folder;
	Embedded embedded(folder.path() / "store");
	REQUIRE(embedded.start().ok());
	const std::uint64_t before = embedded.told.generation;
	int done = 0;
	for (const char *name : {"a", "b", "c"})
		embedded.store.write({is(aTarget(name))}, [&, name](const nvmeof::Result<void> &result) {
			CHECK(result.ok());
			CHECK(embedded.told.has(aTarget(name)));
			done++;
		});
	CHECK(done == 0);
	REQUIRE(until(embedded.loop, [&] { return done == 3; }));
	CHECK(embedded.told.news == 2); // the initial report and this change
	CHECK(embedded.told.generation == before + 1);
}

TEST_CASE("the store has the record of its own instance, and removes those of other IDs", "[cdc][sqlite]")
{
	Scratch folder;
	const auto file = folder.path() / "store";
	{
		Embedded embedded(file);
		REQUIRE(embedded.start().ok());
		embedded.store.join(anInstance("old"));
		REQUIRE(until(embedded.loop, [&] { return embedded.told.has(anInstance("old")); }));
		bool left = false;
		embedded.store.leave([&](const nvmeof::Result<void> &done) { left = done.ok(); });
		CHECK(until(embedded.loop, [&] { return left; }));
	}
	Embedded embedded(file);
	REQUIRE(embedded.start().ok());
	const std::uint64_t before = embedded.told.generation;
	embedded.store.join(anInstance("new"));
	REQUIRE(until(embedded.loop, [&] { return embedded.told.has(anInstance("new")); }));
	CHECK(embedded.told.records.size() == 1);
	CHECK(embedded.told.generation == before + 1);
	Instance leaving = anInstance("new");
	leaving.draining = true;
	embedded.store.join(leaving);
	REQUIRE(until(embedded.loop, [&] { return embedded.told.has(leaving); }));
	CHECK(embedded.told.generation == before + 2); // hosts are notified of it
}

TEST_CASE("a generation can be raised, and never falls", "[cdc][sqlite]")
{
	Scratch folder;
	const std::uint64_t far = nowMs() * 2;
	{
		Embedded embedded(folder.path() / "store");
		REQUIRE(embedded.start().ok());
		bool raised = false;
		embedded.store.raise(far, [&](const nvmeof::Result<void> &done) { raised = done.ok(); });
		CHECK(until(embedded.loop, [&] { return raised; }));
		CHECK(embedded.told.generation == far + 1);
		embedded.store.raise(5, [](const nvmeof::Result<void> &done) { CHECK(done.ok()); });
		CHECK(embedded.told.generation == far + 1);
	}
	Embedded again(folder.path() / "store");
	REQUIRE(again.start().ok());
	CHECK(again.told.generation == far + 1);
}

TEST_CASE("a file of an older version is migrated, of a newer one or another program refused", "[cdc][sqlite]")
{
	Scratch folder;
	const auto file = folder.path() / "store";
	sql(file, "CREATE TABLE record(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;"
		  "CREATE TABLE generation(value INTEGER NOT NULL);"
		  "INSERT INTO generation VALUES(41);"
		  "INSERT INTO record VALUES('zones/z', '{\"name\":\"z\"}');"
		  "PRAGMA application_id = 0x6e6f6663; PRAGMA user_version = 1");
	{
		Embedded embedded(file);
		REQUIRE(embedded.start().ok());
		CHECK(embedded.told.generation == 41);
		CHECK(embedded.told.records.contains("zones/z"));
		CHECK(embedded.write({is(aZone("y"))}) == "");
		CHECK(embedded.told.generation == 42);
	}
	{
		Embedded migrated(file);
		REQUIRE(migrated.start().ok());
		CHECK(migrated.told.generation == 42);
	}
	sql(file, "PRAGMA user_version = 99");
	CHECK_THAT(openRefusal(file), Contains("newer version (schema 99"));
	sql(folder.path() / "other", "CREATE TABLE bookmark(url)");
	CHECK_THAT(openRefusal(folder.path() / "other"), Contains("another program"));
	REQUIRE(RecordFile(folder.path() / "cache", RecordFile::Purpose::cache).open(false).ok());
	CHECK_THAT(openRefusal(folder.path() / "cache"), Contains("not a store"));
}

TEST_CASE("a damaged file is refused, and moved aside if the operator requests it", "[cdc][sqlite]")
{
	Scratch folder;
	const auto file = folder.path() / "store";
	std::uint64_t before;
	{
		Embedded embedded(file);
		REQUIRE(embedded.start().ok());
		CHECK(embedded.write({is(aTarget("a"))}) == "");
		before = embedded.told.generation;
	}
	SECTION("some pages are damaged")
	{
		damage(file);
	}
	SECTION("the whole file is damaged")
	{
		folder.write("store", "this is no database, and was one");
	}
	CHECK_THAT(openRefusal(file), Contains("damaged") && Contains("--rebuild"));
	CHECK_THAT(openRefusal(file), Contains("damaged")); // the file is not changed
	{
		Embedded rebuilt(file, true);
		REQUIRE(rebuilt.start().ok());
		CHECK(rebuilt.told.records.empty());
		CHECK(rebuilt.told.generation > before);
		CHECK(rebuilt.write({is(aTarget("b"))}) == "");
	}
	int aside = 0;
	for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
		aside += entry.path().filename().string().starts_with("store.damaged-");
	CHECK(aside >= 1);
	Embedded kept(file, true); // an intact file is kept
	REQUIRE(kept.start().ok());
	CHECK(kept.told.has(aTarget("b")));
}

TEST_CASE("a full disk fails the write that does not fit, and loses nothing", "[cdc][sqlite]")
{
	Scratch folder;
	Disk disk;
	{
		Embedded embedded(folder.path() / "store");
		REQUIRE(embedded.start().ok());
		REQUIRE(embedded.write({is(aTarget("a"))}) == "");
		const std::uint64_t before = embedded.told.generation;
		Disk::full = true;
		CHECK_THAT(embedded.write({is(aTarget("b"))}), Contains("full") && Contains("free space"));
		CHECK_FALSE(embedded.store.state().writable);
		CHECK_THAT(embedded.store.state().trouble, Contains("free space"));
		CHECK_FALSE(embedded.told.has(aTarget("b")));
		CHECK(embedded.told.generation == before);
		int refused = 0;
		for (const char *name : {"c", "d"})
			embedded.store.write({is(aTarget(name))},
					     [&](const nvmeof::Result<void> &done) { refused += !done; });
		CHECK(until(embedded.loop, [&] { return refused == 2; }));
		Disk::full = false;
		CHECK(embedded.write({is(aTarget("e"))}) == "");
		CHECK(embedded.store.state().writable);
		CHECK(embedded.told.generation == before + 1);
	}
	Embedded again(folder.path() / "store");
	REQUIRE(again.start().ok());
	CHECK(again.told.records.size() == 2);
}

TEST_CASE("a read-only file is refused with the next step", "[cdc][sqlite]")
{
	Scratch folder;
	Disk disk;
	CHECK_THAT(openRefusal(folder.path() / "none" / "store"), Contains("cannot open") && Contains("its directory"));
	REQUIRE(Embedded(folder.path() / "store").start().ok());
	Disk::readOnly = true;
	CHECK_THAT(openRefusal(folder.path() / "store"), Contains("read-only"));
}

TEST_CASE("acknowledged records survive kill -9", "[cdc][sqlite]")
{
	Scratch folder;
	struct Acknowledged {
		std::uint32_t count;
		std::uint64_t generation;
	};
	int pipe[2];
	REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
	const pid_t writer = ::fork();
	if (writer == 0) {
		::prctl(PR_SET_PDEATHSIG, SIGKILL);
		Embedded embedded(folder.path() / "store");
		if (!embedded.start())
			::_exit(1);
		for (std::uint32_t i = 0;; i++) {
			const std::string name = std::to_string(i);
			if (embedded.write({is(aTarget(name)), is(aHost(name))}) != "")
				::_exit(1);
			const Acknowledged now{i + 1, embedded.told.generation};
			if (::write(pipe[1], &now, sizeof(now)) != sizeof(now))
				::_exit(1);
		}
	}
	::close(pipe[1]);
	Acknowledged last{};
	while (last.count < 30 && ::read(pipe[0], &last, sizeof(last)) == sizeof(last))
		;
	::kill(writer, SIGKILL);
	while (::read(pipe[0], &last, sizeof(last)) == sizeof(last))
		;
	::close(pipe[0]);
	::waitpid(writer, nullptr, 0);
	REQUIRE(last.count >= 30);

	Embedded after(folder.path() / "store");
	REQUIRE(after.start().ok());
	for (std::uint32_t i = 0; i < last.count; i++)
		CHECK((after.told.has(aTarget(std::to_string(i))) && after.told.has(aHost(std::to_string(i)))));
	CHECK(after.told.records.size() % 2 == 0); // a write is atomic: two records each
	CHECK(after.told.records.size() / 2 - last.count <= 1);
	CHECK(after.told.generation >= last.generation);
}
