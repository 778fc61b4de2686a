// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shell.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace guest {
namespace {

int exitStatus(int raw)
{
	return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

std::string slurp(const std::string &path)
{
	std::ifstream in(path);
	std::stringstream all;
	all << in.rdbuf();
	return all.str();
}

} // namespace

std::string quoted(const std::string &text)
{
	std::string out = "'";
	for (char c : text)
		out += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return out + "'";
}

Output run(const std::string &command)
{
	std::string text;
	auto *pipe = ::popen(("{ " + command + "\n} 2>&1").c_str(), "re");
	if (!pipe)
		throw std::system_error(errno, std::generic_category(), "popen");
	std::array<char, 4096> buffer;
	for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
		text.append(buffer.data(), n);
	return {exitStatus(::pclose(pipe)), text};
}

std::string must(const std::string &command)
{
	auto out = run(command);
	if (out.status)
		throw std::runtime_error(command + ": status " + std::to_string(out.status) + ": " + out.text);
	return out.text;
}

std::string readFile(const std::string &path)
{
	auto text = slurp(path);
	auto end = text.find_last_not_of(" \n");
	return end == std::string::npos ? "" : text.substr(0, end + 1);
}

void writeFile(const std::string &path, std::string_view text)
{
	int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	auto n = fd < 0 ? -1 : ::write(fd, text.data(), text.size());
	int error = errno;
	if (fd >= 0)
		::close(fd);
	if (n != static_cast<ssize_t>(text.size()))
		throw std::system_error(error, std::generic_category(), "write " + path);
}

bool exists(const std::string &path)
{
	return ::access(path.c_str(), F_OK) == 0;
}

void ip(const std::string &options, std::initializer_list<std::string> commands)
{
	std::string text = "ip " + options + " -batch - <<'END'\n";
	for (auto &command : commands)
		text += command + "\n";
	must(text + "END");
}

void loadModules(std::initializer_list<std::string> names)
{
	std::string missing;
	for (auto &name : names)
		if (readFile("/sys/module/" + name + "/initstate") != "live")
			missing += " " + name;
	if (!missing.empty())
		must("modprobe -a" + missing);
}

double timeScale()
{
	auto factor = [](const char *name) { return std::max(1.0, std::atof(environment(name, "1").c_str())); };
	static const double product = factor("NVMEOF_SLOW") * factor("NVMEOF_LOAD");
	return product;
}

Millis scaled(Millis time)
{
	return Millis(static_cast<Millis::rep>(static_cast<double>(time.count()) * timeScale()));
}

bool eventually(const std::function<bool()> &condition, Millis timeout)
{
	auto end = Clock::now() + scaled(timeout);
	while (!condition()) {
		if (Clock::now() > end)
			return false;
		std::this_thread::sleep_for(10ms);
	}
	return true;
}

std::string environment(const char *name, const std::string &fallback)
{
	auto *value = std::getenv(name);
	return value && *value ? value : fallback;
}

Background::Background(const std::string &command)
{
	static std::atomic<int> count{0};
	file_ = "/tmp/background." + std::to_string(count++);
	pid_ = ::fork();
	if (pid_ != 0)
		return;
	::setpgid(0, 0);
	int fd = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	::dup2(fd, 1);
	::dup2(fd, 2);
	::execl("/usr/bin/bash", "bash", "-c", command.c_str(), nullptr);
	::_exit(127);
}

Background::~Background()
{
	stop();
	::unlink(file_.c_str());
}

bool Background::running()
{
	int raw;
	if (pid_ > 0 && ::waitpid(pid_, &raw, WNOHANG) == pid_) {
		status_ = exitStatus(raw);
		pid_ = -1;
	}
	return pid_ > 0;
}

Output Background::wait(Millis timeout)
{
	eventually([this] { return !running(); }, timeout);
	return {status_, slurp(file_)};
}

void Background::interrupt()
{
	if (running())
		::kill(pid_, SIGINT);
}

void Background::signal(int number)
{
	if (running())
		::kill(-pid_, number);
}

void Background::stop()
{
	if (!running())
		return;
	::kill(-pid_, SIGKILL);
	eventually([this] { return !running(); }, 30s);
}

} // namespace guest
