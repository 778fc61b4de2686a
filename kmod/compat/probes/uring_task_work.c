// SPDX-License-Identifier: GPL-2.0-only
/* running a function in the task that submitted a command of io_uring */
#include <linux/uio.h>
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#ifdef SPELLING_REQUEST
static void work(struct io_tw_req req, io_tw_token_t tw)
{
	io_uring_cmd_done32(io_uring_cmd_from_tw(req), 0, 0, IO_URING_CMD_TASK_WORK_ISSUE_FLAGS);
}

void probe(struct io_uring_cmd *cmd);
void probe(struct io_uring_cmd *cmd)
{
	io_uring_cmd_do_in_task_lazy(cmd, work);
}
#endif

#ifdef SPELLING_LAZY
static void work(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
}

void probe(struct io_uring_cmd *cmd);
void probe(struct io_uring_cmd *cmd)
{
	io_uring_cmd_do_in_task_lazy(cmd, work);
}
#endif

#ifdef SPELLING_COMPLETE
static void work(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
}

void probe(struct io_uring_cmd *cmd);
void probe(struct io_uring_cmd *cmd)
{
	io_uring_cmd_complete_in_task(cmd, work);
}
#endif
