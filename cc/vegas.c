/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * vegas: delays show how many packets wait in the queue. Once per round trip the window grows by one
 * packet if fewer than two wait, and shrinks by one if more than four do. Slow start ends as soon as
 * more than one waits. Losses act as in Reno.
 *
 * Source: Brakmo, Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC
 * 13 (1995); behaviour of Linux 6.12 (tcp_vegas.c), with which runs of 6.1 agree.
 * Deviations: kernels before 6.1 and after 6.12 are refused, because nobody compared them. Against the
 * paper, as in Linux: slow start doubles each round trip, not every second one. The least RTT of a round
 * trip counts, not its mean. Fewer than three samples make it Reno. After idle time the path's least RTT
 * is measured anew. The window need not be the limit in order to grow.
 * Parameters, units and ranges: the rows of VEGAS_PARAMS.
 */
#include "cc.h"

#define VEGAS_PARAMS(P)                                                                             \
	P(alpha, "packets", 0, 0x7fffffff, "in the queue: grow below", SINCE(2, 6, 20, 2))          \
	P(beta, "packets", 0, 0x7fffffff, "in the queue: shrink above", SINCE(2, 6, 20, 4))         \
	P(gamma, "packets", 0, 0x7fffffff, "in the queue: slow start ends above",                   \
	  SINCE(2, 6, 20, 1))
CC_PARAMS(VEGAS_PARAMS)

struct vegas {
	struct cc_rtts rtts;
	u32 beg_snd_nxt; /* the round trip ends with its ACK */
	u8 doing_vegas;  /* 0: a loss is being repaired, as by Reno */
};
CC_PRIVATE(struct vegas)

static void enable(struct sock *sk, struct vegas *ca)
{
	ca->doing_vegas = 1;
	ca->beg_snd_nxt = tcp_sk(sk)->snd_nxt;
	ca->rtts.count = 0;
	ca->rtts.least = CC_NO_RTT;
}

CC_CALLBACK(void, vegas_init, struct sock *sk)
{
	struct vegas *ca = inet_csk_ca(sk);

	ca->rtts.base = CC_NO_RTT;
	enable(sk, ca);
}

CC_CALLBACK(void, vegas_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct vegas *ca = inet_csk_ca(sk);

	cc_take_rtt(&ca->rtts, sample->rtt_us);
}

CC_CALLBACK(void, vegas_set_state, struct sock *sk, u8 new_state)
{
	struct vegas *ca = inet_csk_ca(sk);

	if (new_state == TCP_CA_Open)
		enable(sk, ca);
	else
		ca->doing_vegas = 0;
}

CC_CALLBACK(void, vegas_cwnd_event, struct sock *sk, u32 event)
{
	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_TX_START)
		vegas_init(sk);
}

/* By the round trip's least RTT: one packet more or less, or the end of slow start. */
static void judge(struct sock *sk, const struct vegas *ca, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 base = ca->rtts.base, rtt = ca->rtts.least;
	u32 target = (u32)div_u64((u64)tp->snd_cwnd * base, rtt); /* cwnd without a queue */
	u32 queued = div_u32(tp->snd_cwnd * (rtt - base), base);

	if (tcp_in_slow_start(tp)) {
		if (queued > param(sk, gamma)) {
			tp->snd_cwnd = min_u32(tp->snd_cwnd, target + 1);
			tp->snd_ssthresh = min_u32(tp->snd_ssthresh, tp->snd_cwnd);
		} else {
			cc_slow_start(sk, acked);
		}
	} else if (queued > param(sk, beta)) {
		tp->snd_cwnd--;
		tp->snd_ssthresh = min_u32(tp->snd_ssthresh, tp->snd_cwnd);
	} else if (queued < param(sk, alpha)) {
		tp->snd_cwnd++;
	}

	if (tp->snd_cwnd < 2)
		tp->snd_cwnd = 2;
	else
		tp->snd_cwnd = min_u32(tp->snd_cwnd, tp->snd_cwnd_clamp);
	tp->snd_ssthresh = tcp_current_ssthresh(tp);
}

CC_CALLBACK(void, vegas_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct vegas *ca = inet_csk_ca(sk);

	if (!ca->doing_vegas) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (!cc_after(ack, ca->beg_snd_nxt)) {
		if (tcp_in_slow_start(tp))
			cc_slow_start(sk, acked);
		return;
	}

	/* A round trip is over. Two samples or fewer may all be of delayed ACKs. */
	ca->beg_snd_nxt = tp->snd_nxt;
	if (ca->rtts.count <= 2)
		tcp_reno_cong_avoid(sk, ack, acked);
	else
		judge(sk, ca, acked);
	ca->rtts.count = 0;
	ca->rtts.least = CC_NO_RTT;
}

CC_CALLBACK(u32, vegas_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

CC_CALLBACK(u32, vegas_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(vegas, .title = "TCP Vegas (1995)", CC_WITH_PARAMS,
	    .first_kernel = KERNEL(6, 1, 0), .last_kernel = KERNEL(6, 12, 255),
	    .init = vegas_init, .ssthresh = vegas_ssthresh, .cong_avoid = vegas_cong_avoid,
	    .pkts_acked = vegas_pkts_acked, .set_state = vegas_set_state,
	    .undo_cwnd = vegas_undo_cwnd, .cwnd_event = vegas_cwnd_event)
