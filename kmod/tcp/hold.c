// SPDX-License-Identifier: GPL-2.0-only
/*
 * Held bytes: received, processed, and still in the socket's receive queue. When a reader reports bytes to TCP as read,
 * TCP frees their buffers, moves its window, and for more than two segments sends an acknowledgement at once. The
 * receiver runs for each buffer that arrives, so a report each time would cost a packet per buffer. The bytes of
 * several buffers are released together instead, and the next command usually carries their acknowledgement.
 *
 * A peer that has used up its congestion window waits for an acknowledgement. The limit keeps what is held below that
 * window: it starts at zero and grows only when the peer has sent more than the limit without an acknowledgement, so in
 * slow start it stays behind the peer's window. If the peer waits nevertheless, a timer releases the bytes. Data that
 * follow within two round trips have waited for the acknowledgement: then the limit is cut, and grows slowly from there
 * on. After an idle time it starts at zero again, and doubles up to that threshold.
 *
 * The socket lock covers all fields: owned, or as a spinlock while no task owns the socket. The timer has the spinlock
 * only, so it changes nothing while a task owns the socket.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "compat/hrtimer.h"
#include "tcp/tcp.h"

#define TRIPS_MIN	(100 * NSEC_PER_USEC)	/* shortest time of two round trips that is assumed */
/* Time without new data, after which held bytes are released */
#define SILENCE_MIN	(500 * NSEC_PER_USEC)
#define SILENCE_MAX	NSEC_PER_MSEC
#define IDLE		(HZ / 20)		/* after that a peer may begin with a small window again */
#define MIN_SEGMENTS	2			/* that TCP does not acknowledge at once, either */
#define MIN_BYTES	1024			/* for less, TCP usually sends no acknowledgement by itself */
#define FIRST_SHIFT	7			/* above the threshold, the limit grows by 1/128, later by less */
#define MAX_SHIFT	12

static u32 unacknowledged(const struct tcp_sock *tp)
{
	return tp->rcv_nxt - tp->rcv_wup;
}

static void release(struct nof_tcp_queue *q)
{
	tcp_read_done(q->sock->sk, q->hold.bytes);
	q->hold.bytes = 0;
}

/* Without memory for it in the window and in the buffer, TCP would have to drop what comes next. */
static bool has_room(struct sock *sk, const struct tcp_sock *tp)
{
	const struct sk_buff *last = skb_peek_tail(&sk->sk_receive_queue);

	return unacknowledged(tp) <= tp->rcv_wnd / 4 &&
	       atomic_read(&sk->sk_rmem_alloc) <= READ_ONCE(sk->sk_rcvbuf) / 4 && !tcp_under_memory_pressure(sk) &&
	       !(last && skb_pfmemalloc(last));
}

/* Two round trips with the time that the peer takes for a command; srtt_us is in eighths */
static u64 trips_ns(const struct tcp_sock *tp)
{
	return max_t(u64, (u64)(tp->srtt_us >> 2) * NSEC_PER_USEC, TRIPS_MIN);
}

static u64 silence_ns(const struct tcp_sock *tp)
{
	return clamp_t(u64, trips_ns(tp), SILENCE_MIN, SILENCE_MAX);
}

static void grow_limit(struct nof_tcp_hold *hold, u32 sent)
{
	if (hold->limit < hold->threshold) {
		hold->limit = min(max(2 * hold->limit, sent), hold->threshold);
		return;
	}
	hold->limit = min_t(u32, hold->limit + (hold->limit >> hold->shift) + 1, NOF_TCP_HOLD);
	hold->threshold = hold->limit;
}

static void cut_limit(struct nof_tcp_hold *hold, u32 segment)
{
	hold->limit = max(hold->waited / 2, MIN_SEGMENTS * segment);
	hold->threshold = hold->limit;
	hold->shift = min(hold->shift + 1, MAX_SHIFT);
}

/* Data have arrived after a release by the timer: did they wait for it? */
static void judge_wait(struct nof_tcp_hold *hold, const struct sock *sk)
{
	if (ktime_get_ns() - hold->released < trips_ns(tcp_sk(sk)))
		cut_limit(hold, inet_csk(sk)->icsk_ack.rcv_mss);
	hold->waited = 0;
}

static void note_arrival(struct nof_tcp_hold *hold, const struct sock *sk)
{
	u32 now = jiffies;

	if (unlikely(now - hold->last > IDLE))
		hold->limit = 0;
	else if (unlikely(hold->waited))
		judge_wait(hold, sk);
	hold->last = now;
}

static void start_timer(struct nof_tcp_hold *hold, const struct tcp_sock *tp)
{
	if (hold->timed)
		return;
	hold->timed = true;
	hold->seen = tp->rcv_nxt;
	hrtimer_start(&hold->timer, ns_to_ktime(silence_ns(tp)), HRTIMER_MODE_REL_PINNED_SOFT);
}

void nof_tcp_hold(struct nof_tcp_queue *q, u32 n)
{
	struct nof_tcp_hold *hold = &q->hold;
	struct sock *sk = q->sock->sk;
	const struct tcp_sock *tp = tcp_sk(sk);

	hold->bytes += n;
	if (!hold->bytes)
		return;
	if (n)
		note_arrival(hold, sk);
	/* TCP calls without new data where it lacks memory */
	if (n && hold->bytes > MIN_BYTES && hold->bytes < NOF_TCP_HOLD && unacknowledged(tp) <= hold->limit &&
	    has_room(sk, tp) && !test_bit(NOF_Q_POLLED, &q->q.flags)) {
		start_timer(hold, tp);
		return;
	}
	if (unacknowledged(tp) > hold->limit)
		grow_limit(hold, unacknowledged(tp));
	release(q);
}

/* Releases the held bytes if nothing was received since the timer was started. Returns whether it goes on. */
static bool release_after_silence(struct nof_tcp_queue *q)
{
	struct nof_tcp_hold *hold = &q->hold;
	struct sock *sk = q->sock->sk;
	const struct tcp_sock *tp = tcp_sk(sk);

	/* the owner's backlog may run now, and counts on the timer as long as @timed is set */
	if (sock_owned_by_user(sk))
		return true;
	if (!hold->bytes || q->phase < NOF_TCP_ICREQ)
		return false;
	if (hold->seen != tp->rcv_nxt) {
		hold->seen = tp->rcv_nxt;
		return true;
	}
	/* without a command in flight the peer has nothing to send */
	if (atomic_read(&q->q.inflight)) {
		hold->waited = unacknowledged(tp);
		hold->released = ktime_get_ns();
	}
	release(q);
	return false;
}

static enum hrtimer_restart hold_timer(struct hrtimer *timer)
{
	struct nof_tcp_queue *q = container_of(timer, struct nof_tcp_queue, hold.timer);
	struct sock *sk = q->sock->sk;
	u64 silence = 0;
	bool again;

	bh_lock_sock(sk);
	again = release_after_silence(q);
	if (again)
		silence = silence_ns(tcp_sk(sk));
	else
		q->hold.timed = false;
	bh_unlock_sock(sk);
	if (!again)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(silence));
	return HRTIMER_RESTART;
}

void nof_tcp_hold_init(struct nof_tcp_queue *q)
{
	memset(&q->hold, 0, sizeof(q->hold));
	q->hold.threshold = NOF_TCP_HOLD;
	q->hold.shift = FIRST_SHIFT;
	hrtimer_setup(&q->hold.timer, hold_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
}

void nof_tcp_hold_stop(struct nof_tcp_queue *q)
{
	hrtimer_cancel(&q->hold.timer);
}
