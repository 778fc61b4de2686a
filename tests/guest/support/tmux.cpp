// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tmux.h"

#include <atomic>
#include <sstream>
#include <stdexcept>

namespace guest {
namespace {

std::string nextName()
{
	static std::atomic<int> count{0};
	return "term" + std::to_string(count++);
}

} // namespace

Tmux::Tmux(const std::string &command, unsigned columns, unsigned lines) : name_(nextName())
{
	// The shell stays, so that the terminal's content can be read after the command has ended.
	writeFile(file("sh"), "stty -a > " + file("before") + "\nbash -c 'echo $$ > " + file("pid") + "; exec " +
				      command + "'\necho $? > " + file("new") + "\nstty -a > " + file("after") +
				      "\nmv " + file("new") + " " + file("status") + "\nsleep 1000\n");
	run("rm -f " + file("status") + " " + file("before") + " " + file("after") + " " + file("pid"));
	// A separate server; the guest's terminfo has the terminal type "screen".
	must("tmux -L " + name_ +
	     " -f /dev/null start-server \\; set -g default-terminal screen \\; new-session -d -x " +
	     std::to_string(columns) + " -y " + std::to_string(lines) + " 'bash " + file("sh") + "'");
	if (!eventually([this] { return exists(file("pid")); }))
		throw std::runtime_error("nothing runs in tmux: " + screen());
}

Tmux::~Tmux()
{
	run("tmux -L " + name_ + " kill-server");
	for (const char *what : {"sh", "before", "after", "pid", "status"})
		run("rm -f " + file(what));
}

std::string Tmux::tmux(const std::string &command) const
{
	return must("tmux -L " + name_ + " " + command);
}

std::string Tmux::screen() const
{
	return run("tmux -L " + name_ + " capture-pane -p").text;
}

std::string Tmux::line(const std::string &text) const
{
	std::istringstream lines(screen());
	for (std::string line; std::getline(lines, line);)
		if (line.find(text) != std::string::npos)
			return line;
	return "";
}

bool Tmux::shows(const std::string &text, Millis timeout) const
{
	return eventually([&] { return screen().find(text) != std::string::npos; }, timeout);
}

void Tmux::type(const std::string &keys) const
{
	tmux("send-keys " + keys);
}

void Tmux::resize(unsigned columns, unsigned lines) const
{
	tmux("resize-window -x " + std::to_string(columns) + " -y " + std::to_string(lines));
}

int Tmux::pid() const
{
	return std::stoi(readFile(file("pid")));
}

int Tmux::wait(Millis timeout) const
{
	if (!eventually([this] { return !running(); }, timeout))
		return -1;
	return std::stoi(readFile(file("status")));
}

std::vector<std::string> words(const std::string &line)
{
	std::istringstream in(line);
	std::vector<std::string> found;
	for (std::string word; in >> word;)
		found.push_back(word);
	return found;
}

} // namespace guest
