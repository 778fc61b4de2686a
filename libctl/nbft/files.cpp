// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the firmware tables that the kernel exposes: /sys/firmware/acpi/tables/NBFT, or NBFT1, NBFT2, ... if there are
// several.
#include "nbft.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nofctl::nbft {

using namespace nvmeof;

std::vector<std::string> filesIn(const std::filesystem::path &folder)
{
	std::vector<std::string> files;
	std::error_code error;
	for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
		const std::string name = at->path().filename().string();
		if (name.starts_with("NBFT") && name.find_first_not_of("0123456789", 4) == name.npos)
			files.push_back(at->path().string());
	}
	std::ranges::sort(files, [](const std::string &a, const std::string &b) {
		return a.size() != b.size() ? a.size() < b.size() : a < b; // NBFT10 sorts after NBFT9
	});
	return files;
}

static Result<std::vector<std::uint8_t>> bytesOf(const std::string &file)
{
	const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
	const auto failure = [&](int sysErrno) {
		Error error = errorFromErrno(sysErrno, file + ": " + std::strerror(sysErrno));
		error.object = {ErrorObject::Kind::file, file};
		return error;
	};
	if (fd < 0)
		return failure(errno);
	std::vector<std::uint8_t> bytes(maxTableSize + 1);
	std::size_t size = 0;
	ssize_t n = 0;
	while (size < bytes.size() && (n = ::read(fd, bytes.data() + size, bytes.size() - size)) > 0)
		size += static_cast<std::size_t>(n);
	int sysErrno = n < 0 ? errno : 0;
	if (size > maxTableSize)
		sysErrno = EFBIG;
	::close(fd);
	if (sysErrno)
		return failure(sysErrno);
	bytes.resize(size);
	bytes.shrink_to_fit();
	return bytes;
}

Result<BootTable> read(const std::string &file)
{
	Result<std::vector<std::uint8_t>> bytes = bytesOf(file);
	if (!bytes)
		return bytes.error();
	Result<BootTable> table = parse(*bytes);
	if (!table) {
		Error error = table.error();
		error.message = file + ": " + error.message;
		return error;
	}
	table->file = file;
	return table;
}

} // namespace nofctl::nbft
