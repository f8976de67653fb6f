/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * hybla: on a path of a long RTT, a satellite's for instance, the window grows as fast as a Reno flow
 * of 25 ms would have it. With rho as the RTT over 25 ms, an ACK adds 2^rho - 1 packets in slow start,
 * and rho^2 / cwnd in avoidance. Losses act as in Reno.
 *
 * Source: Caini, Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International
 * Journal of Satellite Communications and Networking 22 (2004); behaviour of Linux 6.12
 * (tcp_hybla.c), with which runs of 6.1 agree.
 * Deviations: kernels before 6.1 and after 6.12 are refused, because nobody compared them. Against the
 * paper, as in Linux: rho has eighths, and changes only with a new least smoothed RTT. The first cwnd is
 * rho, and cwnd stays below 65,536. An ACK counts once, whatever it acknowledges. Growth has 128ths: where
 * rho^2 / cwnd is smaller, it is Reno's per ACK. Slow start stops at ssthresh.
 * Parameters, units and ranges: the rows of HYBLA_PARAMS.
 */
#include "cc.h"

#define ONE 128u          /* growth is in 1/128 packet */
#define EIGHTHS 8u        /* rho is in 1/8 */
#define MOST_EXPONENT 16u
#define MOST_CWND 65535u

#define HYBLA_PARAMS(P)                                                                             \
	P(rtt0, "ms", 1, 60000, "RTT of the connection to be as fast as", SINCE(2, 6, 20, 25))
CC_PARAMS(HYBLA_PARAMS)

/* 2^(n/8), in 1/128. */
CC_TABLE(u32, roots) = { 128, 139, 152, 165, 181, 197, 215, 234 };

struct hybla {
	u32 rho;       /* 1/8; at least 8 */
	u32 least_rtt; /* us << 3, of smoothed RTTs */
	u32 parts;     /* 1/128 packet, of the next growth */
	u8 is_off;     /* a loss is being repaired, as by Reno */
};
CC_PRIVATE(struct hybla)

static void measure(struct sock *sk, struct hybla *ca)
{
	u32 srtt = tcp_sk(sk)->srtt_us; /* in 1/8 us */

	ca->rho = max_u32(div_u32(srtt, param(sk, rtt0) * 1000), EIGHTHS);
	ca->least_rtt = srtt;
}

CC_CALLBACK(void, hybla_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hybla *ca = inet_csk_ca(sk);

	*ca = (struct hybla){ 0 };
	measure(sk, ca);
	tp->snd_cwnd_clamp = MOST_CWND;
	tp->snd_cwnd = ca->rho / EIGHTHS;
}

CC_CALLBACK(void, hybla_set_state, struct sock *sk, u8 new_state)
{
	struct hybla *ca = inet_csk_ca(sk);

	ca->is_off = new_state != TCP_CA_Open;
}

/* 2^rho - 1 packets, in 1/128. */
static u32 growth_in_slow_start(const struct hybla *ca)
{
	u32 whole = ca->rho / EIGHTHS, eighths = ca->rho - whole * EIGHTHS;

	return (roots[eighths] << min_u32(whole, MOST_EXPONENT)) - ONE;
}

CC_CALLBACK(void, hybla_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hybla *ca = inet_csk_ca(sk);
	u32 growth, starts = (u32)tcp_in_slow_start(tp);

	if (tp->srtt_us < ca->least_rtt)
		measure(sk, ca);
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (ca->is_off) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}

	if (starts) {
		growth = growth_in_slow_start(ca);
	} else {
		/* 128 rho^2 is twice the square of eighths. */
		growth = div_u32((ca->rho * ca->rho) << 1, tp->snd_cwnd);
		if (growth < ONE)
			tp->snd_cwnd_cnt++;
	}
	tp->snd_cwnd += growth / ONE;
	ca->parts += growth & (ONE - 1);
	if (ca->parts >= ONE) {
		tp->snd_cwnd++;
		ca->parts -= ONE;
		tp->snd_cwnd_cnt = 0;
	}
	if (!growth && tp->snd_cwnd_cnt >= tp->snd_cwnd) {
		tp->snd_cwnd++;
		tp->snd_cwnd_cnt = 0;
	}
	if (starts)
		tp->snd_cwnd = min_u32(tp->snd_cwnd, tp->snd_ssthresh);
	tp->snd_cwnd = min_u32(tp->snd_cwnd, tp->snd_cwnd_clamp);
}

CC_CALLBACK(u32, hybla_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

CC_CALLBACK(u32, hybla_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(hybla, .title = "TCP Hybla (2004)", CC_WITH_PARAMS,
	    .first_kernel = KERNEL(6, 1, 0), .last_kernel = KERNEL(6, 12, 255),
	    .init = hybla_init, .ssthresh = hybla_ssthresh, .cong_avoid = hybla_cong_avoid,
	    .set_state = hybla_set_state, .undo_cwnd = hybla_undo_cwnd)
