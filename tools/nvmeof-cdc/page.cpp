// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page.h"

// NVMEOF_CDC_PAGE: the directory with the files
#define NVMEOF_CDC_FILE(symbol, file)                                                                \
	asm(".pushsection .rodata\n" #symbol ":\n.incbin \"" NVMEOF_CDC_PAGE "/" file "\"\n" #symbol \
	    "_end:\n.popsection\n");                                                                 \
	extern "C" const char symbol[], symbol##_end[]

NVMEOF_CDC_FILE(cdc_page_index, "index.html");
NVMEOF_CDC_FILE(cdc_page_style, "style.css");
NVMEOF_CDC_FILE(cdc_page_script, "page.js");
NVMEOF_CDC_FILE(cdc_page_map, "map.js");
NVMEOF_CDC_FILE(cdc_page_icon, "icon.svg");

namespace cdc {

namespace {

std::string_view between(const char *begin, const char *end)
{
	return {begin, static_cast<std::size_t>(end - begin)};
}

} // namespace

const PageFile *findPageFile(std::string_view path)
{
	static const PageFile files[] = {
		{"/", "text/html; charset=utf-8", between(cdc_page_index, cdc_page_index_end)},
		{"/style.css", "text/css; charset=utf-8", between(cdc_page_style, cdc_page_style_end)},
		{"/page.js", "text/javascript; charset=utf-8", between(cdc_page_script, cdc_page_script_end)},
		{"/map.js", "text/javascript; charset=utf-8", between(cdc_page_map, cdc_page_map_end)},
		{"/icon.svg", "image/svg+xml; charset=utf-8", between(cdc_page_icon, cdc_page_icon_end)},
	};
	for (const PageFile &file : files)
		if (file.path == path)
			return &file;
	return nullptr;
}

} // namespace cdc
