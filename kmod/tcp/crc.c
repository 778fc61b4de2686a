// SPDX-License-Identifier: GPL-2.0-only
/* Header and data digests (NVMe TCP Transport 1.0, 3.3.1) */
#include <linux/crc32c.h>
#include <linux/skbuff.h>
#include "tcp/tcp.h"

u32 nof_tcp_crc(u32 crc, const void *buf, u32 len)
{
	return crc32c(crc, buf, len);
}

/* Calculated over the received buffer: the owner of the destination pages may change them after the copy. */
u32 nof_tcp_crc_skb(u32 crc, struct sk_buff *skb, u32 offset, u32 len)
{
	struct skb_seq_state st;
	const u8 *p;
	u32 done = 0, n;

	skb_prepare_seq_read(skb, offset, offset + len, &st);
	while (done < len && (n = skb_seq_read(done, &p, &st))) {
		n = min(n, len - done);
		crc = crc32c(crc, p, n);
		done += n;
	}
	skb_abort_seq_read(&st);
	return crc;
}
