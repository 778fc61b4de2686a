// SPDX-License-Identifier: LGPL-2.1-or-later
// Shell commands, files and waiting
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace guest {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

struct Output {
	int status;       // exit status, 128 + signal
	std::string text; // stdout and stderr
};

// Runs a shell command and waits for its end.
Output run(const std::string &command);
// Throws with the output unless the status is 0; returns the output.
std::string must(const std::string &command);

std::string quoted(const std::string &text); // as one shell word

std::string readFile(const std::string &path); // trailing blanks removed; empty if there is no such file
void writeFile(const std::string &path, std::string_view text); // throws
bool exists(const std::string &path);

// Runs commands of ip in one process, because starting a process takes longer than a command. Throws.
void ip(const std::string &options, std::initializer_list<std::string> commands);
// Loads the modules that are not loaded, by their names in /sys/module. Throws.
void loadModules(std::initializer_list<std::string> names);

// How many times slower than usual this guest is: $NVMEOF_SLOW (kernels with debug checks) times $NVMEOF_LOAD (measured
// by qemu/guest/init at boot on a busy machine), each 1 by default. Time limits that judge a duration must be
// multiplied by it; the waiting functions here do that themselves.
double timeScale();
Millis scaled(Millis time);

// Polls the condition every 10 ms for up to slowly(timeout). False: it did not hold.
bool eventually(const std::function<bool()> &condition, Millis timeout = 10s);

std::string environment(const char *name, const std::string &fallback);

class Stopwatch {
public:
	Millis elapsed() const { return std::chrono::duration_cast<Millis>(Clock::now() - begin_); }

private:
	Clock::time_point begin_ = Clock::now();
};

// A command that runs in the background. Killed with its children when it goes out of scope.
class Background {
public:
	explicit Background(const std::string &command);
	~Background();
	Background(const Background &) = delete;
	Background &operator=(const Background &) = delete;

	int pid() const { return pid_; } // of the shell, or of the program it became by exec
	bool running();
	Output wait(Millis timeout); // status -1: still running
	void interrupt();            // SIGINT; the command may still write output
	void signal(int number);     // to the command and its children
	void stop();

private:
	int pid_ = -1;
	int status_ = -1;
	std::string file_;
};

} // namespace guest
