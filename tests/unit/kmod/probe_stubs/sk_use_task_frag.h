/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_PRESENT
struct sock {
	bool sk_use_task_frag;
};
#endif
