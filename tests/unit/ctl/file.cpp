// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "tests/unit/scratch.h"
#include "libctl/base/file.h"

using namespace nvmeof;

TEST_CASE("a file is replaced atomically", "[file]")
{
	Scratch scratch;
	std::filesystem::path file = scratch.path() / "nvmeof.prom";
	REQUIRE(nofctl::replaceFile(file, "first\n"));
	CHECK(scratch.read("nvmeof.prom") == "first\n");
	struct stat before {};
	REQUIRE(::stat(file.c_str(), &before) == 0);
	CHECK((before.st_mode & 07777) == 0644); // the metrics collector runs as another user
	std::ifstream reader(file);
	REQUIRE(nofctl::replaceFile(file, "second, and longer\n"));
	std::stringstream seen;
	seen << reader.rdbuf();
	CHECK(seen.str() == "first\n"); // an open descriptor still has the old file
	CHECK(scratch.read("nvmeof.prom") == "second, and longer\n");
	std::size_t files = 0;
	for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(scratch.path()))
		files++;
	CHECK(files == 1); // no temporary file is left
}

TEST_CASE("a directory, device or link is not replaced", "[file]")
{
	Scratch scratch;
	Result<void> nowhere = nofctl::replaceFile(scratch.path() / "absent" / "x.prom", "normal");
	REQUIRE_FALSE(nowhere);
	CHECK(nowhere.error().code == ErrorCode::failed);
	CHECK(nowhere.error().message == (scratch.path() / "absent/x.prom: No such file or directory").string());
	std::filesystem::path folder = scratch.path() / "folder";
	std::filesystem::create_directory(folder);
	CHECK(nofctl::replaceFile(folder, "normal").error().message ==
	      folder.string() + ": is not a regular file; name a file in a directory of your own");
	CHECK(std::filesystem::is_directory(folder));
	CHECK_FALSE(nofctl::replaceFile("/dev/null", "normal"));
	CHECK(std::filesystem::is_character_file("/dev/null"));
	std::filesystem::path link = scratch.path() / "link";
	std::filesystem::create_symlink("/dev/null", link);
	CHECK_FALSE(nofctl::replaceFile(link, "normal"));
	CHECK(std::filesystem::is_symlink(link));
	std::size_t entries = 0;
	for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(scratch.path()))
		entries++;
	CHECK(entries == 2);
}

TEST_CASE("a replaced file gets the requested mode", "[file]")
{
	Scratch scratch;
	std::filesystem::path file = scratch.path() / "kept";
	scratch.write("kept", "old");
	REQUIRE(nofctl::replaceFile(file, "new", 0600, nofctl::Durable::yes));
	struct stat now {};
	REQUIRE(::stat(file.c_str(), &now) == 0);
	CHECK((now.st_mode & 07777) == 0600);
	CHECK(scratch.read("kept") == "new");
}

TEST_CASE("text is appended to a file, but not through a symbolic link", "[file]")
{
	Scratch scratch;
	std::filesystem::path file = scratch.path() / "log";
	REQUIRE(nofctl::appendToFile(file, "one\n", 0600));
	REQUIRE(nofctl::appendToFile(file, "two\n", 0600));
	CHECK(scratch.read("log") == "one\ntwo\n");
	std::filesystem::create_symlink(file, scratch.path() / "link");
	Result<void> added = nofctl::appendToFile(scratch.path() / "link", "three\n", 0600);
	REQUIRE_FALSE(added);
	CHECK(added.error().sysErrno == ELOOP);
	CHECK(scratch.read("log") == "one\ntwo\n");
}

TEST_CASE("a file is created only if it does not exist", "[file]")
{
	Scratch scratch;
	std::filesystem::path file = scratch.path() / "hostid";
	Result<bool> first = nofctl::createFile(file, "first\n"), second = nofctl::createFile(file, "second\n");
	CHECK((first && *first));
	CHECK((second && !*second));
	CHECK(scratch.read("hostid") == "first\n");
	CHECK(nofctl::createFile(scratch.path() / "absent" / "hostid", "x").error().sysErrno == ENOENT);
}

TEST_CASE("a read of a small file stops at the given limit", "[file]")
{
	Scratch scratch;
	scratch.write("long", std::string(100'000, 'x'));
	CHECK(nofctl::readSmallFile(scratch.path() / "long", 70'000)->size() == 70'000);
	CHECK(nofctl::readSmallFile(scratch.path() / "long", 200'000)->size() == 100'000);
	CHECK(nofctl::readSmallFile(scratch.path() / "absent").error().code == ErrorCode::noSuchObject);
	CHECK_FALSE(nofctl::readSmallFile(scratch.path()));
}

TEST_CASE("a file larger than the limit of a whole read is refused", "[file]")
{
	Scratch scratch;
	const std::filesystem::path file = scratch.path() / "long";
	scratch.write("long", std::string(64 << 10, 'x'));
	CHECK(nofctl::readWholeFile(file, 64 << 10)->size() == 64 << 10);
	CHECK(nofctl::readWholeFile(file, 1 << 10).error().message == file.string() + ": larger than 1 KiB");
	scratch.write("long", std::string((2 << 20) + 1, 'x'));
	const Result<std::string> larger = nofctl::readWholeFile(file, 2 << 20);
	REQUIRE_FALSE(larger);
	CHECK(larger.error().code == ErrorCode::invalid);
	CHECK(larger.error().message == file.string() + ": larger than 2 MiB");
	CHECK(nofctl::readWholeFile(scratch.path() / "absent", 1 << 10).error().code == ErrorCode::noSuchObject);
}

TEST_CASE("unfinished temporary files are removed, and no others", "[file]")
{
	Scratch scratch;
	for (const char *name : {"events", ".events.aB3xYz", ".events.longer1", ".event.aB3xYz", "events.aB3xYz"})
		scratch.write(name, "x");
	nofctl::removeUnfinished(scratch.path() / "events");
	CHECK_FALSE(std::filesystem::exists(scratch.path() / ".events.aB3xYz"));
	for (const char *name : {"events", ".events.longer1", ".event.aB3xYz", "events.aB3xYz"})
		CHECK(std::filesystem::exists(scratch.path() / name));
}
