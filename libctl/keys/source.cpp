// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libctl/base/epoll.h"
#include "libctl/base/make_error.h"
#include "libctl/base/text.h"
#include "tls_psk.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::Result;

namespace {

constexpr std::string_view credentialPrefix = "credential:", keyringPrefix = "keyring:";
constexpr std::size_t maxNameSize = 4000; // less than PATH_MAX, and than the description of a key may have

Error fileProblem(const std::string &file, const std::string &problem)
{
	Error error = invalidError(file + ": " + problem);
	error.object = {nvmeof::ErrorObject::Kind::file, file};
	return error;
}

// A missing file is an invalid argument: noSuchObject stands for objects of the driver.
Error systemProblem(const std::string &file, int sysErrno)
{
	Error error = fileProblem(file, std::strerror(sysErrno));
	error.sysErrno = sysErrno;
	if (sysErrno == EACCES || sysErrno == EPERM)
		error.code = nvmeof::ErrorCode::notPermitted;
	return error;
}

std::string octal(mode_t mode)
{
	char text[8];
	std::snprintf(text, sizeof(text), "%04o", static_cast<unsigned>(mode & 07777));
	return text;
}

Error tooLarge(const std::string &file, std::size_t maxSize)
{
	return fileProblem(file, "larger than " + std::to_string(maxSize >> 10) +
					 " KiB; it must contain nothing but the key");
}

// systemd guards the directory of credentials. It may give the files to another user by an access control list, whose
// mask the mode shows.
Result<void> checkFile(const std::string &file, const struct stat &is, KeySource::Kind kind, std::size_t maxSize)
{
	const bool credential = kind == KeySource::Kind::credential;
	if (!S_ISREG(is.st_mode))
		return fileProblem(file, "is not a regular file; 'nvmeofctl key generate --output FILE' writes one");
	if (!credential && is.st_uid != 0 && is.st_uid != ::geteuid())
		return fileProblem(file, "belongs to another user (uid " + std::to_string(is.st_uid) +
						 "), who can change it: 'chown root " + file + "'");
	if (!credential && is.st_mode & 0177)
		return fileProblem(file, "its mode is " + octal(is.st_mode) +
						 ", and must be 0600 or stricter: 'chmod 600 " + file + "'");
	if (is.st_size > static_cast<off_t>(maxSize))
		return tooLarge(file, maxSize);
	return {};
}

Result<std::string> pathOf(const KeySource &source)
{
	if (source.kind() == KeySource::Kind::file)
		return source.name();
	const char *folder = std::getenv("CREDENTIALS_DIRECTORY");
	if (!folder || !*folder)
		return invalidError(source.toString() +
				    ": there are no credentials here; in a systemd unit, "
				    "'LoadCredential=" +
				    source.name() + ":FILE' provides it");
	return std::string(folder) + "/" + source.name();
}

bool isFileName(std::string_view name)
{
	return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos;
}

// The description of a key: a word, or the identity of a TLS key, which is several.
bool isDescription(std::string_view name)
{
	return isPlain(name) || TlsIdentity::parse(name).ok();
}

} // namespace

Error secretError()
{
	return invalidError("this looks like the key itself, which others can read here: write it into a file, 'chmod "
			    "600 FILE', and give the path of the file");
}

Result<KeySource> KeySource::parse(std::string_view text)
{
	if (containsSecret(text))
		return secretError();
	const bool path = text.starts_with('/') || text.starts_with("./") || text.starts_with("../");
	if (path && text.size() <= maxNameSize && isPlain(text))
		return KeySource(Kind::file, std::string(text));
	for (const auto &[prefix, kind] :
	     {std::pair{credentialPrefix, Kind::credential}, {keyringPrefix, Kind::keyring}}) {
		if (!text.starts_with(prefix))
			continue;
		const std::string_view name = text.substr(prefix.size());
		if (!name.empty() && name.size() <= maxNameSize &&
		    (kind == Kind::keyring ? isDescription(name) : isPlain(name) && isFileName(name)))
			return KeySource(kind, std::string(name));
	}
	return invalidError("expected the path of a file, which begins with / or ./, credential:NAME or "
			    "keyring:DESCRIPTION (the value is not shown, as it may be a key)");
}

Result<KeySource> KeySource::parseAbsolute(std::string_view text)
{
	Result<KeySource> source = parse(text);
	if (source && source->relative())
		return invalidError("the path is not absolute: " + source->name());
	return source;
}

std::string KeySource::toString() const
{
	switch (kind_) {
	case Kind::file:
		break;
	case Kind::credential:
		return std::string(credentialPrefix) + name_;
	case Kind::keyring:
		return std::string(keyringPrefix) + name_;
	}
	return name_;
}

Result<SecretBytes> readSecret(int fd, const std::string &name, std::size_t maxSize)
{
	SecretBytes text(maxSize + 1); // one more, in case the file grows
	std::size_t size = 0;
	while (size < text.size()) {
		const ssize_t n = ::read(fd, text.data() + size, text.size() - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return systemProblem(name, errno);
		if (n == 0)
			break;
		size += static_cast<std::size_t>(n);
	}
	if (size > maxSize)
		return tooLarge(name, maxSize);
	text.shrink(size);
	if (text.text().ends_with('\n'))
		text.shrink(size - 1);
	if (text.size() == 0)
		return fileProblem(name, "is empty; 'nvmeofctl key generate --output FILE' writes a new key");
	return text;
}

// O_NONBLOCK: opening a FIFO would wait for a writer. Symbolic links are followed, as Kubernetes makes its Secret
// volumes of them; it is the opened file that counts.
Result<SecretBytes> readSecret(const KeySource &source, std::size_t maxSize)
{
	Result<std::string> path = pathOf(source);
	if (!path)
		return path.error();
	const OwnedFd fd(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	struct stat is {};
	if (fd.get() < 0 || ::fstat(fd.get(), &is) < 0)
		return systemProblem(*path, errno);
	if (Result<void> good = checkFile(*path, is, source.kind(), maxSize); !good)
		return good.error();
	return readSecret(fd.get(), *path, maxSize);
}

Result<void> checkDhchapSecret(const KeySource &source, const SecretBytes &text)
{
	if (Result<DhchapSecret> secret = DhchapSecret::parse(text.text()); !secret)
		return fileProblem(source.toString(), secret.error().message);
	return {};
}

Result<SecretBytes> readDhchapSecret(const KeySource &source)
{
	Result<SecretBytes> text = readSecret(source);
	if (!text)
		return text;
	if (Result<void> good = checkDhchapSecret(source, *text); !good)
		return good.error();
	return text;
}

Result<TlsPsk> readTlsPsk(const KeySource &source)
{
	Result<SecretBytes> text = readSecret(source);
	if (!text)
		return text.error();
	Result<TlsPsk> key = TlsPsk::parse(text->text());
	if (!key)
		return fileProblem(source.toString(), key.error().message);
	return key;
}

// Renaming a file over another one, writing to it and changing its mode all change its ctime.
std::string versionOf(const KeySource &source)
{
	if (source.kind() == KeySource::Kind::keyring)
		return source.toString();
	const Result<std::string> path = pathOf(source);
	struct stat is {};
	if (!path || ::stat(path->c_str(), &is) < 0)
		return source.toString() + " missing";
	std::string version = source.toString();
	for (const auto number : {static_cast<std::uint64_t>(is.st_dev), static_cast<std::uint64_t>(is.st_ino),
				  static_cast<std::uint64_t>(is.st_size), static_cast<std::uint64_t>(is.st_ctim.tv_sec),
				  static_cast<std::uint64_t>(is.st_ctim.tv_nsec)})
		version += " " + std::to_string(number);
	return version;
}

Result<void> writeSecret(int fd, const std::string &name, const SecretBytes &text)
{
	auto writeAll = [fd](std::string_view rest) {
		while (!rest.empty()) {
			const ssize_t n = ::write(fd, rest.data(), rest.size());
			if (n < 0 && errno != EINTR)
				return false;
			rest.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
		}
		return true;
	};
	if (writeAll(text.text()) && writeAll("\n"))
		return {};
	return nvmeof::errorFromErrno(errno, name + ": " + std::strerror(errno));
}

Result<void> writeSecret(const std::string &file, const SecretBytes &text)
{
	const OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (fd.get() < 0 && errno == EEXIST)
		return fileProblem(file,
				   "exists already, and a key that is in use must not be lost; give another name");
	if (fd.get() < 0)
		return systemProblem(file, errno);
	Result<void> done = writeSecret(fd.get(), file, text);
	if (done && ::fsync(fd.get()) < 0)
		done = systemProblem(file, errno);
	if (!done)
		::unlink(file.c_str());
	return done;
}

} // namespace nofctl
