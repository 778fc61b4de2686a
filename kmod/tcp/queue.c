// SPDX-License-Identifier: GPL-2.0-only
/* The TCP transport: opens, watches and closes the connection of a queue; ops table; module. */
#include <linux/delay.h>
#include <linux/if_arp.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/rtnetlink.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "compat/tcp.h"
#include "core/source.h"
#include "tcp/tcp.h"
#include "tcp/tls.h"

/*
 * Protects q->sock: stop_queue() may run before, while or after start_queue() creates the socket. Held for a short time
 * only.
 */
static DEFINE_MUTEX(publish_lock);

static bool zero_copy = true;
module_param(zero_copy, bool, 0644);
MODULE_PARM_DESC(zero_copy, "send from the pages of the application where hardware leads to the target");

static struct lock_class_key slock_keys[2], sk_keys[2];

/*
 * The socket locks of this driver are taken during memory writeback, while allocations of all kinds happen under those
 * of user sockets. Separate lock classes keep lockdep from confusing the two. A socket with TLS gets them after the
 * handshake: until then the agent in userspace uses it.
 */
static void own_lock_class(struct sock *sk)
{
	bool v6 = sk->sk_family == AF_INET6;

	lockdep_set_class_and_name(&sk->sk_lock.slock, &slock_keys[v6],
				   v6 ? "slock-AF_INET6-NVMEOF" : "slock-AF_INET-NVMEOF");
	lockdep_init_map(&sk->sk_lock.dep_map, v6 ? "sk_lock-AF_INET6-NVMEOF" : "sk_lock-AF_INET-NVMEOF",
			 &sk_keys[v6], 0);
}

#ifdef CONFIG_NET_RX_BUSY_POLL
static void allow_busy_poll(struct sock *sk)
{
	sk->sk_ll_usec = 1;
}
#else
static void allow_busy_poll(struct sock *sk) { }
#endif

#if IS_ENABLED(CONFIG_IPV6)
static void set_tclass(struct sock *sk, u8 tos)
{
	lock_sock(sk);
	inet6_sk(sk)->tclass = (tos & ~INET_ECN_MASK) | (inet6_sk(sk)->tclass & INET_ECN_MASK);
	release_sock(sk);
}
#else
static void set_tclass(struct sock *sk, u8 tos) { }
#endif

static void set_tos(struct sock *sk, u8 tos)
{
	ip_sock_set_tos(sk, tos);
	if (sk->sk_family == AF_INET6)
		set_tclass(sk, tos);
}

/*
 * TCP_USER_TIMEOUT: how long sent data may stay unacknowledged before TCP closes the connection. This is the last
 * resort and must not expire before the keep-alive timeout, at which core/stall_watch.c acts.
 */
static u32 user_timeout(const struct nof_ctrl *ctrl)
{
	return min_t(u32, max(ctrl->opts.connect_tmo_ms, ctrl->ka.tmo_ms), INT_MAX);
}

/*
 * TCP waits at least 200 ms before it retransmits, to allow for the delayed acknowledgements of old stacks. Those of
 * current stacks arrive within 40 ms on a short path. With a lower minimum, a segment lost on a short path is
 * retransmitted several times before the path counts as lost (core/stall_watch.c). A route's own rto_min has
 * precedence. The member is written directly, as by BPF: there is no socket option, and the sysctl affects a whole
 * network namespace.
 */
#define RTO_MIN_MS	60

static void set_rto_min(struct sock *sk)
{
	lock_sock(sk);
	inet_csk(sk)->icsk_rto_min = msecs_to_jiffies(RTO_MIN_MS);
	release_sock(sk);
}

static void set_options(struct nof_tcp_queue *q, struct sock *sk)
{
	const struct nof_opts *opts = &q->q.ctrl->opts;

	sock_set_reuseaddr(sk);
	sock_no_linger(sk);
	tcp_sock_set_nodelay(sk);
	tcp_sock_set_syncnt(sk, 1);
	tcp_sock_set_user_timeout(sk, user_timeout(q->q.ctrl));
	set_rto_min(sk);
	if (opts->given & NOF_OPT_TOS)
		set_tos(sk, opts->tos);
	if (q->q.type == NOF_QUEUE_POLL)
		allow_busy_poll(sk);

	/*
	 * Sending is part of memory writeback: do not wait for memory, use the reserves, and do not use the page
	 * fragment of the task.
	 */
	sk->sk_allocation = GFP_ATOMIC;
	sk->sk_use_task_frag = false;
	sk_set_memalloc(sk);
}

static int socket_bind_iface(struct nof_tcp_queue *q, struct sock *sk)
{
	const char *name = q->q.ctrl->opts.host_iface;
	struct net_device *dev;
	int ifindex;

	if (!*name)
		return 0;
	dev = dev_get_by_name(nof_addr_of(q->q.ctrl)->net, name);
	if (!dev)
		return -ENODEV;
	ifindex = dev->ifindex;
	dev_put(dev);
	return sock_bindtoindex(sk, ifindex, true);
}

static int addr_len(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static int bind_local(struct nof_tcp_queue *q, struct socket *sock)
{
	struct nof_addr *at = nof_addr_of(q->q.ctrl);
	int err = socket_bind_iface(q, sock->sk);

	if (err || at->src.ss_family == AF_UNSPEC)
		return err;
	return kernel_bind(sock, (struct sockaddr_unsized *)&at->src, addr_len(&at->src));
}

/*
 * Callbacks. TCP calls each of them with the socket lock held, and socket_unhook() restores the old ones under that
 * lock. So they need neither sk_callback_lock nor a check that the queue still exists.
 */
static void socket_lost(struct nof_tcp_queue *q, enum nof_cause cause, int err, const char *why)
{
	u8 phase = q->phase;

	q->phase = NOF_TCP_CLOSED;
	wake_up(&q->wait);
	if (phase == NOF_TCP_UP || phase == NOF_TCP_ICREQ)
		nof_queue_error(&q->q, cause, err, "%s%s", why,
				phase == NOF_TCP_ICREQ ? " before ICResp, check the port and firewalls" : "");
}

/*
 * TCP holds the socket lock until this returns; the queue size bounds the requests that end under it. In the backlog of
 * a task that owns the socket, usually a sender, softirqs are disabled so that nothing sleeps there either.
 */
static void socket_receive(struct nof_tcp_queue *q)
{
	bool task = in_task();
	struct nof_completed done;

	nof_completed_init(&done, NULL);
	nof_tcp_recv(q, &done);
	if (task)
		local_bh_disable();
	nof_completed_end(&done);
	if (task)
		local_bh_enable();
}

static void data_ready(struct sock *sk)
{
	struct nof_tcp_queue *q = sk->sk_user_data;

	if (unlikely(q->tls) && !nof_tls_may_read(q, sk)) {
		nof_tcp_queue_work(q, &q->recv_work);
		return;
	}
	if (!test_bit(NOF_Q_POLLED, &q->q.flags))
		socket_receive(q);
	if (!(sk->sk_shutdown & RCV_SHUTDOWN))
		return;
	/* recv_work reads the rest first */
	if (unlikely(q->tls))
		nof_tcp_queue_work(q, &q->recv_work);
	else
		socket_lost(q, NOF_CAUSE_PEER, -ECONNRESET, "connection closed by the target");
}

/* Takes the socket lock: the connection is lost for the reason in @end. */
static void tls_lost(struct nof_tcp_queue *q, const struct nof_tls_end *end)
{
	char alert[64];

	scnprintf(alert, sizeof(alert), "the target sent the TLS alert %s (%u)", end->why, end->alert);
	lock_sock(q->sock->sk);
	if (q->phase != NOF_TCP_CLOSED)
		socket_lost(q, end->cause, end->err, end->alert ? alert : end->why);
	release_sock(q->sock->sk);
}

/*
 * Receives what is there over TLS, for a bounded time. Returns what the last call of read_sock() has returned, or
 * -ENOTCONN. Such a call may have been made in softirq, and returns some errors only once.
 */
static int tls_receive(struct nof_tcp_queue *q)
{
	u64 until = ktime_get_ns() + NOF_TCP_WORK_NS;
	struct sock *sk = q->sock->sk;
	bool deferred;
	int n;

	do {
		deferred = READ_ONCE(q->rx.deferred);
		if (deferred)
			nof_tcp_send_sync(q);
		lock_sock(sk);
		q->rx.synced = deferred;
		if (q->rx.read > 0 || q->rx.read == -EAGAIN)
			socket_receive(q);
		n = q->phase == NOF_TCP_CLOSED ? -ENOTCONN : q->rx.read;
		release_sock(sk);
	} while (n > 0 && ktime_get_ns() < until);
	return n;
}

/* Takes a record that is no data. Returns why the connection cannot go on, if so. */
static struct nof_tls_end tls_read_control(struct nof_tcp_queue *q)
{
	struct nof_tls_end end = nof_tls_read_control(q);

	lock_sock(q->sock->sk);
	q->rx.read = -EAGAIN;
	release_sock(q->sock->sk);
	return end;
}

/* Receives over TLS, and ends the connection if it cannot go on. */
static void recv_work(struct work_struct *work)
{
	struct nof_tcp_queue *q = container_of(work, struct nof_tcp_queue, recv_work);
	/* memory writeback may wait for what is received here */
	unsigned int noreclaim = memalloc_noreclaim_save();
	struct nof_tls_end end = {};
	int n;

	do {
		n = tls_receive(q);
		if (n == -EINVAL)
			end = tls_read_control(q);
	} while (n == -EINVAL && !end.err);
	if (n > 0)
		nof_tcp_queue_work(q, &q->recv_work);
	else if (n == 0)
		end = (struct nof_tls_end){ NOF_CAUSE_PEER, -ECONNRESET, "connection closed by the target" };
	else if (n == -EBADMSG)
		end = (struct nof_tls_end){ NOF_CAUSE_PEER, n, "a TLS record cannot be decrypted" };
	else if (n == -EMSGSIZE || n == -EPROTO)
		end = (struct nof_tls_end){ NOF_CAUSE_PEER, -EPROTO, "invalid TLS record from the target" };
	else if (n != -EAGAIN && n != -EINVAL && n != -ENOTCONN)
		end = (struct nof_tls_end){ nof_tcp_cause(-n), n, "cannot read a TLS record" };
	if (end.err)
		tls_lost(q, &end);
	memalloc_noreclaim_restore(noreclaim);
}

static void write_space(struct sock *sk)
{
	struct nof_tcp_queue *q = sk->sk_user_data;

	if (!sk_stream_is_writeable(sk))
		return;
	if (unlikely(q->tls))
		q->old_write_space(sk); /* sends the rest of a record */
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	nof_tcp_send_wake(q);
}

/* After user_timeout(), TCP reports the last soft error (ICMP, no route) if there was one */
static const char *socket_error_text(int err)
{
	switch (err) {
	case 0:
	case EPIPE:
	case ECONNRESET:	return "connection reset";
	case ETIMEDOUT:		return "no acknowledgement from the target";
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:	return "no route to the target";
	default:		return "connection failed";
	}
}

/* TCP calls data_ready() next for a FIN: that processes the target's last PDUs before the end of the stream. */
static void state_change(struct sock *sk)
{
	struct nof_tcp_queue *q = sk->sk_user_data;

	if (sk->sk_state != TCP_CLOSE)
		wake_up(&q->wait);
	else
		socket_lost(q, nof_tcp_cause(sk->sk_err), -(sk->sk_err ?: ECONNRESET), socket_error_text(sk->sk_err));
}

static int socket_hook(struct nof_tcp_queue *q, struct sock *sk)
{
	lock_sock(sk);
	/* Set before socket_unhook() takes the lock: either it is seen here, or socket_unhook() runs later. */
	if (nof_tcp_stopped(q)) {
		release_sock(sk);
		return -ECANCELED;
	}
	write_lock_bh(&sk->sk_callback_lock);
	q->old_data_ready = sk->sk_data_ready;
	q->old_write_space = sk->sk_write_space;
	q->old_state_change = sk->sk_state_change;
	sk->sk_user_data = q;
	sk->sk_data_ready = data_ready;
	sk->sk_write_space = write_space;
	sk->sk_state_change = state_change;
	q->phase = NOF_TCP_CONNECTING;
	q->hooked = true;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	return 0;
}

static void socket_unhook(struct nof_tcp_queue *q, struct sock *sk)
{
	lock_sock(sk);
	q->phase = NOF_TCP_CLOSED;
	if (q->hooked) {
		write_lock_bh(&sk->sk_callback_lock);
		sk->sk_data_ready = q->old_data_ready;
		sk->sk_write_space = q->old_write_space;
		sk->sk_state_change = q->old_state_change;
		sk->sk_user_data = NULL;
		q->hooked = false;
		write_unlock_bh(&sk->sk_callback_lock);
	}
	release_sock(sk);
}

static void socket_release(struct socket *sock)
{
	sk_clear_memalloc(sock->sk);
	if (sock->file)
		nof_tls_release(sock);
	else
		sock_release(sock);
}

/* From here on stop_queue() sees the socket. -ECANCELED: it was called before. */
static int socket_publish(struct nof_tcp_queue *q, struct socket *sock)
{
	int err = 0;

	mutex_lock(&publish_lock);
	if (nof_tcp_stopped(q))
		err = -ECANCELED;
	else
		q->sock = sock;
	mutex_unlock(&publish_lock);
	return err;
}

static struct socket *socket_get_published(struct nof_tcp_queue *q)
{
	struct socket *sock;

	mutex_lock(&publish_lock);
	sock = q->sock;
	mutex_unlock(&publish_lock);
	return sock;
}

/* Context: process, may sleep */
static int socket_open(struct nof_tcp_queue *q)
{
	struct nof_addr *at = nof_addr_of(q->q.ctrl);
	struct socket *sock;
	int err;

	err = nof_addr_refresh(q->q.ctrl) ?: nof_tcp_send_init(q);
	if (err)
		return err;
	init_waitqueue_head(&q->wait);
	init_completion(&q->tls_setup.done);
	q->tls_setup.ended = false;
	q->tls_setup.tickets = 0;
	INIT_WORK(&q->recv_work, recv_work);
	nof_tcp_recv_init(q);

	err = sock_create_kern(at->net, at->dst.ss_family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		goto exit_send;
	if (nof_tls_key_set(q->q.ctrl)) {
		err = nof_tls_prepare(sock);
		if (err)
			goto exit_send;
	} else {
		own_lock_class(sock->sk);
	}
	set_options(q, sock->sk);
	err = bind_local(q, sock) ?: socket_publish(q, sock);
	if (err)
		goto release_sock;
	return 0;

release_sock:
	socket_release(sock);
exit_send:
	nof_tcp_send_exit(q);
	return err;
}

static bool connect_done(struct nof_tcp_queue *q)
{
	int state = READ_ONCE(q->sock->sk->sk_state);

	return nof_tcp_given_up(q) || (state != TCP_SYN_SENT && state != TCP_SYN_RECV);
}

static int try_connect(struct nof_tcp_queue *q)
{
	struct nof_addr *at = nof_addr_of(q->q.ctrl);

	return kernel_connect(q->sock, (struct sockaddr_unsized *)&at->dst, addr_len(&at->dst), O_NONBLOCK);
}

/*
 * Drivers that call skb_orphan() when they queue a buffer, before it is sent: wait_for_devices() cannot wait for it.
 * IPoIB does so above any driver. No device flag indicates this. A driver missing here may send a page after its
 * request has ended; a superfluous entry only costs a copy.
 */
static const char *const early_orphan_drivers[] = { "cxgb3", "cxgb4", "cxgb4vf", "niu", "virtio_net" };

static bool is_hardware(const struct net_device *dev)
{
	const struct device *parent = dev->dev.parent;

	return parent && dev->type != ARPHRD_INFINIBAND &&
	       match_string(early_orphan_drivers, ARRAY_SIZE(early_orphan_drivers), dev_driver_string(parent)) < 0;
}

/* Hardware, which has a parent, or a device that passes all packets to lower devices and none to this machine */
static bool leads_out(struct net_device *dev)
{
	return is_hardware(dev) || is_vlan_dev(dev) || netif_is_bond_master(dev) || netif_is_team_master(dev);
}

static int lower_is_local(struct net_device *dev, struct netdev_nested_priv *unused)
{
	return !leads_out(dev);
}

/*
 * Loopback, veth and devices that may end in one (bridge, macvlan, tap) pass the sent pages to the receiving socket and
 * release the buffer. The sender cannot know when a target on this machine has read the pages: it could read the data
 * of their next owner. Data are copied for such a device, and for any that is not known to lead out.
 */
static bool stays_here(struct sock *sk)
{
	struct netdev_nested_priv unused = {};
	struct dst_entry *dst = sk_dst_get(sk);
	bool here = true;

	rcu_read_lock();
	if (dst && leads_out(dst->dev))
		here = netdev_walk_all_lower_dev_rcu(dst->dev, lower_is_local, &unused);
	rcu_read_unlock();
	dst_release(dst);
	return here;
}

/* Sets the controller's NUMA node to that of the network device, for the numa policy */
static void set_node(struct nof_ctrl *ctrl, struct sock *sk)
{
	struct dst_entry *dst;

	/* an entry may drop its device: RCU keeps that alive */
	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst)
		set_dev_node(&ctrl->dev, dev_to_node(&dst->dev->dev));
	rcu_read_unlock();
}

static int wait_connected(struct nof_tcp_queue *q)
{
	long left = max_t(long, q->q.deadline - jiffies, 1);
	int err;

	err = socket_hook(q, q->sock->sk) ?: try_connect(q);
	if (err != -EINPROGRESS)
		return err;
	left = wait_event_idle_timeout(q->wait, connect_done(q), left);
	if (nof_tcp_given_up(q))
		return -ECANCELED;
	if (!left)
		return -ETIMEDOUT;
	/* The second call returns the result of the first. */
	return try_connect(q);
}

/*
 * Callbacks that were set before the handshake would become those that TLS calls, and that it restores when the socket
 * is closed.
 */
static int socket_encrypt(struct nof_tcp_queue *q)
{
	int err;

	socket_unhook(q, q->sock->sk);
	err = nof_tls_handshake(q);
	if (err)
		return err;
	own_lock_class(q->sock->sk);
	return socket_hook(q, q->sock->sk);
}

/*
 * Waits until the connection is established, and encrypted if the controller has a TLS key. -ETIMEDOUT, -ECANCELED, or
 * the error of the connect or the handshake.
 */
static int socket_connect(struct nof_tcp_queue *q)
{
	bool encrypted = nof_tls_key_set(q->q.ctrl);
	int err;

	if (encrypted && !nof_tls_connect_begin(q))
		return nof_tcp_given_up(q) ? -ECANCELED : -ETIMEDOUT;
	err = wait_connected(q);
	if (!err)
		q->tx.copy = !READ_ONCE(zero_copy) || stays_here(q->sock->sk);
	if (!err && encrypted)
		err = socket_encrypt(q);
	if (encrypted)
		nof_tls_connect_end(q);
	if (err)
		return err;
	WRITE_ONCE(q->q.ctrl->copies, q->tx.copy);
	if (!q->q.qid)
		set_node(q->q.ctrl, q->sock->sk);
	return 0;
}

/*
 * Discards the data queued in the socket. A FIN is sent first: a target that has read everything sees an orderly end.
 * With the RST that follows, the target does not wait for the rest. Older kernels (6.1) allocate the RST with
 * GFP_KERNEL regardless of sk_allocation, and reclaim may wait for this queue. Hence the noreclaim scope; without
 * memory there is no RST.
 */
static void socket_disconnect(struct socket *sock)
{
	struct sockaddr unspec = { .sa_family = AF_UNSPEC };
	unsigned int noreclaim = memalloc_noreclaim_save();

	if (sock->file) {
		nof_tls_abort(sock);
	} else {
		kernel_sock_shutdown(sock, SHUT_RDWR);
		kernel_connect(sock, (struct sockaddr_unsized *)&unspec, sizeof(unspec), 0);
	}
	memalloc_noreclaim_restore(noreclaim);
}

/*
 * Buffers that have left the socket for a network device still refer to pages of commands. The pages must not be reused
 * before the device has released the buffers. The caller skips the wait if no pages were spliced: a SYN may be held for
 * seconds while the address of the next hop is unresolved.
 */
static void wait_for_devices(struct nof_tcp_queue *q, struct sock *sk)
{
	unsigned long warn = jiffies + 5 * HZ;
	unsigned int us = 50;

	while (sk_wmem_alloc_get(sk)) {
		if (time_after(jiffies, warn)) {
			dev_warn_ratelimited(&q->q.ctrl->dev,
					     "queue %u: waiting for a network device to release %d bytes\n",
					     q->q.qid, sk_wmem_alloc_get(sk));
			warn = jiffies + 5 * HZ;
		}
		fsleep(us);
		us = min(2 * us, 20000U);
	}
}

/* Afterwards no callback runs, and nothing is sent or received. Idempotent. */
static void socket_stop(struct nof_tcp_queue *q)
{
	struct socket *sock;

	set_bit(NOF_TCP_STOPPED, &q->flags);
	sock = socket_get_published(q);
	if (!sock)
		return;
	wake_up(&q->wait);
	socket_unhook(q, sock->sk);
	cancel_work_sync(&q->recv_work);
	nof_tcp_hold_stop(q);
	nof_tcp_send_stop(q);
	socket_disconnect(sock);
}

/*
 * The peer owes an acknowledgement of sent segments. Unsent bytes that fit its window wait for the network only (a
 * device or a route) and count as well. Behind a closed window the peer owes nothing.
 */
static bool socket_ack_due(const struct tcp_sock *tp, u32 una, u32 nxt)
{
	u32 unsent = READ_ONCE(tp->write_seq) - nxt;
	s32 room = una + READ_ONCE(tp->snd_wnd) - nxt;

	return una != nxt || (unsent && room > 0 && room >= min(unsent, READ_ONCE(tp->mss_cache)));
}

/*
 * True if received segments may be unprocessed. They wait in the backlog of a task that owns the socket, or on the CPU
 * that received the last segment: its softirq was cut short for lack of time, or packets are pending there and none was
 * processed since the last check. Read without locks; the next check corrects a wrong result. The counters are those of
 * /proc/net/softnet_stat; modules have no other access to them.
 */
static bool socket_receive_pending(struct nof_tcp_queue *q, struct sock *sk)
{
	unsigned int cpu = READ_ONCE(sk->sk_incoming_cpu), processed, squeezed;
	const struct softnet_data *sd;
	bool still, cut;

	if (READ_ONCE(sk->sk_backlog.tail))
		return true;
	if (cpu >= nr_cpu_ids)
		return false;
	sd = per_cpu_ptr(&softnet_data, cpu);
	processed = READ_ONCE(sd->processed);
	squeezed = READ_ONCE(sd->time_squeeze);
	still = processed == q->received.processed && !list_empty(&sd->poll_list);
	cut = squeezed != q->received.squeezed;
	q->received.processed = processed;
	q->received.squeezed = squeezed;
	return still || cut;
}

/* Takes no lock. The caller keeps the socket alive. */
static void socket_vital(struct nof_tcp_queue *q, struct nof_vital *v)
{
	struct socket *sock = READ_ONCE(q->sock);
	const struct tcp_sock *tp;
	u32 una, nxt;

	if (!sock)
		return;
	tp = tcp_sk(sock->sk);
	una = READ_ONCE(tp->snd_una);
	nxt = READ_ONCE(tp->snd_nxt);
	/* each part only grows: bytes acknowledged, bytes received, time of the last ACK */
	v->heard = (u64)(una + READ_ONCE(tp->rcv_nxt)) << 32 | READ_ONCE(tp->rcv_tstamp);
	v->ack_due = socket_ack_due(tp, una, nxt);
	v->receive_pending = socket_receive_pending(q, sock->sk);
	v->quiet_ms = jiffies_to_msecs(tcp_jiffies32 - READ_ONCE(tp->rcv_tstamp));
	v->rtt_us = READ_ONCE(tp->srtt_us) >> 3;
	v->segment = min(nxt - una, READ_ONCE(tp->mss_cache));
	v->acked = una;
	v->err = -READ_ONCE(sock->sk->sk_err_soft);
}

/*
 * TCP doubles its timeout with each retransmission: after an outage of a second the connection could idle for up to
 * another one. While the watch finds the peer silent, for some seconds at most, one segment is retransmitted every
 * 20 ms, so that the connection resumes as soon as the outage ends.
 */
#define RETRANSMIT_MS	20

/* Makes a retransmission due within RETRANSMIT_MS */
static void socket_retransmit_soon(struct nof_tcp_queue *q)
{
	unsigned long soon = msecs_to_jiffies(RETRANSMIT_MS);
	struct socket *sock = READ_ONCE(q->sock);
	struct inet_connection_sock *icsk;
	struct sock *sk;

	if (!sock)
		return;
	sk = sock->sk;
	icsk = inet_csk(sk);
	local_bh_disable();
	bh_lock_sock(sk);
	/* do not wait for an owner of the socket: the watch calls again */
	if (!sock_owned_by_user(sk) && tcp_sk(sk)->packets_out && icsk->icsk_retransmits &&
	    icsk->icsk_pending == ICSK_TIME_RETRANS && time_after(tcp_timeout_expires(sk), jiffies + soon)) {
		/* as TCP does for thin streams: these retransmissions must not delay later ones */
		icsk->icsk_backoff = 0;
		icsk->icsk_rto = max_t(u32, __tcp_set_rto(tcp_sk(sk)), msecs_to_jiffies(RTO_MIN_MS));
		inet_csk_reset_xmit_timer(sk, ICSK_TIME_RETRANS, soon, TCP_RTO_MAX);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
}

static void socket_close(struct nof_tcp_queue *q)
{
	if (q->sock) {
		socket_stop(q);
		socket_release(q->sock);
		q->sock = NULL;
		nof_tcp_send_exit(q);
	}
	clear_bit(NOF_TCP_STOPPED, &q->flags);
}

/*
 * Targets limit the length of a command before they know its namespace (nvmet: 4 MiB). Fewer than 4 GiB may be
 * acknowledged between two calls of nof_tcp_count_acked().
 */
#define MAX_DATA	SZ_4M

static void tcp_limits(struct nof_ctrl *ctrl, struct nof_transport_limits *lim)
{
	lim->max_segments = U16_MAX;
	lim->max_data = MAX_DATA;
	lim->virt_boundary = 0;
	lim->pi = true;
}

static int tcp_start_queue(struct nof_queue *queue)
{
	struct nof_tcp_queue *q = to_tcp_queue(queue);
	/* Memory writeback may wait for this reconnect. */
	unsigned int noio = memalloc_noio_save();
	int err;

	err = socket_open(q) ?: socket_connect(q) ?: nof_tcp_handshake(q);
	memalloc_noio_restore(noio);
	return err;
}

static void stop_queue(struct nof_queue *queue)
{
	socket_stop(to_tcp_queue(queue));
}

static void wait_queue(struct nof_queue *queue)
{
	struct nof_tcp_queue *q = to_tcp_queue(queue);
	struct socket *sock = socket_get_published(q);

	if (sock && q->tx.spliced && !q->tls)
		wait_for_devices(q, sock->sk);
}

static void free_queue(struct nof_queue *queue)
{
	socket_close(to_tcp_queue(queue));
}

static void queue_retransmit(struct nof_queue *queue)
{
	socket_retransmit_soon(to_tcp_queue(queue));
}

static void queue_vital(struct nof_queue *queue, struct nof_vital *v)
{
	socket_vital(to_tcp_queue(queue), v);
}

static struct nof_transport tcp_transport = {
	.name		= "tcp",
	.owner		= THIS_MODULE,
	.api		= NOF_TRANSPORT_API,
	.queue_size	= sizeof(struct nof_tcp_queue),
	.slot_size	= sizeof(struct nof_tcp_cmd),
	.options	= NOF_OPT_HOST_TRADDR | NOF_OPT_HOST_IFACE | NOF_OPT_TOS | NOF_OPT_HDR_DIGEST |
			  NOF_OPT_DATA_DIGEST | NOF_OPT_POLL_QUEUES | NOF_TLS_OPTION,
	.ctrl_init	= nof_addr_init,
	.ctrl_exit	= nof_addr_exit,
	.same_addr	= nof_addr_same,
	.limits		= tcp_limits,
	.start_queue	= tcp_start_queue,
	.stop_queue	= stop_queue,
	.wait_queue	= wait_queue,
	.free_queue	= free_queue,
	.queue_cmd	= nof_tcp_send_cmd,
	.commit		= nof_tcp_send_commit,
	.poll		= nof_tcp_recv_poll,
	.detach		= nof_tcp_recv_detach,
	.vital		= queue_vital,
	.retransmit	= queue_retransmit,
};

/*
 * sk_set_memalloc() for the first socket of a machine, and its end for the last one, patch the network stack's code,
 * which interrupts every CPU. This socket, which is never connected, avoids that at each connect and disconnect.
 */
static struct socket *memalloc_socket;

static int __init memalloc_socket_init(void)
{
	int err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &memalloc_socket);

	if (!err)
		sk_set_memalloc(memalloc_socket->sk);
	return err;
}

static void memalloc_socket_exit(void)
{
	sk_clear_memalloc(memalloc_socket->sk);
	sock_release(memalloc_socket);
}

static int __init nof_tcp_init(void)
{
	int err;

	nof_tcp_wq = alloc_workqueue("nvmeof_tcp", WQ_PERCPU | WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	if (!nof_tcp_wq)
		return -ENOMEM;
	err = nof_tcp_pools_init();
	if (err)
		goto destroy_wq;
	err = memalloc_socket_init();
	if (err)
		goto exit_pools;
	err = nof_transport_register(&tcp_transport);
	if (err)
		goto exit_memalloc;
	return 0;

exit_memalloc:
	memalloc_socket_exit();
exit_pools:
	nof_tcp_pools_exit();
destroy_wq:
	destroy_workqueue(nof_tcp_wq);
	return err;
}

static void __exit nof_tcp_exit(void)
{
	nof_transport_unregister(&tcp_transport);
	memalloc_socket_exit();
	destroy_workqueue(nof_tcp_wq);
	nof_tcp_pools_exit();
	nof_tcp_batch_exit();
}

module_init(nof_tcp_init);
module_exit(nof_tcp_exit);

MODULE_DESCRIPTION("NVMe over Fabrics host: TCP transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVMEOF_VERSION);
MODULE_ALIAS("nvmeof-tcp");
