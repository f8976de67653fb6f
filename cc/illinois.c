/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * illinois: losses decide when the window shrinks, delays how fast it grows and by how much it shrinks.
 * While queues are short it grows by ten packets per round trip, and a loss takes an eighth. The
 * longer the queues, the less it grows, down to 0.3, and the more a loss takes, up to half.
 *
 * Source: Liu, Basar, Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for
 * High-Speed Networks", Performance Evaluation 65 (2008); behaviour of Linux 6.12
 * (tcp_illinois.c), with which runs of 6.1 agree.
 * Deviations: kernels before 6.1 and after 6.12 are refused, because nobody compared them. What slow start
 * leaves over of an ACK is lost, and so are ACKs beyond those that a growth takes.
 * Parameters, units and ranges: the rows of ILLINOIS_PARAMS.
 */
#include "cc.h"

#define ONE 128u             /* alpha is in 1/128 packet per round trip */
#define ALPHA_MIN (ONE * 3 / 10)
#define ALPHA_MAX (ONE * 10)
#define WHOLE 64u            /* beta is in 1/64 of cwnd */
#define BETA_MIN (WHOLE / 8)
#define BETA_MAX (WHOLE / 2)
#define NO_RTT 0x7fffffffu
#define RTT_MAX (0xffffffffu / ALPHA_MAX) /* us; keeps products within 32 bits */

#define ILLINOIS_PARAMS(P)                                                                          \
	P(win_thresh, "packets", 0, 0x7fffffff, "below this cwnd it behaves as Reno",               \
	  SINCE(2, 6, 20, 15))                                                                      \
	P(theta, "RTTs", 0, 0x7fffffff, "of low delay before the largest growth is taken",          \
	  SINCE(2, 6, 20, 5))
CC_PARAMS(ILLINOIS_PARAMS)

struct illinois {
	u64 sum_rtt;   /* us, of this round trip's samples */
	u32 base_rtt;  /* us, least of the flow */
	u32 max_rtt;   /* us, greatest of the flow */
	u32 end_seq;   /* the round trip ends with its ACK */
	u32 alpha;     /* growth, 1/128 packet per round trip */
	u32 beta;      /* share of cwnd that a loss takes, 1/64 */
	u16 cnt_rtt;   /* samples of this round trip */
	u16 acked;     /* packets of the last ACK */
	u8 rtt_above;  /* delay was not low at the last growth */
	u8 rtt_low;    /* round trips of low delay since */
};
CC_PRIVATE(struct illinois)

static void begin_round(struct sock *sk, struct illinois *ca)
{
	ca->end_seq = tcp_sk(sk)->snd_nxt;
	ca->cnt_rtt = 0;
	ca->sum_rtt = 0;
}

/* Growth by the mean delay of a round trip, of at most `most`. A hundredth of it counts as none. */
static u32 growth(struct sock *sk, struct illinois *ca, u32 mean, u32 most)
{
	u32 low = most / 100;

	if (mean <= low) {
		/* After a high delay the largest growth waits for theta round trips. */
		if (!ca->rtt_above)
			return ALPHA_MAX;
		ca->rtt_low++;
		if (ca->rtt_low < param(sk, theta))
			return ca->alpha;
		ca->rtt_low = 0;
		ca->rtt_above = 0;
		return ALPHA_MAX;
	}
	ca->rtt_above = 1;

	/* The hyperbola from ALPHA_MAX at `low` to ALPHA_MIN at `most`. */
	most -= low;
	mean -= low;
	return div_u32(most * ALPHA_MAX, most + mean * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
}

/* Share that a loss takes: linear between a tenth and eight tenths of the greatest delay. */
static u32 decrease(u32 mean, u32 most)
{
	u32 low = most / 10, high = 8 * most / 10;

	if (mean <= low)
		return BETA_MIN;
	if (mean >= high || high <= low)
		return BETA_MAX;
	return div_u32(BETA_MIN * high - BETA_MAX * low + (BETA_MAX - BETA_MIN) * mean, high - low);
}

/* A round trip is over: its delays decide about the next one. */
static void update(struct sock *sk, struct illinois *ca)
{
	u32 mean, most;

	if (tcp_sk(sk)->snd_cwnd < param(sk, win_thresh)) {
		ca->alpha = ONE;
		ca->beta = BETA_MAX;
	} else if (ca->cnt_rtt) {
		most = ca->max_rtt - ca->base_rtt;
		mean = (u32)div_u64(ca->sum_rtt, ca->cnt_rtt) - ca->base_rtt;
		ca->alpha = growth(sk, ca, mean, most);
		ca->beta = decrease(mean, most);
	}
	begin_round(sk, ca);
}

CC_CALLBACK(void, illinois_init, struct sock *sk)
{
	struct illinois *ca = inet_csk_ca(sk);

	*ca = (struct illinois){ .base_rtt = NO_RTT, .alpha = ALPHA_MAX, .beta = BETA_MAX };
	begin_round(sk, ca);
}

CC_CALLBACK(void, illinois_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct illinois *ca = inet_csk_ca(sk);
	u32 rtt;

	ca->acked = (u16)sample->pkts_acked;
	if (sample->rtt_us < 0)
		return;
	rtt = min_u32((u32)sample->rtt_us, RTT_MAX);
	ca->base_rtt = min_u32(ca->base_rtt, rtt);
	ca->max_rtt = max_u32(ca->max_rtt, rtt);
	ca->sum_rtt += rtt;
	ca->cnt_rtt++;
}

CC_CALLBACK(void, illinois_set_state, struct sock *sk, u8 new_state)
{
	struct illinois *ca = inet_csk_ca(sk);

	if (new_state != TCP_CA_Loss)
		return;
	ca->alpha = ONE;
	ca->beta = BETA_MAX;
	ca->rtt_low = 0;
	ca->rtt_above = 0;
	begin_round(sk, ca);
}

CC_CALLBACK(void, illinois_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct illinois *ca = inet_csk_ca(sk);
	u32 earned;

	if (cc_after(ack, ca->end_seq))
		update(sk, ca);
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		cc_slow_start(sk, acked);
		return;
	}

	/* Packets of the last callback count once, later ACKs without one for a packet each. */
	tp->snd_cwnd_cnt += ca->acked;
	ca->acked = 1;
	earned = (tp->snd_cwnd_cnt * ca->alpha) / ONE;
	if (earned >= tp->snd_cwnd) {
		tp->snd_cwnd = min_u32(tp->snd_cwnd + div_u32(earned, tp->snd_cwnd),
				       tp->snd_cwnd_clamp);
		tp->snd_cwnd_cnt = 0;
	}
}

CC_CALLBACK(u32, illinois_ssthresh, struct sock *sk)
{
	const struct illinois *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	return max_u32(cwnd - (cwnd * ca->beta) / WHOLE, 2);
}

CC_CALLBACK(u32, illinois_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(illinois, .title = "TCP-Illinois (2008)", CC_WITH_PARAMS,
	    .first_kernel = KERNEL(6, 1, 0), .last_kernel = KERNEL(6, 12, 255),
	    .init = illinois_init, .ssthresh = illinois_ssthresh,
	    .cong_avoid = illinois_cong_avoid, .pkts_acked = illinois_pkts_acked,
	    .set_state = illinois_set_state, .undo_cwnd = illinois_undo_cwnd)
