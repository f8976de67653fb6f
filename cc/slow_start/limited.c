/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * limited: slow start doubles cwnd per round trip up to max_ssthresh; beyond, it adds at most
 * max_ssthresh / 2 packets per round trip.
 *
 * Source: Floyd, "Limited Slow-Start for TCP with Large Congestion Windows", RFC 3742, section 2:
 * K = int(cwnd / (0.5 max_ssthresh)), and an ACK of a packet adds 1/K of one.
 * Deviations: cwnd is in packets, so that K acknowledged packets make one. K is that of the ACK in hand.
 * Parameters, units and ranges: the rows of LIMITED_PARAMS.
 */
#include "../cc.h"

#define LIMITED_PARAMS(P)                                                                           \
	P(max_ssthresh, "packets", 2, 2147483647, "up to this cwnd slow start is as ever",          \
	  SINCE(2, 6, 20, 100))
CC_PARAMS(LIMITED_PARAMS)

struct limited {
	u32 cnt; /* packets acknowledged beyond max_ssthresh and not yet turned into cwnd */
};
CC_SLOW_PRIVATE(struct limited)

CC_CALLBACK(u32, limited_grow, struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct limited *ss = cc_slow_start_ca(sk);
	u32 most = slow_param(sk, max_ssthresh), whole, k, steps;

	/* An ACK at max_ssthresh still counts in full. */
	whole = min_u32(acked, most + 1 - min_u32(tp->snd_cwnd, most + 1));
	if (whole) {
		acked = acked - whole + tcp_slow_start(tp, whole);
		if (tp->snd_cwnd <= most || !tcp_in_slow_start(tp))
			return acked;
	}
	k = max_u32((u32)div_u64(2ull * tp->snd_cwnd, most), 1);
	ss->cnt += acked;
	steps = div_u32(ss->cnt, k);
	ss->cnt -= steps * k;
	return tcp_slow_start(tp, steps);
}

CC_SLOW_START(limited, "limited", .title = "Limited slow start (RFC 3742)", .grow = limited_grow)
