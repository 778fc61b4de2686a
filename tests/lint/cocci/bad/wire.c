// SPDX-License-Identifier: LGPL-2.1-or-later
void *size(const struct log *log)
{
	u32 len = le32_to_cpu(log->len);

	return kmalloc(len, GFP_NOIO);	/* BAD */
}

void *bounded(const struct log *log)
{
	u32 len = le32_to_cpu(log->len);

	if (len > 4096)
		return NULL;
	return kmalloc(len, GFP_NOIO);
}

void copy(void *to, const struct log *log)
{
	u16 len;

	len = le16_to_cpu(log->len);
	memcpy(to, log->data, len + 1);	/* BAD */
	memcpy(to, log->data, le16_to_cpu(log->len));	/* BAD */
}

u32 index(const struct log *log, const u32 *table)
{
	u32 n = le32_to_cpu(log->n);

	return table[n];	/* BAD */
}

u32 good_index(const struct log *log, const u32 *table)
{
	u32 n = le32_to_cpu(log->n);

	return n < 16 ? table[n] : 0;
}

u64 shift(const struct log *log)
{
	u16 n = le16_to_cpu(log->n);

	return 1ULL << n;	/* BAD */
}

bool compared(const struct log *log, u32 n)
{
	return log->len > cpu_to_le32(n);	/* BAD */
}
