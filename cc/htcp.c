/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * htcp: growth per round trip rises with the time since the last congestion: as Reno's for a second,
 * then by a quadratic. How much a loss takes depends on how much of the RTT is the queue's: what is
 * kept is the least RTT over the largest, between 0.5 and 0.8; where the throughput has changed by more
 * than a fifth since the last congestion, half.
 *
 * Source: Leith, Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
 * draft-leith-tcp-htcp; behaviour of Linux 2.6.20 to 6.12 (tcp_htcp.c), read in 2.6.18 (Red Hat's),
 * 2.6.24, 2.6.32, 4.19 and 6.12. What 2.6.20 does otherwise follows that reading of 2.6.18; from which
 * versions between these on the rest holds is remembered from the history, and not read.
 * Deviations: alpha is kept in 32 bits (16 in 2.6.18; which it is in 2.6.20 is not known). A product of
 * 32 bits wraps as there: growth falls back 2 x 65536 jiffies after the last congestion.
 * Parameters, units and ranges: the rows of HTCP_PARAMS.
 */
#include "cc.h"

#define ONE (1u << 7)      /* alpha and beta are in 1/128 */
#define BETA_MIN (ONE / 2) /* 0.5 */
#define BETA_MAX 102u      /* 0.8 */
#define LEAST_RTT_MS 10u   /* beta is adapted above */
#define LARGEST_RISE_MS 20u
#define SHORT 0xffffu      /* the kernel keeps the packets of an ACK in 16 bits, beta in 8 */

#define HTCP_PARAMS(P)                                                                              \
	P(use_rtt_scaling, "0 or 1", 0, 1, "growth does not depend on the RTT", SINCE(2, 6, 20, 1)) \
	P(use_bandwidth_switch, "0 or 1", 0, 1, "halve when the throughput has changed much",       \
	  SINCE(2, 6, 20, 1))                                                                       \
	P(rtt_by_sample, "0 or 1", 0, 1, "RTTs from samples (1), from the smoothed one (0)",        \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 23, 1))                                                   \
	P(disorder_counts, "0 or 1", 0, 1, "growth begins anew after mere reordering too",          \
	  SINCE(2, 6, 20, 1), SINCE(2, 6, 30, 0))                                                   \
	P(undo_by_beta, "0 or 1", 0, 1, "undo goes back to ssthresh over beta (1), as Reno's (0)",  \
	  SINCE(2, 6, 20, 1), SINCE(4, 13, 0, 0))
CC_PARAMS(HTCP_PARAMS)

struct htcp {
	u32 alpha;          /* 1/128 packet per round trip */
	u32 beta;           /* 1/128, share of cwnd kept */
	u32 modeswitch;     /* 0: beta is not adapted at the next congestion */
	u32 pkts_acked;     /* packets, of the last ACK */
	u32 packetcount;    /* packets acknowledged since lasttime */
	u32 min_rtt;        /* jiffies; 0: none yet */
	u32 max_rtt;        /* jiffies */
	u32 last_cong;      /* jiffies, end of the last congestion */
	u32 undo_last_cong; /* the same before it; 0: none */
	u32 undo_max_rtt;
	u32 undo_old_max_b;
	u32 max_b;          /* packets per second, largest throughput since the last congestion */
	u32 old_max_b;      /* the one before */
	u32 b;              /* smoothed throughput */
	u32 lasttime;       /* jiffies */
};
CC_PRIVATE(struct htcp)

static u32 since_congestion(struct sock *sk, const struct htcp *ca)
{
	return cc_jiffies(sk) - ca->last_cong;
}

static u32 rtts_since_congestion(struct sock *sk, const struct htcp *ca)
{
	return div_u32(since_congestion(sk, ca), ca->min_rtt);
}

/* The largest RTT follows by 20 ms at most at a time, and in state Open alone. */
static void measure_rtt(struct sock *sk, struct htcp *ca, u32 rtt)
{
	if (ca->min_rtt > rtt || !ca->min_rtt)
		ca->min_rtt = rtt;
	if (tcp_ca_state(sk) != TCP_CA_Open)
		return;
	if (!param(sk, rtt_by_sample) &&
	    (tcp_sk(sk)->snd_ssthresh >= SHORT || rtts_since_congestion(sk, ca) <= 3))
		return;
	ca->max_rtt = max_u32(ca->max_rtt, ca->min_rtt);
	if (ca->max_rtt < rtt && rtt <= ca->max_rtt + cc_ms_to_jiffies(LARGEST_RISE_MS, cc_hz(sk)))
		ca->max_rtt = rtt;
}

/* Once per window, and per least RTT at most: packets per second, smoothed from the fourth RTT on. */
static void measure_throughput(struct sock *sk, struct htcp *ca, u32 packets)
{
	u32 now = cc_jiffies(sk), cwnd = tcp_sk(sk)->snd_cwnd, b;

	if (tcp_ca_state(sk) != TCP_CA_Open && tcp_ca_state(sk) != TCP_CA_Disorder) {
		ca->packetcount = 0;
		ca->lasttime = now;
		return;
	}
	ca->packetcount += packets;
	if (ca->packetcount < cwnd - max_u32(ca->alpha / ONE, 1) ||
	    now - ca->lasttime < ca->min_rtt || !ca->min_rtt)
		return;
	b = div_u32(ca->packetcount * cc_hz(sk), now - ca->lasttime);
	if (rtts_since_congestion(sk, ca) <= 3) {
		ca->max_b = ca->b = b;
	} else {
		ca->b = (3 * ca->b + b) / 4;
		ca->max_b = max_u32(ca->max_b, ca->b);
	}
	ca->packetcount = 0;
	ca->lasttime = now;
}

/* Whether the throughput is within a fifth of that before the last congestion, where that matters. */
static int is_steady(struct sock *sk, struct htcp *ca)
{
	u32 before = ca->old_max_b;

	if (!param(sk, use_bandwidth_switch))
		return 1;
	ca->old_max_b = ca->max_b;
	return 6 * before - 4 * before >= 5 * ca->max_b - 4 * before;
}

static void update_beta(struct sock *sk, struct htcp *ca)
{
	u32 steady = (u32)is_steady(sk, ca);

	if (steady && ca->modeswitch && ca->max_rtt &&
	    ca->min_rtt > cc_ms_to_jiffies(LEAST_RTT_MS, cc_hz(sk))) {
		ca->beta = (u8)div_u32(ca->min_rtt * ONE, ca->max_rtt);
		ca->beta = min_u32(max_u32(ca->beta, BETA_MIN), BETA_MAX);
		return;
	}
	ca->beta = BETA_MIN;
	ca->modeswitch = steady;
}

/* 2 (1 - beta) f(t): f is 1 in the first second, then 1 + 10 t + (t / 2)^2; over 8 / (10 min_rtt), which
 * makes it what a flow with an RTT of 100 ms would get. */
static void update_alpha(struct sock *sk, struct htcp *ca)
{
	u32 hz = cc_hz(sk), factor = 1, scale, t = since_congestion(sk, ca);

	if (t > hz) {
		t -= hz;
		factor = 1 + div_u32(10 * t + div_u32((t / 2) * (t / 2), hz), hz);
	}
	if (param(sk, use_rtt_scaling) && ca->min_rtt) {
		scale = div_u32(hz << 3, 10 * ca->min_rtt);
		scale = min_u32(max_u32(scale, 4), 80);
		factor = max_u32(div_u32(factor << 3, scale), 1);
	}
	ca->alpha = 2 * factor * (ONE - ca->beta);
	if (!ca->alpha)
		ca->alpha = ONE;
}

CC_CALLBACK(void, htcp_init, struct sock *sk)
{
	struct htcp *ca = inet_csk_ca(sk);

	*ca = (struct htcp){
		.alpha = ONE, .beta = BETA_MIN, .pkts_acked = 1, .last_cong = cc_jiffies(sk)
	};
}

CC_CALLBACK(u32, htcp_ssthresh, struct sock *sk)
{
	struct htcp *ca = inet_csk_ca(sk);

	update_beta(sk, ca);
	update_alpha(sk, ca);
	/* The largest RTT is forgotten slowly. */
	if (ca->min_rtt && ca->max_rtt > ca->min_rtt)
		ca->max_rtt = ca->min_rtt + (ca->max_rtt - ca->min_rtt) * 95 / 100;
	return max_u32((tcp_sk(sk)->snd_cwnd * ca->beta) / ONE, 2);
}

/* An ACK that makes cwnd grow does not count towards the next growth. */
CC_CALLBACK(void, htcp_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct htcp *ca = inet_csk_ca(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		cc_slow_start(sk, acked);
		return;
	}
	if (!param(sk, rtt_by_sample))
		measure_rtt(sk, ca, (u32)((u64)tp->srtt_us * cc_hz(sk) / 8000000));
	if ((tp->snd_cwnd_cnt * ca->alpha) / ONE >= tp->snd_cwnd) {
		if (tp->snd_cwnd < tp->snd_cwnd_clamp)
			tp->snd_cwnd++;
		tp->snd_cwnd_cnt = 0;
		update_alpha(sk, ca);
	} else {
		tp->snd_cwnd_cnt += ca->pkts_acked;
	}
	ca->pkts_acked = 1;
}

CC_CALLBACK(void, htcp_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct htcp *ca = inet_csk_ca(sk);

	if (tcp_ca_state(sk) == TCP_CA_Open)
		ca->pkts_acked = sample->pkts_acked & SHORT;
	if (param(sk, rtt_by_sample) && sample->rtt_us > 0)
		measure_rtt(sk, ca, cc_us_to_jiffies((u64)sample->rtt_us, cc_hz(sk)));
	if (param(sk, use_bandwidth_switch))
		measure_throughput(sk, ca, sample->pkts_acked);
}

CC_CALLBACK(void, htcp_set_state, struct sock *sk, u8 new_state)
{
	struct htcp *ca = inet_csk_ca(sk);

	switch (new_state) {
	case TCP_CA_Open:
		if (!ca->undo_last_cong && !param(sk, disorder_counts))
			break;
		ca->last_cong = cc_jiffies(sk);
		if (!param(sk, disorder_counts))
			ca->undo_last_cong = 0;
		break;
	case TCP_CA_CWR:
	case TCP_CA_Recovery:
	case TCP_CA_Loss:
		ca->undo_last_cong = ca->last_cong;
		ca->undo_max_rtt = ca->max_rtt;
		ca->undo_old_max_b = ca->old_max_b;
		ca->last_cong = cc_jiffies(sk);
		break;
	}
}

CC_CALLBACK(u32, htcp_undo_cwnd, struct sock *sk)
{
	struct htcp *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (ca->undo_last_cong || param(sk, disorder_counts)) {
		ca->last_cong = ca->undo_last_cong;
		ca->max_rtt = ca->undo_max_rtt;
		ca->old_max_b = ca->undo_old_max_b;
		if (!param(sk, disorder_counts))
			ca->undo_last_cong = 0;
	}
	if (param(sk, undo_by_beta))
		return max_u32(tp->snd_cwnd, div_u32(tp->snd_ssthresh * ONE, ca->beta));
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(htcp, .title = "H-TCP (PFLDnet 2004)", CC_WITH_PARAMS,
	    .init = htcp_init, .ssthresh = htcp_ssthresh, .cong_avoid = htcp_cong_avoid,
	    .pkts_acked = htcp_pkts_acked, .set_state = htcp_set_state,
	    .undo_cwnd = htcp_undo_cwnd)
