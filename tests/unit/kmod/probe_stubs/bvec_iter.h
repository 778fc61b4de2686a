/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_OFFSET
struct bvec_iter {
	unsigned int bi_offset;
};
#endif

#ifdef STUB_DONE
struct bvec_iter {
	unsigned int bi_bvec_done;
};
#endif
