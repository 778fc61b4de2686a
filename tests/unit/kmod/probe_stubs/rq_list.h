/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct request;

#ifdef STUB_STRUCT
struct rq_list {
	struct request *head;
};

static inline bool rq_list_empty(const struct rq_list *list)
{
	return !list->head;
}
#endif

#ifdef STUB_POINTER
#define rq_list_empty(list) ((list) == NULL)
#endif
