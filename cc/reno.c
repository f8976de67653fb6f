/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * reno: slow start, one packet per round trip in congestion avoidance, halving on loss.
 *
 * Source: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; RFC 5681.
 * Deviations: none of its own; it consists of the kernel's helpers, and these differ between
 * versions. Up to 3.12 an ACK counts once however much it acknowledges, cwnd == ssthresh is still
 * slow start, and avoidance adds one packet per cwnd + 1 ACKs. Appropriate byte counting is off.
 * Parameters: none.
 */
#include "cc.h"

CC_CALLBACK(u32, reno_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

CC_CALLBACK(void, reno_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = cc_slow_start(sk, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

CC_CALLBACK(u32, reno_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(reno, .title = "Reno (RFC 5681)", .min_cwnd_shift = 1,
	    .ssthresh = reno_ssthresh, .cong_avoid = reno_cong_avoid, .undo_cwnd = reno_undo_cwnd)
