// SPDX-License-Identifier: LGPL-2.1-or-later
#include "terminal.h"

#include <cstdlib>

#include <curses.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "args.h"

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
