// SPDX-License-Identifier: LGPL-2.1-or-later
#include "svg.h"

#include <algorithm>

#include <fmt/format.h>

#include "libctl/base/text.h"

namespace {

std::string escaped(std::string_view text)
{
	std::string out;
	for (char c : nofctl::printable(text))
		out += c == '<'   ? "&lt;"
		       : c == '>' ? "&gt;"
		       : c == '&' ? "&amp;"
		       : c == '"' ? "&quot;"
				  : std::string(1, c);
	return out;
}

} // namespace

void Svg::reach(int x, int y)
{
	width_ = std::max(width_, x);
	height_ = std::max(height_, y);
}

void Svg::box(int x, int y, int width, int height, std::string_view fill, std::string_view stroke)
{
	body_ +=
		fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"{}\"/>\n",
			    x, y, width, height, fill, stroke);
	reach(x + width, y + height);
}

void Svg::line(int x1, int y1, int x2, int y2, std::string_view stroke, int width)
{
	body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", x1,
			     y1, x2, y2, stroke, width);
	reach(std::max(x1, x2), std::max(y1, y2));
}

void Svg::text(int x, int y, std::string_view text, std::string_view anchor, int size)
{
	body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x, y, anchor,
			     size, escaped(text));
	reach(x, y);
}

std::string Svg::file() const
{
	constexpr int margin = 10;
	return fmt::format(
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
		"font-family=\"monospace\">\n{2}</svg>\n",
		width_ + margin, height_ + margin, body_);
}
