/* SPDX-License-Identifier: GPL-2.0-only */
/* TLS below the PDUs (NVMe TCP Transport 1.0, 3.6.1) */
#ifndef NOF_TCP_TLS_H
#define NOF_TCP_TLS_H

#include <linux/types.h>
#include "compat/tls.h"
#include "core/ctrl.h"

struct iov_iter;
struct nof_tcp_queue;
struct sock;
struct socket;

/**
 * struct nof_tls_end - why a TLS connection cannot go on
 * @cause:	which side ended the connection
 * @err:	negative errno; 0: the connection goes on
 * @why:	for the log; of an alert its name
 * @alert:	description of the alert by which the target ended it, or 0
 */
struct nof_tls_end {
	enum nof_cause	cause;
	int		err;
	const char	*why;
	u8		alert;
};

#if NOF_TLS
#define NOF_TLS_OPTION	NOF_OPT_TLS

/*
 * Gives a new socket a file, so that the TLS agent can receive a descriptor for it, and a reference to its network
 * namespace: the agent may keep it longer than this driver. nof_tls_release() releases such a socket. On an error it is
 * released.
 */
int nof_tls_prepare(struct socket *sock);
void nof_tls_release(struct socket *sock);
/*
 * Sleeps before a connection is opened while many others to the same subsystem are being set up: a target, too, bounds
 * the handshakes that wait for its agent, and closes further connections (nvmet: one per 400 MiB of memory, at most
 * 50). Returns true, and nof_tls_connect_end() must follow, after the handshake. False: the queue was given up, or its
 * deadline has passed, which is recorded.
 */
bool nof_tls_connect_begin(struct nof_tcp_queue *q);
void nof_tls_connect_end(struct nof_tcp_queue *q);
/*
 * Asks the agent to negotiate TLS on the connected socket, and checks the result. Returns 0, or a negative errno with
 * the error recorded, except for -ECANCELED. Context: process, sleeps until q->q.deadline at most.
 */
int nof_tls_handshake(struct nof_tcp_queue *q);
/* Ends the connection, and discards what it has not sent yet. Context: process. */
void nof_tls_abort(struct socket *sock);
/* Whether records can be decrypted here and now, without sleeping. Caller holds the spinlock of the socket. */
bool nof_tls_may_read(const struct nof_tcp_queue *q, const struct sock *sk);
/* Whether a record is left that read_sock() has decrypted, or an error. Caller holds the socket lock. */
bool nof_tls_unread(const struct sock *sk);
/* Takes the record that read_sock() has refused with -EINVAL. Context: process, without the socket lock. */
struct nof_tls_end nof_tls_read_control(struct nof_tcp_queue *q);
/* As nof_sock_send(), but the caller does not hold the socket lock. Context: process. Also returns -EINTR. */
int nof_tls_send(struct socket *sock, struct iov_iter *iter, bool splice, bool more);
#else
#define NOF_TLS_OPTION	0

static inline int nof_tls_prepare(struct socket *sock) { return -EOPNOTSUPP; }
static inline void nof_tls_release(struct socket *sock) { }
static inline bool nof_tls_connect_begin(struct nof_tcp_queue *q) { return true; }
static inline void nof_tls_connect_end(struct nof_tcp_queue *q) { }
static inline int nof_tls_handshake(struct nof_tcp_queue *q) { return -EOPNOTSUPP; }
static inline void nof_tls_abort(struct socket *sock) { }
static inline bool nof_tls_may_read(const struct nof_tcp_queue *q, const struct sock *sk) { return false; }
static inline bool nof_tls_unread(const struct sock *sk) { return false; }
static inline struct nof_tls_end nof_tls_read_control(struct nof_tcp_queue *q) { return (struct nof_tls_end){}; }
static inline int nof_tls_send(struct socket *sock, struct iov_iter *iter, bool splice, bool more)
{
	return -EOPNOTSUPP;
}
#endif

#endif
