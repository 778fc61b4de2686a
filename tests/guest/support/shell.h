// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands, files and waiting.
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

// Runs a shell command to its end.
Output run(const std::string &command);
// Throws with the output unless the status is 0; returns the output.
std::string must(const std::string &command);

std::string quoted(const std::string &text); // as one word of a shell's

std::string readFile(const std::string &path); // trailing blanks removed; empty when there is no such file
void writeFile(const std::string &path, std::string_view text); // throws
bool exists(const std::string &path);

// Commands of ip, by one process: starting one takes longer than a command does. Throws.
void ip(const std::string &options, std::initializer_list<std::string> commands);
// Has modprobe load those that are not there, by their names in /sys/module; throws.
void loadModules(std::initializer_list<std::string> names);

// How many times slower than usual this guest is: $NVMEOF_SLOW, for kernels that look for faults in all they do, times
// $NVMEOF_LOAD, which the guest's boot has found where the machine has much else to do (qemu/guest/init); else 1.
// Limits that judge how long something took grow by it; the waiting functions here grow theirs by themselves.
double slow();
Millis slowly(Millis time);

// Until the condition holds, looked at every 10 ms, for slowly(timeout). False: it did not.
bool eventually(const std::function<bool()> &condition, Millis timeout = 10s);

std::string environment(const char *name, const std::string &fallback);

class Stopwatch {
public:
	Millis elapsed() const { return std::chrono::duration_cast<Millis>(Clock::now() - begin_); }

private:
	Clock::time_point begin_ = Clock::now();
};

// A command that runs beside the test. Killed (with its children) when it goes out of scope.
class Background {
public:
	explicit Background(const std::string &command);
	~Background();
	Background(const Background &) = delete;
	Background &operator=(const Background &) = delete;

	int pid() const { return pid_; } // of the shell, or of what it became by exec
	bool running();
	Output wait(Millis timeout); // status -1: still running
	void interrupt();            // as by Ctrl-C; it may say something yet
	void signal(int number);     // to it and its children
	void stop();

private:
	int pid_ = -1;
	int status_ = -1;
	std::string file_;
};

} // namespace guest
