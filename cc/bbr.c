/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * bbr: a model of the path in the place of a window that losses cut. It paces at the largest delivery rate
 * of the last ten round trips, and keeps about two bandwidth-delay products in flight. A new flow doubles its
 * rate until that stops growing by a quarter (STARTUP), lets the queue run empty (DRAIN), then probes in
 * cycles of eight round trips: one at 5/4 of the rate, one at 3/4, six at the rate (PROBE_BW). Where no RTT
 * has been as small for ten seconds, four packets are in flight for 200 ms (PROBE_RTT).
 *
 * Source: Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: Congestion-Based Congestion Control", ACM
 * Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00; behaviour of Linux 6.12 (tcp_bbr.c).
 * Deviations: the phase in which PROBE_BW begins, one of seven, is drawn from the flow's own random numbers.
 * Where both draw the same, the runs of scenarios/parity/bbr.toml and bbr-two.toml equal those of Linux 6.12 in
 * each sample while the application writes: losses, timeouts, limits by window and application, PROBE_RTT, the
 * long-term rate, cubic and reno beside it. They have tcp_comp_sack_slack_ns = 0. With the default of 100 us
 * engine linux sends compressed SACKs sooner, as both hosts share a CPU and its timers: 4 of 34 runs of one flow
 * then differ in throughput, by 0.2 to 1.0 %, and 4 of 6 with two flows, one by 23 %. Linux calls the control
 * once before it begins, with the handshake's sample; nothing of that call outlasts the first ACK of data.
 * Kernels before 6.1 are refused: they measure and pace in other ways.
 * Parameters: none, as in Linux. Bandwidth is in packets per us times 2^24, gains are in 1/256.
 */
#include "cc.h"

#define BW_SHIFT 24
#define BW_ONE (1u << BW_SHIFT)
#define GAIN_SHIFT 8
#define GAIN_ONE (1u << GAIN_SHIFT)
#define MAX_BW_ROUNDS 10u    /* window of the bandwidth filter */
#define MIN_CWND 4u          /* packets */
#define HIGH_GAIN 739u       /* 2.887, a little above 2 / ln 2 */
#define DRAIN_GAIN 88u       /* its inverse */
#define CWND_GAIN 512u       /* in PROBE_BW */
#define CYCLE 8u             /* phases of PROBE_BW */
#define MIN_RTT_S 10u        /* how long a least RTT holds */
#define PROBE_RTT_MS 200u
#define FULL_BW_GROWTH 320u  /* 1.25: less is no growth */
#define FULL_BW_ROUNDS 3u
#define LOW_RATE 150000u     /* bytes per second: below it an skb is one segment */
#define MOST_GOAL 127u       /* segments of an skb */
#define LT_LEAST_ROUNDS 4u   /* of an interval of the long-term rate */
#define LT_MOST_ROUNDS 16u
#define LT_USE_ROUNDS 48u
#define LT_LOSSES 50u        /* of 256 packets delivered */
#define LT_RATIO 32u         /* intervals agree within that many 256th */
#define LT_DIFF 500u         /* or within that many bytes per second */
#define EXTRA_ROUNDS 5u      /* of a slot of aggregation */
#define EXTRA_MOST_US 100000u
#define EPOCH_MOST (1u << 20) /* packets of an epoch of aggregation */

enum bbr_mode { STARTUP, DRAIN, PROBE_BW, PROBE_RTT };

CC_TABLE(u32, cycle_gain) = { 320, 192, 256, 256, 256, 256, 256, 256 };

struct bw_sample {
	u32 round, bw;
};

struct bbr {
	u64 cycle_began, epoch_began;  /* us */
	u32 min_rtt_us, min_rtt_stamp; /* us; jiffies */
	u32 probe_rtt_done;            /* jiffies; 0: not yet due */
	struct bw_sample best[3];      /* the largest, and the largest since it and since the next */
	u32 rounds, round_ends;        /* a round is over at that value of tp->delivered */
	u32 lt_bw, lt_delivered, lt_stamp, lt_lost; /* stamp: ms */
	u32 prior_cwnd, full_bw, epoch_acked;
	u16 pacing_gain, cwnd_gain;
	u16 extra[2];                  /* packets beyond the rate, of both slots */
	u8 mode, prev_ca_state, cycle_idx, full_bw_cnt, lt_rounds;
	u8 slot_rounds, slot : 1;
	u8 conserves : 1, round_start : 1, probe_rtt_round_done : 1, idle_restart : 1;
	u8 full_bw_reached : 1, has_seen_rtt : 1, lt_is_sampling : 1, lt_use_bw : 1;
};
CC_PRIVATE(struct bbr)

static struct bbr *state(struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* Microseconds from one stamp to a later one. */
static u32 us_between(u64 from, u64 to)
{
	return to > from ? (u32)(to - from) : 0;
}

/* ---- the bandwidth filter: Kathleen Nichols' windowed maximum ---- */

static void restart_filter(struct bbr *b, struct bw_sample now)
{
	b->best[0] = now;
	b->best[1] = now;
	b->best[2] = now;
}

/* The newest takes the last place; the others move up. */
static void shift_filter(struct bbr *b, struct bw_sample now)
{
	b->best[0] = b->best[1];
	b->best[1] = b->best[2];
	b->best[2] = now;
}

static void age_filter(struct bbr *b, struct bw_sample now)
{
	u32 age = now.round - b->best[0].round;

	if (age > MAX_BW_ROUNDS) {
		shift_filter(b, now);
		if (now.round - b->best[0].round > MAX_BW_ROUNDS)
			shift_filter(b, now);
	} else if (b->best[1].round == b->best[0].round && age > MAX_BW_ROUNDS / 4) {
		b->best[1] = now;
		b->best[2] = now;
	} else if (b->best[2].round == b->best[1].round && age > MAX_BW_ROUNDS / 2) {
		b->best[2] = now;
	}
}

static void take_bw(struct bbr *b, u32 bw)
{
	struct bw_sample now = { b->rounds, bw };

	if (bw >= b->best[0].bw || now.round - b->best[2].round > MAX_BW_ROUNDS) {
		restart_filter(b, now);
		return;
	}
	if (bw >= b->best[1].bw) {
		b->best[1] = now;
		b->best[2] = now;
	} else if (bw >= b->best[2].bw) {
		b->best[2] = now;
	}
	age_filter(b, now);
}

static u32 max_bw(const struct bbr *b)
{
	return b->best[0].bw;
}

/* The long-term rate of a policer while that is in use. */
static u32 bw_now(const struct bbr *b)
{
	return b->lt_use_bw ? b->lt_bw : max_bw(b);
}

/* ---- rates and windows ---- */

/* Bytes per second, a hundredth below the bandwidth so that a queue drains. */
static u64 bytes_per_second(struct sock *sk, u64 bw, u32 gain)
{
	u64 scaled = bw * tcp_sk(sk)->mss_cache * gain >> GAIN_SHIFT;

	return scaled * 990000 >> BW_SHIFT;
}

static u64 pacing_rate(struct sock *sk, u64 bw, u32 gain)
{
	return min_u64(bytes_per_second(sk, bw, gain), sk_max_pacing_rate(sk));
}

/* The first rate: cwnd per RTT, or per millisecond before there is one. */
static void begin_pace(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = 1000;

	if (tp->srtt_us) {
		rtt_us = max_u32(tp->srtt_us >> 3, 1);
		state(sk)->has_seen_rtt = 1;
	}
	cc_set_pacing_rate(sk, pacing_rate(sk, div_u64((u64)tp->snd_cwnd << BW_SHIFT, rtt_us), HIGH_GAIN));
}

/* Until the pipe is full the rate never falls. */
static void set_pace(struct sock *sk, u32 bw, u32 gain)
{
	u64 rate = pacing_rate(sk, bw, gain);

	if (!state(sk)->has_seen_rtt && tcp_sk(sk)->srtt_us)
		begin_pace(sk);
	if (state(sk)->full_bw_reached || rate > sk_pacing_rate(sk))
		cc_set_pacing_rate(sk, rate);
}

CC_CALLBACK(u32, bbr_min_tso_segs, struct sock *sk)
{
	return sk_pacing_rate(sk) < LOW_RATE ? 1 : 2;
}

/* Segments of an skb at this rate. */
static u32 tso_goal(struct sock *sk)
{
	u64 bytes = min_u64(sk_pacing_rate(sk) >> sk_pacing_shift(sk), 65535 - MAX_TCP_HEADER);
	u32 segs = div_u32((u32)bytes, tcp_sk(sk)->mss_cache);

	return min_u32(max_u32(segs, bbr_min_tso_segs(sk)), MOST_GOAL);
}

/* Packets of the bandwidth-delay product times the gain, rounded up. */
static u32 bdp(struct sock *sk, u32 bw, u32 gain)
{
	u64 product;

	if (state(sk)->min_rtt_us == ~0u)
		return TCP_INIT_CWND;
	product = (u64)bw * state(sk)->min_rtt_us * gain >> GAIN_SHIFT;
	return (u32)((product + BW_ONE - 1) / BW_ONE);
}

/* Room for what both hosts hold in large skbs, and for a probe to be seen at a small product. */
static u32 with_hosts(struct sock *sk, u32 cwnd)
{
	cwnd += 3 * tso_goal(sk);
	cwnd = (cwnd + 1) & ~1u;
	return state(sk)->mode == PROBE_BW && state(sk)->cycle_idx == 0 ? cwnd + 2 : cwnd;
}

static u32 target(struct sock *sk, u32 bw, u32 gain)
{
	return with_hosts(sk, bdp(sk, bw, gain));
}

/* Of so many packets in flight, those in the network when the next skb is to leave. */
static u32 in_network(struct sock *sk, u32 in_flight)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 ahead_ns = tp->tcp_wstamp_ns > tp->tcp_clock_cache ? tp->tcp_wstamp_ns - tp->tcp_clock_cache : 0;
	u32 delivered = (u32)((u64)bw_now(state(sk)) * (u32)(ahead_ns / 1000) >> BW_SHIFT);

	if (state(sk)->pacing_gain > GAIN_ONE)
		in_flight += tso_goal(sk);
	return delivered >= in_flight ? 0 : in_flight - delivered;
}

/* ---- modes ---- */

static void next_phase(struct sock *sk)
{
	state(sk)->cycle_idx = (state(sk)->cycle_idx + 1) & (CYCLE - 1);
	state(sk)->cycle_began = tcp_sk(sk)->delivered_mstamp;
}

/* Any phase but that below the rate. */
static void enter_probe_bw(struct sock *sk)
{
	state(sk)->mode = PROBE_BW;
	state(sk)->cycle_idx = (u8)(CYCLE - 1 - cc_random_below(sk, CYCLE - 1));
	next_phase(sk);
}

static void leave_probe_rtt(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);

	if (!b->probe_rtt_done || !cc_after(cc_jiffies(sk), b->probe_rtt_done))
		return;
	b->min_rtt_stamp = cc_jiffies(sk);
	tp->snd_cwnd = max_u32(tp->snd_cwnd, b->prior_cwnd);
	if (b->full_bw_reached)
		enter_probe_bw(sk);
	else
		b->mode = STARTUP;
}

/* The window to come back to after a recovery or PROBE_RTT. */
static void save_cwnd(struct sock *sk)
{
	struct bbr *b = state(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	if (b->prev_ca_state < TCP_CA_Recovery && b->mode != PROBE_RTT)
		b->prior_cwnd = cwnd;
	else
		b->prior_cwnd = max_u32(b->prior_cwnd, cwnd);
}

/* ---- the long-term rate, where a policer drops what exceeds it ---- */

static void begin_lt_interval(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);

	b->lt_stamp = (u32)(tp->delivered_mstamp / 1000);
	b->lt_delivered = tp->delivered;
	b->lt_lost = tp->lost;
	b->lt_rounds = 0;
}

static void forget_lt(struct sock *sk)
{
	struct bbr *b = state(sk);

	b->lt_bw = 0;
	b->lt_use_bw = 0;
	b->lt_is_sampling = 0;
	begin_lt_interval(sk);
}

/* Two intervals that agree are a policer's rate. */
static void end_lt_interval(struct sock *sk, u32 bw)
{
	struct bbr *b = state(sk);
	u32 diff = bw > b->lt_bw ? bw - b->lt_bw : b->lt_bw - bw;

	if (b->lt_bw && (diff * GAIN_ONE <= LT_RATIO * b->lt_bw ||
			 bytes_per_second(sk, diff, GAIN_ONE) <= LT_DIFF)) {
		b->lt_bw = (bw + b->lt_bw) >> 1;
		b->lt_use_bw = 1;
		b->pacing_gain = GAIN_ONE;
		b->lt_rounds = 0;
		return;
	}
	b->lt_bw = bw;
	begin_lt_interval(sk);
}

/* An ACK with losses: whether the interval is lossy and long enough to end. */
static void judge_lt_interval(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);
	u32 lost = tp->lost - b->lt_lost, delivered = tp->delivered - b->lt_delivered;
	u32 ms = (u32)(tp->delivered_mstamp / 1000) - b->lt_stamp;

	if (!delivered || lost << GAIN_SHIFT < LT_LOSSES * delivered || (s32)ms < 1)
		return;
	if (ms >= ~0u / 1000) {
		forget_lt(sk);
		return;
	}
	end_lt_interval(sk, (u32)div_u64((u64)delivered << BW_SHIFT, ms * 1000));
}

static void sample_lt(struct sock *sk, u32 losses, int app_limited)
{
	struct bbr *b = state(sk);

	if (b->lt_use_bw) {
		if (b->mode == PROBE_BW && b->round_start && ++b->lt_rounds >= LT_USE_ROUNDS) {
			forget_lt(sk);
			enter_probe_bw(sk);
		}
		return;
	}
	if (!b->lt_is_sampling) {
		if (!losses)
			return;
		begin_lt_interval(sk);
		b->lt_is_sampling = 1;
	}
	if (app_limited) {
		forget_lt(sk);
		return;
	}
	if (b->round_start)
		b->lt_rounds++;
	if (b->lt_rounds < LT_LEAST_ROUNDS)
		return;
	if (b->lt_rounds > LT_MOST_ROUNDS)
		forget_lt(sk);
	else if (losses)
		judge_lt_interval(sk);
}

/* ---- the steps of an ACK ---- */

static void update_bw(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *b = state(sk);
	u64 bw;

	b->round_start = 0;
	if (rs->delivered < 0 || rs->interval_us <= 0)
		return;
	if (!cc_after(b->round_ends, rs->prior_delivered)) {
		b->round_ends = tcp_sk(sk)->delivered;
		b->rounds++;
		b->round_start = 1;
		b->conserves = 0;
	}
	sample_lt(sk, rs->losses, rs->is_app_limited != 0);
	bw = div_u64((u64)rs->delivered << BW_SHIFT, (u64)rs->interval_us);
	if (!rs->is_app_limited || bw >= max_bw(b))
		take_bw(b, (u32)bw);
}

/* How far ACKs that come in bursts are ahead of the rate. */
static void update_extra(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);
	u32 expected, extra;

	if (!rs->acked_sacked || rs->delivered < 0 || rs->interval_us <= 0)
		return;
	if (b->round_start) {
		b->slot_rounds = (u8)min_u32(31, b->slot_rounds + 1u);
		if (b->slot_rounds >= EXTRA_ROUNDS) {
			b->slot_rounds = 0;
			b->slot = !b->slot;
			b->extra[b->slot] = 0;
		}
	}
	expected = (u32)((u64)bw_now(b) * us_between(b->epoch_began, tp->delivered_mstamp) >> BW_SHIFT);
	if (b->epoch_acked <= expected || b->epoch_acked + rs->acked_sacked >= EPOCH_MOST) {
		b->epoch_acked = 0;
		b->epoch_began = tp->delivered_mstamp;
		expected = 0;
	}
	b->epoch_acked = min_u32(EPOCH_MOST - 1, b->epoch_acked + rs->acked_sacked);
	extra = min_u32(b->epoch_acked - expected, tp->snd_cwnd);
	if (extra > b->extra[b->slot])
		b->extra[b->slot] = (u16)extra;
}

static int phase_is_over(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *b = state(sk);
	int whole = us_between(b->cycle_began, tcp_sk(sk)->delivered_mstamp) > b->min_rtt_us;
	u32 there;

	if (b->pacing_gain == GAIN_ONE)
		return whole;
	there = in_network(sk, rs->prior_in_flight);
	if (b->pacing_gain > GAIN_ONE)
		return whole && (rs->losses || there >= target(sk, max_bw(b), b->pacing_gain));
	return whole || there <= target(sk, max_bw(b), GAIN_ONE);
}

static void check_full_bw(struct bbr *b, const struct rate_sample *rs)
{
	if (b->full_bw_reached || !b->round_start || rs->is_app_limited)
		return;
	if (max_bw(b) >= (u32)((u64)b->full_bw * FULL_BW_GROWTH >> GAIN_SHIFT)) {
		b->full_bw = max_bw(b);
		b->full_bw_cnt = 0;
		return;
	}
	b->full_bw_cnt++;
	b->full_bw_reached = b->full_bw_cnt >= FULL_BW_ROUNDS;
}

static void check_drain(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);

	if (b->mode == STARTUP && b->full_bw_reached) {
		b->mode = DRAIN;
		tp->snd_ssthresh = target(sk, max_bw(b), GAIN_ONE);
	}
	if (b->mode == DRAIN &&
	    in_network(sk, tcp_packets_in_flight(tp)) <= target(sk, max_bw(b), GAIN_ONE))
		enter_probe_bw(sk);
}

static void go_on_probing_rtt(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);

	/* A window of four packets says nothing of the path. */
	tp->app_limited = max_u32(tp->delivered + tcp_packets_in_flight(tp), 1);
	if (!b->probe_rtt_done) {
		if (tcp_packets_in_flight(tp) > MIN_CWND)
			return;
		b->probe_rtt_done = cc_jiffies(sk) + cc_ms_to_jiffies(PROBE_RTT_MS, cc_hz(sk));
		b->probe_rtt_round_done = 0;
		b->round_ends = tp->delivered;
		return;
	}
	if (b->round_start)
		b->probe_rtt_round_done = 1;
	if (b->probe_rtt_round_done)
		leave_probe_rtt(sk);
}

static void update_min_rtt(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *b = state(sk);
	int expired = cc_after(cc_jiffies(sk), b->min_rtt_stamp + MIN_RTT_S * cc_hz(sk));

	if (rs->rtt_us >= 0 &&
	    ((u32)rs->rtt_us < b->min_rtt_us || (expired && !rs->is_ack_delayed))) {
		b->min_rtt_us = (u32)rs->rtt_us;
		b->min_rtt_stamp = cc_jiffies(sk);
	}
	if (expired && !b->idle_restart && b->mode != PROBE_RTT) {
		b->mode = PROBE_RTT;
		save_cwnd(sk);
		b->probe_rtt_done = 0;
	}
	if (b->mode == PROBE_RTT)
		go_on_probing_rtt(sk);
	if (rs->delivered > 0)
		b->idle_restart = 0;
}

static void update_gains(struct bbr *b)
{
	u32 pacing = GAIN_ONE, cwnd = GAIN_ONE;

	if (b->mode == STARTUP) {
		pacing = HIGH_GAIN;
		cwnd = HIGH_GAIN;
	} else if (b->mode == DRAIN) {
		pacing = DRAIN_GAIN;
		cwnd = HIGH_GAIN;
	} else if (b->mode == PROBE_BW) {
		pacing = b->lt_use_bw ? GAIN_ONE : cycle_gain[b->cycle_idx & (CYCLE - 1)];
		cwnd = CWND_GAIN;
	}
	b->pacing_gain = (u16)pacing;
	b->cwnd_gain = (u16)cwnd;
}

/* Packets on top of the product, for bursts of ACKs; 100 ms at the rate at most. */
static u32 extra_cwnd(const struct bbr *b)
{
	u32 most = (u32)((u64)bw_now(b) * EXTRA_MOST_US >> BW_SHIFT);

	return b->full_bw_reached ? min_u32(max_u32(b->extra[0], b->extra[1]), most) : 0;
}

/* The window as recovery begins, goes on or ends. */
static u32 recovered_cwnd(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);
	u8 before = b->prev_ca_state, now = (u8)tcp_ca_state(sk);
	u32 cwnd = tp->snd_cwnd, kept = tcp_packets_in_flight(tp) + rs->acked_sacked;

	if (rs->losses)
		cwnd = cwnd > rs->losses ? cwnd - rs->losses : 1;
	if (now == TCP_CA_Recovery && before != TCP_CA_Recovery) {
		b->conserves = 1;
		b->round_ends = tp->delivered;
		cwnd = kept;
	} else if (before >= TCP_CA_Recovery && now < TCP_CA_Recovery) {
		cwnd = max_u32(cwnd, b->prior_cwnd);
		b->conserves = 0;
	}
	b->prev_ca_state = now;
	return b->conserves ? max_u32(cwnd, kept) : cwnd;
}

static u32 grown_cwnd(struct sock *sk, const struct rate_sample *rs, u32 bw)
{
	struct bbr *b = state(sk);
	u32 cwnd = recovered_cwnd(sk, rs), most;

	if (b->conserves)
		return cwnd;
	most = with_hosts(sk, bdp(sk, bw, b->cwnd_gain) + extra_cwnd(b));
	if (b->full_bw_reached)
		cwnd = min_u32(cwnd + rs->acked_sacked, most);
	else if (cwnd < most || tcp_sk(sk)->delivered < TCP_INIT_CWND)
		cwnd += rs->acked_sacked;
	return max_u32(cwnd, MIN_CWND);
}

CC_CALLBACK(void, bbr_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);
	u32 bw, cwnd = tp->snd_cwnd;

	(void)ack;
	(void)flag;
	update_bw(sk, rs);
	update_extra(sk, rs);
	if (b->mode == PROBE_BW && phase_is_over(sk, rs))
		next_phase(sk);
	check_full_bw(b, rs);
	check_drain(sk);
	update_min_rtt(sk, rs);
	update_gains(b);

	bw = bw_now(b);
	set_pace(sk, bw, b->pacing_gain);
	cwnd = rs->acked_sacked ? grown_cwnd(sk, rs, bw) : tp->snd_cwnd;
	tp->snd_cwnd = max_u32(min_u32(cwnd, tp->snd_cwnd_clamp), 1);
	if (b->mode == PROBE_RTT)
		tp->snd_cwnd = min_u32(tp->snd_cwnd, MIN_CWND);
}

/* ---- other callbacks ---- */

CC_CALLBACK(void, bbr_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);
	struct bw_sample none = { 0, 0 };

	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	b->round_ends = tp->delivered;
	b->min_rtt_us = tcp_min_rtt(tp);
	b->min_rtt_stamp = cc_jiffies(sk);
	restart_filter(b, none);
	b->has_seen_rtt = 0;
	begin_pace(sk);
	forget_lt(sk);
	b->mode = STARTUP;
	b->epoch_began = tp->tcp_mstamp;
	cc_want_pacing(sk);
}

/* Losses do not lower it. */
CC_CALLBACK(u32, bbr_ssthresh, struct sock *sk)
{
	save_cwnd(sk);
	return tcp_sk(sk)->snd_ssthresh;
}

CC_CALLBACK(u32, bbr_undo_cwnd, struct sock *sk)
{
	state(sk)->full_bw = 0;
	state(sk)->full_bw_cnt = 0;
	forget_lt(sk);
	return tcp_sk(sk)->snd_cwnd;
}

CC_CALLBACK(void, bbr_set_state, struct sock *sk, u8 new_state)
{
	struct bbr *b = state(sk);

	if (new_state != TCP_CA_Loss)
		return;
	b->prev_ca_state = TCP_CA_Loss;
	b->full_bw = 0;
	b->round_start = 1;
	sample_lt(sk, 1, 0);
}

/* After a pause the pace is the rate itself, whatever the phase. */
CC_CALLBACK(void, bbr_cwnd_event, struct sock *sk, u32 event)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = state(sk);

	if (event != CA_EVENT_TX_START || !tp->app_limited)
		return;
	b->idle_restart = 1;
	b->epoch_began = tp->tcp_mstamp;
	b->epoch_acked = 0;
	if (b->mode == PROBE_BW)
		set_pace(sk, bw_now(b), GAIN_ONE);
	else if (b->mode == PROBE_RTT)
		leave_probe_rtt(sk);
}

CC_CALLBACK(u32, bbr_sndbuf_expand, struct sock *sk)
{
	(void)sk;
	return 3;
}

CC_REGISTER(bbr, .title = "BBR (version 1)", .first_kernel = KERNEL(6, 1, 0), .init = bbr_init,
	    .ssthresh = bbr_ssthresh, .undo_cwnd = bbr_undo_cwnd, .set_state = bbr_set_state,
	    .cwnd_event = bbr_cwnd_event, .cong_control = bbr_cong_control,
	    .min_tso_segs = bbr_min_tso_segs, .sndbuf_expand = bbr_sndbuf_expand)
