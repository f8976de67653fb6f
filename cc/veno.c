/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * veno: Reno with the eyes of Vegas. Delays show how many packets wait in the queue. With fewer than
 * three a loss is taken for chance and costs a fifth; with more it costs half, and growth takes two
 * round trips per packet.
 *
 * Source: Fu, Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks", IEEE JSAC
 * 21 (2003); behaviour of Linux 6.12 (tcp_veno.c), with which runs of 6.1 agree.
 * Deviations: kernels before 6.1 and after 6.12 are refused, because nobody compared them. Against the
 * paper, as in Linux: each ACK is judged by its own RTT, not by the mean of a round trip. After idle
 * time the path's least RTT is measured anew. An ACK that grows the window, or skips it, is not counted
 * while packets wait. An ACK without an RTT counts as one of a long queue.
 * Parameters: none.
 */
#include "cc.h"

#define BETA 6u /* half packets in the queue: a loss is congestion, and growth is slow */

struct veno {
	struct cc_rtts rtts; /* its count never begins anew */
	u32 queued;     /* half packets in the queue, by the last ACK */
	u8 doing_veno;  /* 0: a loss is being repaired, as by Reno */
	u8 inc;         /* the next window of ACKs grows cwnd */
};
CC_PRIVATE(struct veno)

CC_CALLBACK(void, veno_init, struct sock *sk)
{
	struct veno *ca = inet_csk_ca(sk);

	ca->rtts.base = CC_NO_RTT;
	ca->rtts.least = CC_NO_RTT;
	ca->doing_veno = 1;
	ca->inc = 1;
}

CC_CALLBACK(void, veno_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct veno *ca = inet_csk_ca(sk);

	cc_take_rtt(&ca->rtts, sample->rtt_us);
}

CC_CALLBACK(void, veno_set_state, struct sock *sk, u8 new_state)
{
	struct veno *ca = inet_csk_ca(sk);

	ca->doing_veno = new_state == TCP_CA_Open;
	if (ca->doing_veno)
		ca->rtts.least = CC_NO_RTT;
}

CC_CALLBACK(void, veno_cwnd_event, struct sock *sk, u32 event)
{
	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_TX_START)
		veno_init(sk);
}

static void grow_by_delay(struct sock *sk, struct veno *ca, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 target = div_u64((u64)tp->snd_cwnd * ca->rtts.base << 1, ca->rtts.least);

	ca->queued = (tp->snd_cwnd << 1) - (u32)target;
	if (tcp_in_slow_start(tp)) {
		acked = cc_slow_start(sk, acked);
		if (!acked)
			return;
	}
	if (ca->queued < BETA) {
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
		return;
	}

	/* Every second window of ACKs grows cwnd. */
	if (tp->snd_cwnd_cnt < tp->snd_cwnd) {
		tp->snd_cwnd_cnt += acked;
		return;
	}
	if (ca->inc && tp->snd_cwnd < tp->snd_cwnd_clamp) {
		tp->snd_cwnd++;
		ca->inc = 0;
	} else {
		ca->inc = 1;
	}
	tp->snd_cwnd_cnt = 0;
}

CC_CALLBACK(void, veno_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct veno *ca = inet_csk_ca(sk);

	if (!ca->doing_veno) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (ca->rtts.count <= 2) {
		tcp_reno_cong_avoid(sk, ack, acked);
	} else {
		grow_by_delay(sk, ca, acked);
		if (tp->snd_cwnd < 2)
			tp->snd_cwnd = 2;
		else
			tp->snd_cwnd = min_u32(tp->snd_cwnd, tp->snd_cwnd_clamp);
	}
	ca->rtts.least = CC_NO_RTT;
}

CC_CALLBACK(u32, veno_ssthresh, struct sock *sk)
{
	const struct veno *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	return max_u32(ca->queued < BETA ? cwnd * 4 / 5 : cwnd / 2, 2);
}

CC_CALLBACK(u32, veno_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(veno, .title = "TCP Veno (2003)", .first_kernel = KERNEL(6, 1, 0),
	    .last_kernel = KERNEL(6, 12, 255), .init = veno_init, .ssthresh = veno_ssthresh,
	    .cong_avoid = veno_cong_avoid, .pkts_acked = veno_pkts_acked,
	    .set_state = veno_set_state, .undo_cwnd = veno_undo_cwnd,
	    .cwnd_event = veno_cwnd_event)
