// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection manager (CM). All connections of the machine share the works that deliver its events: the event
 * handler only records them, and the waiting task does the slow part. The CM's own time limits are long (65 s for an
 * answer), so the queue's deadline decides.
 */
#include <linux/netdevice.h>
#include <linux/nvme-rdma.h>
#include <linux/wait_bit.h>
#include <rdma/ib_cm.h>
#include "rdma/rdma.h"

/* Retries while the target has no receive posted, which the protocol rules out. 7 would mean endless retries. */
#define RNR_RETRIES	6

static unsigned int time_left_ms(const struct nof_rdma_queue *q)
{
	long left = q->q.deadline - jiffies;

	return left > 0 ? max(jiffies_to_msecs(left), 1U) : 0;
}

static void cm_step(struct nof_rdma_queue *q, int step)
{
	smp_store_release(&q->step, step);
	smp_mb();
	wake_up_var(&q->step);
}

static void cm_fail(struct nof_rdma_queue *q, int err)
{
	q->cm_err = err;
	cm_step(q, NOF_RDMA_CM_FAILED);
}

/* NVMe RDMA Transport 1.0, figure 9: private data of a connection request. Older kernel headers lack CNTLID. */
struct cm_request {
	__le16	recfmt;
	__le16	qid;
	__le16	hrqsize;
	__le16	hsqsize;
	__le16	cntlid;
	u8	rsvd[22];
};

#define CM_INVALID_CNTLID	9

/* Text for a CM reject status of the target; NULL for others, such as the NVMe status that some targets send */
static const char *reject_text(u16 sts)
{
	switch (sts) {
	case NVME_RDMA_CM_INVALID_LEN:		return "the length of the private data";
	case NVME_RDMA_CM_INVALID_RECFMT:	return "the format of the private data";
	case NVME_RDMA_CM_INVALID_QID:		return "the queue ID";
	case NVME_RDMA_CM_INVALID_HSQSIZE:	return "the size of the send queue: try a smaller queue size";
	case NVME_RDMA_CM_INVALID_HRQSIZE:	return "the size of the receive queue: try a smaller queue size";
	case NVME_RDMA_CM_NO_RSC:		return "it has no resources left: try fewer queues";
	case NVME_RDMA_CM_INVALID_IRD:		return "the number of reads it may send";
	case NVME_RDMA_CM_INVALID_ORD:		return "the number of reads it gets";
	case CM_INVALID_CNTLID:		return "the controller ID";
	default:				return NULL;
	}
}

/* Rejected by the NVMe target, not by the CM below it */
static void rejected_by_target(struct nof_rdma_queue *q, struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	u8 len = 0;
	const struct nvme_rdma_cm_rej *rej = rdma_consumer_reject_data(id, event, &len);
	u16 sts = rej && len >= sizeof(*rej) ? le16_to_cpu(rej->sts) : 0;

	/* the target is still tearing down other connections */
	if (sts == NVME_SC_CONNECT_CTRL_BUSY || sts == NVME_RDMA_CM_NO_RSC) {
		cm_fail(q, -EAGAIN);
		return;
	}
	if (reject_text(sts))
		nof_queue_error(&q->q, NOF_CAUSE_PEER, -ECONNREFUSED, "target refuses the connection for %s",
				reject_text(sts));
	else
		nof_queue_error(&q->q, NOF_CAUSE_PEER, -ECONNREFUSED, "target refuses the connection, status 0x%x",
				sts);
	cm_fail(q, -ECONNREFUSED);
}

static void cm_rejected(struct nof_rdma_queue *q, struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	bool ib = rdma_protocol_ib(id->device, id->port_num) || rdma_protocol_roce(id->device, id->port_num);

	if (ib && event->status == IB_CM_REJ_CONSUMER_DEFINED) {
		rejected_by_target(q, id, event);
	} else if (ib && event->status == IB_CM_REJ_STALE_CONN) {
		/* the target still has an old connection, which it drops on this request */
		cm_fail(q, -EAGAIN);
	} else if ((ib && event->status == IB_CM_REJ_INVALID_SERVICE_ID) || event->status == -ECONNREFUSED) {
		cm_fail(q, -ECONNREFUSED);
	} else {
		nof_queue_error(&q->q, NOF_CAUSE_PEER, -ECONNREFUSED, "connection rejected: %s",
				rdma_reject_msg(id, event->status));
		cm_fail(q, -ECONNREFUSED);
	}
}

static int failed_err(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_UNREACHABLE:
		return -ETIMEDOUT;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return event->status < 0 ? event->status : -EHOSTUNREACH;
	default:
		return event->status < 0 ? event->status : -ECONNRESET;
	}
}

/*
 * An established connection is lost, or a connect attempt fails. An established connection that ends on this side
 * keeps its step, so that quiesce() disconnects it, which informs the peer.
 */
static void cm_connection_lost(struct nof_rdma_queue *q, enum nof_cause cause, int err, const char *what)
{
	if (!nof_rdma_stopped(q))
		nof_queue_error(&q->q, cause, err, "%s", what);
	if (cause == NOF_CAUSE_PEER || READ_ONCE(q->step) != NOF_RDMA_CM_UP)
		cm_fail(q, err);
}

/* Always returns 0: any other value destroys the ID, which only nof_rdma_cm_destroy() may do */
static int cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct nof_rdma_queue *q = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		cm_step(q, NOF_RDMA_CM_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cm_step(q, NOF_RDMA_CM_ROUTE);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		cm_step(q, NOF_RDMA_CM_UP);
		break;
	case RDMA_CM_EVENT_REJECTED:
		cm_rejected(q, id, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		cm_fail(q, failed_err(event));
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		cm_connection_lost(q, NOF_CAUSE_PEER, -ECONNRESET, "target has ended the connection");
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		cm_connection_lost(q, NOF_CAUSE_LOCAL, -ENETDOWN, "local address moved to another device");
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		cm_connection_lost(q, NOF_CAUSE_LOCAL, -ENODEV, "the RDMA device is being removed");
		break;
	default:
		/* TIMEWAIT_EXIT: the connection has already ended */
		break;
	}
	return 0;
}

static bool cm_ended(const struct nof_rdma_queue *q)
{
	return nof_rdma_stopped(q) || test_bit(NOF_Q_DEAD, &q->q.flags) || test_bit(NOF_Q_ERROR, &q->q.flags);
}

static int cm_wait(struct nof_rdma_queue *q, int step)
{
	int now;

	wait_var_event_timeout(&q->step, smp_load_acquire(&q->step) >= step || cm_ended(q),
			       msecs_to_jiffies(time_left_ms(q)));
	now = smp_load_acquire(&q->step);
	if (now == NOF_RDMA_CM_FAILED)
		return q->cm_err;
	if (cm_ended(q))
		return -ECANCELED;
	return now >= step ? 0 : -ETIMEDOUT;
}

void nof_rdma_cm_sleep(struct nof_rdma_queue *q, unsigned long deadline)
{
	long left = deadline - jiffies;

	if (left > 0)
		wait_var_event_timeout(&q->step, cm_ended(q), left);
}

static int cm_bind_iface(struct nof_rdma_queue *q)
{
	const struct nof_opts *opts = &q->q.ctrl->opts;
	struct net_device *dev;

	if (!*opts->host_iface)
		return 0;
	dev = dev_get_by_name(nof_addr_of(q->q.ctrl)->net, opts->host_iface);
	if (!dev)
		return -ENODEV;
	q->id->route.addr.dev_addr.bound_dev_if = dev->ifindex;
	dev_put(dev);
	return 0;
}

/* Unit of the ACK timeout in ns; the timeout is the unit times a power of two, with an exponent up to 31 */
#define ACK_UNIT_NS	(1ULL << 12)

static u8 ack_exponent(u32 ms)
{
	u8 t = 1;

	while (t < 31 && (ACK_UNIT_NS << t) < (u64)ms * NSEC_PER_MSEC)
		t++;
	return t;
}

static int cm_create(struct nof_rdma_queue *q)
{
	struct rdma_cm_id *id = rdma_create_id(nof_addr_of(q->q.ctrl)->net, cm_event, q, RDMA_PS_TCP, IB_QPT_RC);
	int err;

	if (IS_ERR(id))
		return PTR_ERR(id);
	q->id = id;
	q->cm_err = 0;
	WRITE_ONCE(q->step, NOF_RDMA_CM_IDLE);
	if (q->q.ctrl->opts.given & NOF_OPT_TOS)
		rdma_set_service_type(id, q->q.ctrl->opts.tos);
	err = cm_bind_iface(q);
	/* a device that cannot do this uses its own timeout */
	if (!err)
		rdma_set_ack_timeout(id, ack_exponent(q->q.ctrl->opts.ack_tmo_ms));
	return err;
}

/*
 * Linux may miss a neighbour's answer when that of another neighbour arrives at the same time (process_one_req() of
 * ib_core delays a request that the answer has just expedited), and checks again only at the timeout. So that is short.
 */
#define ADDR_MS		200

static int cm_resolve_addr(struct nof_rdma_queue *q)
{
	struct nof_addr *at = nof_addr_of(q->q.ctrl);
	struct sockaddr *src = at->src.ss_family == AF_UNSPEC ? NULL : (struct sockaddr *)&at->src;
	int err;

	do {
		WRITE_ONCE(q->step, NOF_RDMA_CM_IDLE);
		err = rdma_resolve_addr(q->id, src, (struct sockaddr *)&at->dst, min(time_left_ms(q), ADDR_MS));
		if (!err)
			err = cm_wait(q, NOF_RDMA_CM_ADDR);
	} while (err == -ETIMEDOUT && time_left_ms(q));
	return err;
}

int nof_rdma_cm_resolve(struct nof_rdma_queue *q)
{
	int err = nof_addr_refresh(q->q.ctrl);

	if (!err)
		err = cm_create(q);
	if (!err)
		err = cm_resolve_addr(q);
	if (!err)
		err = rdma_resolve_route(q->id, time_left_ms(q));
	if (!err)
		err = cm_wait(q, NOF_RDMA_CM_ROUTE);
	return err;
}

/* NVMe RDMA Transport 1.0, 3.1: HSQSIZE is 0's based, as SQSIZE is */
static void fill_request(const struct nof_rdma_queue *q, struct cm_request *req)
{
	memset(req, 0, sizeof(*req));
	req->recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0);
	req->qid = cpu_to_le16(q->q.qid);
	req->hrqsize = cpu_to_le16(q->q.size);
	req->hsqsize = cpu_to_le16(q->q.size - 1);
	if (q->q.qid)
		req->cntlid = cpu_to_le16(q->q.ctrl->cntlid);
}

/* Some devices take 7 for endless retries: allowed only if Keep Alive ends the connection */
static u8 retry_count(const struct nof_ctrl *ctrl)
{
	return min_t(u32, ctrl->opts.retry_count, ctrl->opts.kato_ms ? 7 : 6);
}

int nof_rdma_cm_connect(struct nof_rdma_queue *q)
{
	struct cm_request req;
	struct rdma_conn_param param = {
		.private_data = &req,
		.private_data_len = sizeof(req),
		.responder_resources = min(q->id->device->attrs.max_qp_rd_atom, U8_MAX),
		.initiator_depth = 0,
		.flow_control = 1,
		.retry_count = retry_count(q->q.ctrl),
		.rnr_retry_count = RNR_RETRIES,
	};
	int err;

	fill_request(q, &req);
	err = rdma_connect(q->id, &param);
	return err ?: cm_wait(q, NOF_RDMA_CM_UP);
}

/* Afterwards no event is delivered. Waits for a running event handler, not for the peer. */
void nof_rdma_cm_destroy(struct nof_rdma_queue *q)
{
	if (q->id)
		rdma_destroy_id(q->id);
	q->id = NULL;
}
