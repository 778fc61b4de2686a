// SPDX-License-Identifier: GPL-2.0-only
/* Extack messages with arguments for kernels whose struct netlink_ext_ack has no buffer of its own. */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/netlink.h>

#if !NOF_HAVE_NL_ERR_FMT
/*
 * The kernel copies the message into the answer right after the handler returns. A ring keeps each text for as long
 * as the next NR_TEXTS - 1 refusals take to be formatted; past that a text may be mixed up, but it always ends.
 */
#define NR_TEXTS	64
#define TEXT_LEN	160

static char texts[NR_TEXTS][TEXT_LEN];
static atomic_t next_text;

void nof_extack_format(struct netlink_ext_ack *extack, const char *fmt, ...)
{
	unsigned int i = (unsigned int)atomic_inc_return(&next_text) % NR_TEXTS;
	va_list args;

	if (!extack)
		return;
	va_start(args, fmt);
	vscnprintf(texts[i], TEXT_LEN, fmt, args);
	va_end(args);
	extack->_msg = texts[i];
}
EXPORT_SYMBOL_GPL(nof_extack_format);
#endif
