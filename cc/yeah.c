/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * yeah: Scalable TCP while the queue is short, Reno while it is long. Delays show the queue once per
 * round trip. With more than 80 packets in it the window gives them back at once, down to what Reno
 * would have. A loss takes what the queue held, an eighth at least and half at most; half where Reno
 * flows seem to compete.
 *
 * Source: Baiocchi, Castellani, Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007; behaviour of
 * Linux 6.12 (tcp_yeah.c), with which runs of 6.1 agree.
 * Deviations: kernels before 6.1 and after 6.12 are refused, because nobody compared them. The kernel lowers
 * snd_cwnd_clamp to 2^25 packets; here it stays. Against the paper, as in Linux: the queue comes from the
 * least RTT of a round trip and from cwnd. After idle time the path's least RTT is measured anew.
 * Parameters: none.
 */
#include "cc.h"

#define SCALABLE 100u    /* packets per packet of growth, at most */
#define LONG_QUEUE 80u   /* packets */
#define DELAY 8u         /* a queue of more than this part of the least RTT is long, too */
#define LEAST_LOSS 8u    /* a loss takes this part at least */
#define COMPETING 16u    /* round trips of Reno after which a loss takes half */
#define FAST_ROUNDS 50u  /* round trips of a short queue after which no Reno flow competes */

struct yeah {
	struct cc_rtts rtts;
	u32 beg_snd_nxt; /* the round trip ends with its ACK */
	u32 queue;       /* packets, at the end of the last round trip */
	u32 doing_reno;  /* round trips of a long queue in a row */
	u32 reno_count;  /* cwnd of a Reno flow in this place */
	u32 fast_count;  /* round trips of a short queue */
};
CC_PRIVATE(struct yeah)

static void begin_round(struct sock *sk, struct yeah *ca)
{
	ca->beg_snd_nxt = tcp_sk(sk)->snd_nxt;
	ca->rtts.count = 0;
	ca->rtts.least = CC_NO_RTT;
}

static void begin_path(struct sock *sk, struct yeah *ca)
{
	ca->rtts.base = CC_NO_RTT;
	begin_round(sk, ca);
}

CC_CALLBACK(void, yeah_init, struct sock *sk)
{
	struct yeah *ca = inet_csk_ca(sk);

	begin_path(sk, ca);
	ca->queue = 0;
	ca->doing_reno = 0;
	ca->reno_count = 2;
}

CC_CALLBACK(void, yeah_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct yeah *ca = inet_csk_ca(sk);

	cc_take_rtt(&ca->rtts, sample->rtt_us);
}

CC_CALLBACK(void, yeah_set_state, struct sock *sk, u8 new_state)
{
	struct yeah *ca = inet_csk_ca(sk);

	if (new_state == TCP_CA_Open)
		begin_round(sk, ca);
}

CC_CALLBACK(void, yeah_cwnd_event, struct sock *sk, u32 event)
{
	struct yeah *ca = inet_csk_ca(sk);

	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_TX_START)
		begin_path(sk, ca);
}

/* What is too much in the queue leaves it, down to Reno's window. */
static void decongest(struct tcp_sock *tp, struct yeah *ca)
{
	if (ca->queue <= LONG_QUEUE || tp->snd_cwnd <= ca->reno_count)
		return;
	tp->snd_cwnd -= min_u32(ca->queue, tp->snd_cwnd / 2);
	tp->snd_cwnd = max_u32(tp->snd_cwnd, ca->reno_count);
	tp->snd_ssthresh = tp->snd_cwnd;
}

static void judge(struct tcp_sock *tp, struct yeah *ca)
{
	u32 delay = ca->rtts.least - ca->rtts.base;

	ca->queue = (u32)div_u64((u64)tp->snd_cwnd * delay, ca->rtts.least);
	if (ca->queue > LONG_QUEUE || delay > ca->rtts.base / DELAY) {
		decongest(tp, ca);
		if (ca->reno_count <= 2)
			ca->reno_count = max_u32(tp->snd_cwnd / 2, 2);
		else
			ca->reno_count++;
		ca->doing_reno = min_u32(ca->doing_reno + 1, 0xffffff);
		return;
	}
	ca->fast_count++;
	if (ca->fast_count > FAST_ROUNDS) {
		ca->reno_count = 2;
		ca->fast_count = 0;
	}
	ca->doing_reno = 0;
}

CC_CALLBACK(void, yeah_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct yeah *ca = inet_csk_ca(sk);
	u32 per_packet, is_used_up = 0;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = cc_slow_start(sk, acked);
		is_used_up = !acked;
	}
	if (!is_used_up) {
		per_packet = ca->doing_reno ? tp->snd_cwnd : min_u32(tp->snd_cwnd, SCALABLE);
		tcp_cong_avoid_ai(tp, per_packet, acked);
	}

	if (!cc_after(ack, ca->beg_snd_nxt))
		return;
	/* A round trip is over. Two samples or fewer may all be of delayed ACKs. */
	if (ca->rtts.count > 2)
		judge(tp, ca);
	begin_round(sk, ca);
}

CC_CALLBACK(u32, yeah_ssthresh, struct sock *sk)
{
	struct yeah *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd, taken = max_u32(cwnd / 2, 2);

	if (ca->doing_reno < COMPETING)
		taken = max_u32(min_u32(ca->queue, taken), cwnd / LEAST_LOSS);
	ca->fast_count = 0;
	ca->reno_count = max_u32(ca->reno_count / 2, 2);
	return cwnd > taken + 2 ? cwnd - taken : 2;
}

CC_CALLBACK(u32, yeah_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(yeah, .title = "YeAH-TCP (2007)", .first_kernel = KERNEL(6, 1, 0),
	    .last_kernel = KERNEL(6, 12, 255), .init = yeah_init, .ssthresh = yeah_ssthresh,
	    .cong_avoid = yeah_cong_avoid, .pkts_acked = yeah_pkts_acked,
	    .set_state = yeah_set_state, .undo_cwnd = yeah_undo_cwnd,
	    .cwnd_event = yeah_cwnd_event)
