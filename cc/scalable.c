/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * scalable: a hundredth of a packet per packet acknowledged, an eighth less on loss, so that the
 * time to recover from a loss does not depend on the window. Small windows grow as Reno's.
 *
 * Source: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM SIGCOMM
 * CCR 33(2), 2003; behaviour of Linux 2.6.20 to 6.12 (tcp_scalable.c). Up to 5.6 an ACK counts once
 * and 50 stands for 100 (two packets per ACK); since 5.7 ("tcp: fix stretch ACK bugs in Scalable")
 * each packet counts. Where a window is as small as 100 (50) packets it grows by one per round trip.
 * Deviations: none known. Kelly's rule is Reno's below a window of 16 packets, and shrinks by half
 * there; Linux shrinks by an eighth of any window. Undo and the floor of rate halving are Reno's.
 * Parameters, units and ranges: the rows of SCALABLE_PARAMS.
 */
#include "cc.h"

#define SCALABLE_PARAMS(P)                                                                          \
	P(ai_cnt, "packets", 1, 65535, "cwnd grows by one packet per this many, or per cwnd",       \
	  SINCE(2, 6, 20, 50), SINCE(5, 7, 0, 100))                                                 \
	P(md_shift, "2^-n", 1, 31, "share of cwnd given up after a loss", SINCE(2, 6, 20, 3))       \
	P(count_packets, "0 or 1", 0, 1, "an ACK counts for the packets it acknowledges",           \
	  SINCE(2, 6, 20, 0), SINCE(5, 7, 0, 1))
CC_PARAMS(SCALABLE_PARAMS)

CC_CALLBACK(u32, scalable_ssthresh, struct sock *sk)
{
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	return max_u32(cwnd - (cwnd >> param(sk, md_shift)), 2);
}

CC_CALLBACK(void, scalable_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = cc_slow_start(sk, acked);
		if (!acked || !param(sk, count_packets))
			return;
	}
	tcp_cong_avoid_ai(tp, min_u32(tp->snd_cwnd, param(sk, ai_cnt)),
			  param(sk, count_packets) ? acked : 1);
}

CC_CALLBACK(u32, scalable_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(scalable, .title = "Scalable TCP (CCR 2003)", CC_WITH_PARAMS, .min_cwnd_shift = 1,
	    .ssthresh = scalable_ssthresh, .cong_avoid = scalable_cong_avoid,
	    .undo_cwnd = scalable_undo_cwnd)
