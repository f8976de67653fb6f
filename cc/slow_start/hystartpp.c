/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * hystart++: once a round's least RTT is well above that of the round before, slow start goes on at a
 * fraction of its speed (conservative slow start, CSS). After some rounds of that it is over; should
 * the RTT fall again meanwhile, the rise was jitter, and slow start goes on as before.
 *
 * Source: Balasubramanian, Huang, Olson, "HyStart++: Modified Slow Start for TCP", RFC 9406, sections
 * 4.2 and 4.3. The ACK that reaches the end of a round is that round's last. A round in whose middle CSS
 * begins counts as one of CSS. It acts until the first reduction of cwnd, as section 4.2 recommends.
 * Deviations: cwnd is in packets; what CSS grants in fractions of a packet is carried on.
 * limit is the RFC's L: 8 packets per ACK without pacing, no limit with it. Linux bounds no ACK, and its
 * ACKs cover as many packets as a card's batch; at 0 an ACK counts for all it acknowledges.
 * Parameters, units and ranges: the rows of HYSTARTPP_PARAMS.
 */
#include "../cc.h"

#define UNKNOWN (~0u) /* an RTT not measured yet */

#define HYSTARTPP_PARAMS(P)                                                                         \
	P(min_rtt_thresh, "us", 0, 1000000000, "a lesser rise of the RTT is none",                  \
	  SINCE(2, 6, 20, 4000))                                                                    \
	P(max_rtt_thresh, "us", 0, 1000000000, "a greater rise of the RTT is always one",           \
	  SINCE(2, 6, 20, 16000))                                                                   \
	P(min_rtt_divisor, "parts", 1, 65535, "else one of these of the last round's least RTT is one", \
	  SINCE(2, 6, 20, 8))                                                                       \
	P(n_rtt_sample, "RTTs", 1, 65535, "a round is judged by this many at least",                \
	  SINCE(2, 6, 20, 8))                                                                       \
	P(css_growth_divisor, "parts", 2, 65535, "CSS grows by one of these of slow start's growth", \
	  SINCE(2, 6, 20, 4))                                                                       \
	P(css_rounds, "rounds", 1, 65535, "CSS lasts as long", SINCE(2, 6, 20, 5))                  \
	P(limit, "packets per ACK", 0, 65535, "L: an ACK counts for no more; 0: no limit",          \
	  SINCE(2, 6, 20, 8))
CC_PARAMS(HYSTARTPP_PARAMS)

struct hystartpp {
	u32 last_min;   /* us, least RTT of the round before */
	u32 curr_min;   /* us, of this one */
	u32 baseline;   /* us, least RTT when CSS began; below it the rise was jitter */
	u32 samples;    /* RTTs of this round */
	u32 window_end; /* the round is over when this is acknowledged */
	u32 rounds;     /* of CSS */
	u32 in_css;
	u32 cnt;        /* packets acknowledged in CSS and not yet turned into cwnd */
};
CC_SLOW_PRIVATE(struct hystartpp)

static u32 threshold(struct sock *sk, const struct hystartpp *ss)
{
	u32 part = div_u32(ss->last_min, slow_param(sk, min_rtt_divisor));

	return max_u32(slow_param(sk, min_rtt_thresh), min_u32(part, slow_param(sk, max_rtt_thresh)));
}

/* An RTT of this round: CSS begins when the round's least is high, and ends when it was jitter. */
static void judge(struct sock *sk, struct hystartpp *ss, u32 rtt_us)
{
	ss->curr_min = min_u32(ss->curr_min, rtt_us);
	ss->samples++;
	if (ss->samples < slow_param(sk, n_rtt_sample))
		return;
	if (ss->in_css) {
		if (ss->curr_min < ss->baseline)
			ss->in_css = 0;
	} else if (ss->last_min != UNKNOWN && ss->curr_min >= ss->last_min + threshold(sk, ss)) {
		ss->in_css = 1;
		ss->baseline = ss->curr_min;
		ss->rounds = 0;
		ss->cnt = 0;
	}
}

static void end_round(struct sock *sk, struct hystartpp *ss)
{
	struct tcp_sock *tp = tcp_sk(sk);

	ss->window_end = tp->snd_nxt;
	ss->last_min = ss->curr_min;
	ss->curr_min = UNKNOWN;
	ss->samples = 0;
	if (!ss->in_css)
		return;
	ss->rounds++;
	if (ss->rounds >= slow_param(sk, css_rounds))
		tp->snd_ssthresh = tp->snd_cwnd;
}

CC_CALLBACK(void, hystartpp_init, struct sock *sk)
{
	struct hystartpp *ss = cc_slow_start_ca(sk);

	ss->last_min = ss->curr_min = UNKNOWN;
	ss->window_end = tcp_sk(sk)->snd_nxt;
}

CC_CALLBACK(void, hystartpp_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct hystartpp *ss = cc_slow_start_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_ssthresh < CC_FIRST_SSTHRESH)
		return;
	if (sample->rtt_us >= 0)
		judge(sk, ss, (u32)sample->rtt_us);
	if (!cc_after(ss->window_end, tp->snd_una))
		end_round(sk, ss);
}

CC_CALLBACK(u32, hystartpp_grow, struct sock *sk, u32 acked)
{
	struct hystartpp *ss = cc_slow_start_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 divisor = slow_param(sk, css_growth_divisor), steps;

	if (tp->snd_ssthresh < CC_FIRST_SSTHRESH)
		return tcp_slow_start(tp, acked);
	if (slow_param(sk, limit))
		acked = min_u32(acked, slow_param(sk, limit));
	if (!ss->in_css)
		return tcp_slow_start(tp, acked);
	ss->cnt += acked;
	steps = div_u32(ss->cnt, divisor);
	ss->cnt -= steps * divisor;
	return tcp_slow_start(tp, steps);
}

CC_SLOW_START(hystartpp, "hystart++", .title = "HyStart++ (RFC 9406)", .us_rtt = 1,
	      .init = hystartpp_init, .pkts_acked = hystartpp_pkts_acked, .grow = hystartpp_grow)
