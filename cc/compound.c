/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * compound: the window is the sum of two. One is Reno's. The other, dwnd, grows with the whole window
 * to the power of 3/4 per round trip as long as the flow has few packets in the queue, and gives way
 * by as many as it has once they are gamma or more. A loss halves both together. Gamma is what makes
 * a flow yield to Reno's: three quarters of the packets that Reno's window alone would have had
 * in the queue at a loss, within bounds.
 *
 * Source: Tan, Song, Zhang, Sridharan, "A Compound TCP Approach for High-speed and Long Distance
 * Networks", INFOCOM 2006; draft-sridharan-tcpm-ctcp-02 (2008); the values are those of the draft as two
 * public implementations have them (a module for Linux 2.6 by Andrew, Castellani and Hemminger, and
 * one for ns-3). No version of Linux has had it, Windows has: nothing judges what is here.
 * Deviations: dwnd grows with the window, as in the paper, not with dwnd, as in the first drafts. What
 * it grows in a round trip is spread over it. RTTs of a round count by their mean. It grows by what is
 * acknowledged, so that delayed ACKs do not slow it, while Reno's part counts as the kernel does. A round
 * with fewer than three RTTs is not judged. The draft's memory-bounded sampling of RTTs is left out, as is
 * its burst control; the least RTT outlives a pause. After a timeout it is the smoothed RTT.
 * Parameters, units and ranges: the rows of COMPOUND_PARAMS.
 */
#include "cc.h"

#define ONE 1024u     /* alpha, beta, eta and lambda are in 1/1024 */
#define STEP 256u     /* growth of dwnd is in 1/256 packet */
#define CREDIT_SHIFT 16
#define SRTT_SHIFT 3  /* an RTT is an eighth of the smoothed one */
#define LEAST_RTTS 3u /* in a round that is judged */

#define COMPOUND_PARAMS(P)                                                                          \
	P(alpha, "1/1024", 0, 1048576, "dwnd grows by this share of cwnd^(3/4) per round trip",     \
	  SINCE(2, 6, 20, 128))                                                                     \
	P(beta, "1/1024", 1, 1023, "share of cwnd given up after a loss", SINCE(2, 6, 20, 512))     \
	P(eta, "1/1024", 0, 1048576, "dwnd gives way by this share of the packets in the queue",    \
	  SINCE(2, 6, 20, 1024))                                                                    \
	P(gamma, "packets", 1, 65535, "in the queue: dwnd gives way from there; at the start",      \
	  SINCE(2, 6, 20, 30))                                                                      \
	P(gamma_low, "packets", 1, 65535, "least gamma", SINCE(2, 6, 20, 5))                        \
	P(gamma_high, "packets", 1, 65535, "largest gamma", SINCE(2, 6, 20, 30))                    \
	P(lambda, "1/1024", 0, 1024, "weight of a loss in gamma; 0 keeps it as it is",              \
	  SINCE(2, 6, 20, 256))                                                                     \
	P(low_window, "packets", 1, 65535, "below this cwnd dwnd does not grow",                    \
	  SINCE(2, 6, 20, 38))
CC_PARAMS(COMPOUND_PARAMS)

struct compound {
	u64 credit;     /* 2^-24 packet: what dwnd has to grow by, not yet a packet */
	u64 rtt_sum;    /* us, of the round */
	u32 rtts;       /* in the round */
	u32 base_rtt;   /* us, the least one; 0: none yet */
	u32 srtt;       /* us << 3; 0: none yet */
	u32 step;       /* 1/256 packet, growth of dwnd in this round trip */
	u32 dwnd;       /* packets, part of snd_cwnd */
	u32 window;     /* packets, snd_cwnd when the round began */
	u32 end_seq;    /* the round is over when this is acknowledged */
	u32 last_una;   /* what has been acknowledged up to the last growth */
	u32 gamma;      /* packets */
	u32 reno_diff;  /* packets, of Reno's part alone in the queue, and 1; 0: not known */
	u32 loss_cwnd;  /* packets, snd_cwnd at the last loss */
	u32 loss_dwnd;  /* packets */
};
CC_PRIVATE(struct compound)

/* Of 64 bits, rounded down: bit by bit. */
static u64 square_root(u64 a)
{
	u64 root = 0, bit = 1ull << 31;
	u32 i;

	for (i = 0; i < 32; i++) {
		if ((root | bit) * (root | bit) <= a)
			root |= bit;
		bit >>= 1;
	}
	return root;
}

/* window^(3/4) in 1/256: the root of the window times its root in 1/65536. */
static u64 three_quarters(u32 window)
{
	return square_root(window * square_root((u64)window << 32));
}

/* A round trip begins: it ends with the ACK of all that is out now. */
static void begin_round(struct sock *sk, struct compound *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);

	ca->end_seq = tp->snd_nxt;
	ca->window = tp->snd_cwnd;
	ca->last_una = tp->snd_una;
	ca->rtt_sum = 0;
	ca->rtts = ca->step = 0;
}

/* Packets of a window that wait in a queue: the part of the mean RTT that is beyond the least. */
static u32 queued(const struct compound *ca, u32 window)
{
	u64 least = (u64)ca->base_rtt * ca->rtts;

	return (u32)div_u64(window * (ca->rtt_sum - min_u64(least, ca->rtt_sum)), ca->rtt_sum);
}

/* (alpha window^(3/4) - 1) packets: the one is what Reno's part grows. */
static u32 growth(struct sock *sk, u32 window)
{
	u64 step = three_quarters(window) * param(sk, alpha) / ONE;

	if (window < param(sk, low_window) || step <= STEP)
		return 0;
	return (u32)min_u64(step - STEP, (u64)window * STEP);
}

/* The end of a round trip: how dwnd is to grow in the next, or what it gives way by. */
static void judge_round(struct sock *sk, struct compound *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 diff = queued(ca, ca->window), less;

	ca->reno_diff = queued(ca, ca->window - min_u32(ca->dwnd, ca->window)) + 1;
	begin_round(sk, ca);
	if (diff < ca->gamma) {
		ca->step = growth(sk, tp->snd_cwnd);
		return;
	}
	less = (u32)min_u64((u64)diff * param(sk, eta) / ONE, ca->dwnd);
	less = min_u32(less, max_u32(tp->snd_cwnd, 2) - 2);
	ca->dwnd -= less;
	tp->snd_cwnd -= less;
	ca->window = tp->snd_cwnd;
}

/* By the round's step per window of bytes, for the bytes that have been acknowledged since the last time. */
static void grow_dwnd(struct sock *sk, struct compound *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 bytes = tp->snd_una - ca->last_una, window = (u64)ca->window * tp->mss_cache;
	u32 room = tp->snd_cwnd < tp->snd_cwnd_clamp ? tp->snd_cwnd_clamp - tp->snd_cwnd : 0, packets;

	ca->last_una = tp->snd_una;
	if (!tcp_is_cwnd_limited(sk))
		return;
	ca->credit += div_u64(ca->step * bytes << CREDIT_SHIFT, window);
	packets = (u32)min_u64(ca->credit / (STEP << CREDIT_SHIFT), room);
	ca->credit = ca->credit & ((STEP << CREDIT_SHIFT) - 1);
	ca->dwnd += packets;
	tp->snd_cwnd += packets;
}

CC_CALLBACK(void, compound_init, struct sock *sk)
{
	struct compound *ca = inet_csk_ca(sk);

	*ca = (struct compound){ .gamma = param(sk, gamma) };
	begin_round(sk, ca);
}

CC_CALLBACK(void, compound_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct compound *ca = inet_csk_ca(sk);
	u32 rtt = sample->rtt_us > 0 ? (u32)sample->rtt_us : 1;

	if (sample->rtt_us < 0)
		return;
	if (!ca->base_rtt || rtt < ca->base_rtt)
		ca->base_rtt = rtt;
	ca->srtt = ca->srtt ? ca->srtt - (ca->srtt >> SRTT_SHIFT) + rtt : rtt << SRTT_SHIFT;
	ca->rtt_sum += rtt;
	ca->rtts++;
}

CC_CALLBACK(void, compound_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *ca = inet_csk_ca(sk);

	(void)ack;
	ca->dwnd = min_u32(ca->dwnd, tp->snd_cwnd);
	grow_dwnd(sk, ca);
	if (cc_after(tp->snd_una, ca->end_seq)) {
		if (ca->rtts >= LEAST_RTTS && !tcp_in_slow_start(tp))
			judge_round(sk, ca);
		else
			begin_round(sk, ca);
	}
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = cc_slow_start(sk, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

/* Towards three quarters of what Reno's part had in the queue, once per measurement. */
static void tune_gamma(struct sock *sk, struct compound *ca)
{
	u64 target, lambda = param(sk, lambda);

	if (!ca->reno_diff)
		return;
	target = 3ull * (ca->reno_diff - 1) / 4;
	target = (target * lambda + ca->gamma * (ONE - lambda)) / ONE;
	ca->gamma = max_u32((u32)min_u64(target, param(sk, gamma_high)), param(sk, gamma_low));
	ca->reno_diff = 0;
}

/* Reno's part is halved; dwnd makes up for what the whole keeps beyond that. */
CC_CALLBACK(u32, compound_ssthresh, struct sock *sk)
{
	struct compound *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd, kept, renos;

	ca->loss_cwnd = cwnd;
	ca->loss_dwnd = ca->dwnd;
	tune_gamma(sk, ca);
	kept = max_u32((u32)((u64)cwnd * (ONE - param(sk, beta)) / ONE), 2);
	renos = (cwnd - min_u32(ca->dwnd, cwnd)) / 2;
	ca->dwnd = kept - min_u32(renos, kept);
	return kept;
}

CC_CALLBACK(u32, compound_undo_cwnd, struct sock *sk)
{
	struct compound *ca = inet_csk_ca(sk);

	ca->dwnd = max_u32(ca->dwnd, ca->loss_dwnd);
	return max_u32(tcp_sk(sk)->snd_cwnd, ca->loss_cwnd);
}

/* A timeout begins anew, with the least RTT that the path seems to have now. */
CC_CALLBACK(void, compound_set_state, struct sock *sk, u8 new_state)
{
	struct compound *ca = inet_csk_ca(sk);

	if (new_state == TCP_CA_Loss) {
		ca->dwnd = ca->reno_diff = 0;
		ca->gamma = param(sk, gamma);
		if (ca->srtt)
			ca->base_rtt = max_u32(ca->srtt >> SRTT_SHIFT, 1);
	}
	if (new_state == TCP_CA_Open)
		begin_round(sk, ca);
}

CC_CALLBACK(void, compound_cwnd_event, struct sock *sk, u32 event)
{
	if (event == CA_EVENT_TX_START)
		begin_round(sk, inet_csk_ca(sk));
}

CC_REGISTER(compound, .title = "Compound TCP (draft-sridharan-tcpm-ctcp-02)", CC_WITH_PARAMS,
	    .min_cwnd_shift = 1, .init = compound_init, .ssthresh = compound_ssthresh,
	    .cong_avoid = compound_cong_avoid, .pkts_acked = compound_pkts_acked,
	    .set_state = compound_set_state, .undo_cwnd = compound_undo_cwnd,
	    .cwnd_event = compound_cwnd_event, CC_US_RTT_IF(gamma_high))
