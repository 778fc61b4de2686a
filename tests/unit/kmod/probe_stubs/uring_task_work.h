/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct io_uring_cmd;

#ifdef STUB_REQUEST
struct io_tw_req {
	void *req;
};

struct io_tw_state {
	bool cancel;
};

typedef struct io_tw_state io_tw_token_t;

#define IO_URING_CMD_TASK_WORK_ISSUE_FLAGS 4

struct io_uring_cmd *io_uring_cmd_from_tw(struct io_tw_req req);
void io_uring_cmd_done32(struct io_uring_cmd *cmd, int ret, u64 res2, unsigned int flags);
void io_uring_cmd_do_in_task_lazy(struct io_uring_cmd *cmd, void (*work)(struct io_tw_req req, io_tw_token_t tw));
#endif

#ifdef STUB_LAZY
void io_uring_cmd_do_in_task_lazy(struct io_uring_cmd *cmd, void (*work)(struct io_uring_cmd *cmd, unsigned int flags));
#endif

#ifdef STUB_COMPLETE
void io_uring_cmd_complete_in_task(struct io_uring_cmd *cmd,
				   void (*work)(struct io_uring_cmd *cmd, unsigned int flags));
#endif
