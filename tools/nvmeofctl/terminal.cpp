// SPDX-License-Identifier: LGPL-2.1-or-later
#include "terminal.h"

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

#include <curses.h>
#include <fmt/format.h>

#include "parse.h"
#include "table.h"

using namespace std::chrono_literals;
using nvmeof::Result;

namespace {

// https://no-color.org
bool coloursUnwanted()
{
	const char *wish = std::getenv("NO_COLOR");
	return wish && *wish;
}

void setUpColours()
{
	if (coloursUnwanted() || !::has_colors())
		return;
	::start_color();
	short background = ::use_default_colors() == OK ? -1 : COLOR_BLACK;
	::init_pair(1, COLOR_GREEN, background);
	::init_pair(2, COLOR_YELLOW, background);
	::init_pair(3, COLOR_RED, background);
}

attr_t attributesOf(Tone tone)
{
	switch (tone) {
	case Tone::good:
		return static_cast<attr_t>(COLOR_PAIR(1));
	case Tone::warning:
		return static_cast<attr_t>(COLOR_PAIR(2)) | A_BOLD;
	case Tone::bad:
		return static_cast<attr_t>(COLOR_PAIR(3)) | A_BOLD;
	case Tone::title:
		return A_REVERSE;
	case Tone::dim:
		return A_DIM;
	case Tone::normal:
		return A_NORMAL;
	}
	return A_NORMAL;
}

TopKey keyOf(int code)
{
	switch (code) {
	case 'q':
	case 'Q':
		return TopKey::quit;
	case 's':
		return TopKey::sort;
	case 'r':
		return TopKey::reverse;
	case 'p':
	case ' ':
		return TopKey::pause;
	case 'n':
		return TopKey::table;
	case KEY_UP:
		return TopKey::up;
	case KEY_DOWN:
		return TopKey::down;
	case KEY_PPAGE:
		return TopKey::pageUp;
	case KEY_NPAGE:
		return TopKey::pageDown;
	case KEY_HOME:
		return TopKey::home;
	case KEY_END:
		return TopKey::end;
	case 'L' & 0x1f:
		return TopKey::redraw;
	default:
		return TopKey::none;
	}
}

} // namespace

struct Terminal::Impl {
	SCREEN *screen;

	explicit Impl(SCREEN *s) : screen(s)
	{
		::cbreak();
		::noecho();
		::nonl();
		::keypad(::stdscr, TRUE);
		::nodelay(::stdscr, TRUE);
		::set_escdelay(25); // ms; the escape sequence of a key arrives in one piece
		::curs_set(0);
		setUpColours();
	}
	~Impl()
	{
		::endwin();
		::delscreen(screen);
	}
};

Result<Terminal> Terminal::open()
{
	if (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO))
		return usageError("input or output is not a terminal; --batch works without a terminal");
	// newterm() returns an error where initscr() would exit.
	SCREEN *screen = ::newterm(nullptr, stdout, stdin);
	if (!screen) {
		const char *kind = std::getenv("TERM");
		return usageError(std::string("the terminal type TERM=") + (kind ? kind : "") +
				  " is unknown; --batch works without a terminal");
	}
	return Terminal(std::make_unique<Impl>(screen));
}

Terminal::Terminal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Terminal::Terminal(Terminal &&) noexcept = default;
Terminal &Terminal::operator=(Terminal &&) noexcept = default;
Terminal::~Terminal() = default;

TopSize Terminal::size() const
{
	return {static_cast<std::size_t>(COLS), static_cast<std::size_t>(LINES)};
}

void Terminal::draw(const std::vector<TopLine> &lines)
{
	::erase();
	int y = 0;
	for (const TopLine &line : lines) {
		::move(y++, 0);
		for (const TopSpan &span : line) {
			::attrset(static_cast<int>(attributesOf(span.tone)));
			::addstr(span.text.c_str()); // fails for the last cell of the screen, but writes it
		}
	}
	::attrset(A_NORMAL);
	::refresh();
}

TopKey Terminal::key()
{
	for (int code; (code = ::getch()) != ERR;)
		if (TopKey key = keyOf(code); key != TopKey::none)
			return key;
	return TopKey::none;
}

void Terminal::resize()
{
	winsize now{};
	if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row && now.ws_col)
		::resizeterm(now.ws_row, now.ws_col);
	redraw();
}

void Terminal::redraw()
{
	::clearok(::stdscr, TRUE);
}

// ---- signals

namespace {

sigset_t setOf(std::initializer_list<int> signals)
{
	sigset_t set;
	::sigemptyset(&set);
	for (int signal : signals)
		::sigaddset(&set, signal);
	return set;
}

} // namespace

Signals::Signals(std::initializer_list<int> caught)
{
	sigset_t set = setOf(caught);
	::sigprocmask(SIG_BLOCK, &set, &before_);
	fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals()
{
	if (fd_ >= 0)
		::close(fd_);
	::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::next() const
{
	signalfd_siginfo info{};
	return ::read(fd_, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

void exitBySignal(int signal)
{
	::signal(signal, SIG_DFL);
	sigset_t set = setOf({signal});
	::sigprocmask(SIG_UNBLOCK, &set, nullptr);
	::raise(signal);
	::_exit(128 + signal);
}

namespace {

constexpr int stopCheckInterval = 20; // ms, between checks of the stop token

} // namespace

Interruption::Interruption() : signals_{SIGINT, SIGTERM, SIGHUP}
{
	try {
		watcher_ = std::jthread([this](const std::stop_token &end) { watch(end); });
	} catch (const std::system_error &) { // no thread: caught() reads the signals after the call
	}
}

void Interruption::watch(const std::stop_token &end)
{
	pollfd poll{signals_.fd(), POLLIN, 0};
	while (!end.stop_requested() && !caught_)
		if (::poll(&poll, 1, stopCheckInterval) > 0 && (caught_ = signals_.next()))
			stop_.request_stop();
}

int Interruption::caught()
{
	watcher_ = {};
	return caught_ ? caught_.load() : signals_.next();
}

// ---- progress line

namespace {

constexpr auto beforeFirst = 500ms, updateInterval = 250ms;
constexpr auto answerTimeout = 1s; // the destructor waits for a request under way
constexpr const char *wipe = "\r\033[K";

bool onTerminal()
{
	const char *term = std::getenv("TERM");
	return ::isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
}

// Bypasses the streams, which the working thread uses.
void put(const std::string &text)
{
	[[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

std::string progressLine(const std::string &what, const std::string &soFar, std::chrono::seconds passed)
{
	return nofctl::printable(fmt::format("{}: {}{}{} s", what, soFar, soFar.empty() ? "" : ", ", passed.count()));
}

Progress::Progress(std::string what, Look look) : what_(std::move(what)), look_(std::move(look))
{
	if (!onTerminal())
		return;
	try {
		drawer_ = std::jthread([this](const std::stop_token &end) { draw(end); });
	} catch (const std::system_error &) { // without a thread there is no progress line
	}
}

Progress::~Progress() = default;

void Progress::draw(const std::stop_token &end)
{
	std::condition_variable_any wake;
	std::unique_lock lock(mutex_);
	auto begin = std::chrono::steady_clock::now();
	nvmeof::Result<nvmeof::Client> client = nvmeof::Client::open({{}, answerTimeout});
	bool drawn = false;
	auto pause = [&](auto time) { wake.wait_for(lock, end, time, [] { return false; }); };
	for (pause(beforeFirst); !end.stop_requested(); pause(updateInterval)) {
		auto passed =
			std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
		put(wipe + progressLine(what_, client ? look_(*client) : "", passed));
		drawn = true;
	}
	if (drawn)
		put(wipe);
}
