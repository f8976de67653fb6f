/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * search: in slow start a window of time delivers what the same window one RTT earlier sent. Once it
 * delivers clearly less, the path is full: what was sent too much is drained, and slow start is over.
 *
 * Source: SEARCH 4.0 (Slow start Exit At Right CHokepoint; Chung, Kachooei, Li, Claypool,
 * draft-chung-ccwg-search-09, work in progress). The idea, the windows and bins were read in the draft's
 * text of June 2024 (SEARCH 3.0); what 4.0 does otherwise (sent packets instead of delivered ones
 * twice, a threshold of 0.26 instead of 0.35, the drain phase instead of a step down) in two
 * implementations of it: the authors' for FreeBSD, and that of neqo, which names the draft's version.
 * Windows are 3.5 times the first RTT, of ten bins; the window one RTT ago is interpolated between bins
 * backwards, as neqo does (it calls the draft's other direction a mistake). It begins anew when more bins
 * than a window has passed without an ACK. The drain phase sends one packet for three that are
 * acknowledged until cwnd is what one first RTT last delivered. It acts until the first reduction of cwnd.
 * Deviations: packets are counted, not bytes, and bins have 32 bits, so that none are scaled.
 * Parameters, units and ranges: the rows of SEARCH_PARAMS.
 */
#include "../cc.h"

#define WINDOW 10u              /* bins of a window */
#define EXTRA 15u               /* bins that an RTT may have */
#define ACKED (WINDOW + 1)      /* bins kept: both ends of the last window */
#define SENT (ACKED + EXTRA)    /* and of the one an RTT ago */
#define FIRST_CWND 10u          /* packets, draining goes no lower */

#define SEARCH_PARAMS(P)                                                                            \
	P(thresh, "1/100", 1, 100, "share of what was sent that is missed when the path is full",   \
	  SINCE(2, 6, 20, 26))                                                                      \
	P(window_factor, "1/10 RTT", 1, 1000, "length of a window", SINCE(2, 6, 20, 35))            \
	P(drain, "0 or 1", 0, 1, "the queue is drained when slow start ends",                       \
	  SINCE(2, 6, 20, 1))                                                                       \
	P(drain_acked, "packets", 2, 65535, "draining sends one packet for this many",            \
	  SINCE(2, 6, 20, 3))
CC_PARAMS(SEARCH_PARAMS)

struct search {
	u32 acked[ACKED]; /* packets delivered by the end of each bin */
	u32 sent[SENT];   /* packets sent by then */
	u32 bins;         /* bins so far; 0: none has begun */
	u32 bin_us;       /* us, length of a bin */
	u64 bin_end;      /* us, when the present one ends */
	u32 first_rtt;    /* us */
	u32 target;       /* packets, cwnd to drain to; 0: not draining */
	u32 delivered;    /* packets delivered when last drained */
	u32 cnt;          /* packets delivered and not yet answered by one sent */
};
CC_SLOW_PRIVATE(struct search)

static u32 *acked_bin(struct search *ss, u32 i)
{
	return &ss->acked[i - i / ACKED * ACKED];
}

static u32 *sent_bin(struct search *ss, u32 i)
{
	return &ss->sent[i - i / SENT * SENT];
}

static void fill(struct search *ss, u32 i, u32 acked, u32 sent)
{
	*acked_bin(ss, i) = acked;
	*sent_bin(ss, i) = sent;
}

/* Packets sent for the first time: in slow start, all that are delivered or out. */
static u32 sent_so_far(const struct tcp_sock *tp)
{
	return tp->delivered + tp->packets_out;
}

static void begin(struct sock *sk, struct search *ss, u32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	ss->first_rtt = rtt_us;
	ss->bin_us = (u32)((u64)rtt_us * slow_param(sk, window_factor) / (10 * WINDOW));
	if (!ss->bin_us)
		return;
	ss->bin_end = cc_now_us(sk) + ss->bin_us;
	ss->bins = 1;
	fill(ss, 0, tp->delivered, sent_so_far(tp));
}

/* Time has passed the end of a bin, or of several. Whether there is a window's worth left. */
static int pass_bins(struct sock *sk, struct search *ss)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 passed = div_u64(cc_now_us(sk) - ss->bin_end, ss->bin_us) + 1;
	u32 last = ss->bins - 1, i;

	if (passed > WINDOW) {
		ss->bins = 0;
		return 0;
	}
	for (i = 1; i < WINDOW; i++) {
		if (i >= passed)
			break;
		fill(ss, last + i, *acked_bin(ss, last), *sent_bin(ss, last));
	}
	ss->bins += (u32)passed;
	ss->bin_end += passed * ss->bin_us;
	fill(ss, ss->bins - 1, tp->delivered, sent_so_far(tp));
	return 1;
}

/* Whether the last window delivered clearly less than the one an RTT ago sent. */
static int is_full(struct sock *sk, struct search *ss, u32 rtt_us)
{
	u32 now = ss->bins - 1, back = div_u32(rtt_us, ss->bin_us), then;
	u64 rest = rtt_us - back * ss->bin_us, low, high, sent, delivered;

	if (back >= EXTRA || now < back || now - back <= WINDOW)
		return 0;
	then = now - back;
	high = *sent_bin(ss, then) - *sent_bin(ss, then - WINDOW);
	low = *sent_bin(ss, then - 1) - *sent_bin(ss, then - 1 - WINDOW);
	sent = div_u64(low * rest + high * (ss->bin_us - rest), ss->bin_us);
	delivered = *acked_bin(ss, now) - *acked_bin(ss, now - WINDOW);
	return sent > delivered && (sent - delivered) * 100 >= sent * slow_param(sk, thresh);
}

/* What one first RTT, in whole bins, has last delivered. */
static u32 target(struct search *ss)
{
	u32 now = ss->bins - 1;
	u32 back = min_u32(div_u32(ss->first_rtt + ss->bin_us - 1, ss->bin_us), WINDOW);

	return max_u32(*acked_bin(ss, now) - *acked_bin(ss, now - back), FIRST_CWND);
}

static void leave(struct sock *sk, struct search *ss)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!slow_param(sk, drain)) {
		tp->snd_ssthresh = tp->snd_cwnd;
		return;
	}
	ss->target = target(ss);
	ss->delivered = tp->delivered;
	ss->cnt = 0;
}

static void drain(struct sock *sk, struct search *ss)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 each = slow_param(sk, drain_acked), steps;

	ss->cnt += tp->delivered - ss->delivered;
	ss->delivered = tp->delivered;
	steps = div_u32(ss->cnt, each);
	ss->cnt -= steps * each;
	tp->snd_cwnd = min_u32(tp->snd_cwnd, max_u32(tp->packets_out + steps, ss->target));
	if (tp->snd_cwnd > ss->target)
		return;
	tp->snd_ssthresh = max_u32(tp->snd_cwnd, 2);
	ss->target = 0;
}

CC_CALLBACK(void, search_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct search *ss = cc_slow_start_ca(sk);

	if (tcp_sk(sk)->snd_ssthresh < CC_FIRST_SSTHRESH || tcp_ca_state(sk) != TCP_CA_Open)
		return;
	if (ss->target) {
		drain(sk, ss);
	} else if (sample->rtt_us > 0) {
		if (!ss->bins)
			begin(sk, ss, (u32)sample->rtt_us);
		else if (cc_now_us(sk) > ss->bin_end && pass_bins(sk, ss) &&
			 is_full(sk, ss, (u32)sample->rtt_us))
			leave(sk, ss);
	}
}

/* While it drains, pkts_acked alone sets cwnd. */
CC_CALLBACK(u32, search_grow, struct sock *sk, u32 acked)
{
	const struct search *ss = cc_slow_start_ca(sk);

	return ss->target ? 0 : tcp_slow_start(tcp_sk(sk), acked);
}

CC_SLOW_START(search, "search", .title = "SEARCH 4.0 (draft-chung-ccwg-search-09)", .us_rtt = 1,
	      .pkts_acked = search_pkts_acked, .grow = search_grow)
