/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct io_uring_cmd {
	u8 pdu[32];
};

#ifdef STUB_HELPER
#define io_uring_cmd_to_pdu(cmd, type) ((type *)&(cmd)->pdu)
#endif

#ifdef STUB_MEMBER
#endif
