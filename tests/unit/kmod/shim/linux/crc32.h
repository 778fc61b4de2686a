/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_CRC32_H
#define SHIM_LINUX_CRC32_H

#include <linux/types.h>

/* Bit by bit: the polynomial of IEEE 802.3, reflected */
static inline u32 crc32_le(u32 crc, const void *data, size_t len)
{
	const u8 *p = (const u8 *)data;
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}
	return crc;
}

#endif
