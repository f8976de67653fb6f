/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * cubic: the window is a cubic function of the time since the last loss, flat where that loss
 * was: W(t) = origin + C (t - K)^3, with K the time to get back to the origin.
 *
 * HyStart (2.6.29 on) leaves slow start before the queue overflows: when ACKs have come close after
 * one another for half the least RTT of a round (a train as long as the path is), or when a round's
 * first delays are well above the least.
 *
 * Source: Rhee, Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", PFLDnet 2005; Ha, Rhee,
 * Xu, same title, ACM SIGOPS OSR 42(5), 2008; Ha, Rhee, "Hybrid Slow Start for High-Bandwidth and
 * Long-Distance Networks", PFLDnet 2008; behaviour of Linux 2.6.20 to 3.19. HyStart was read in
 * 2.6.29 and 2.6.38, between which lies 2.6.32, and in 3.14; what differs there came with 2.6.39. All
 * was read in 6.1 and 6.12 too, which agree; from which version on what they do otherwise holds is known
 * from their history.
 * Deviations: below 4.0 the cubic root is the integer Newton iteration; kernels
 * from 2.6.22 on approximate it by the table, within 0.2 % on average. Time since the epoch is scaled in
 * 64 bits (the kernel's 32 bits wrap after 2^22 jiffies without a loss). Delay samples by
 * timestamps (2.6.20 to 2.6.22) are taken in state Open, there from ACKs that raise no alarm.
 * Other products wrap as there: 32 bits for cwnd, 64 bits for the cube (|t - K| up to 346 s).
 * Parameters, units and ranges: the rows of CUBIC_PARAMS.
 */
#include "cc.h"

#define BETA_ONE 1024u    /* beta is in 1/1024 */
#define TIME_SHIFT 10     /* time is in 1/1024 s */
#define CUBE_SHIFT 40     /* 2^10 of bic_scale, 2^30 of time cubed */
#define ACK_RATIO_SHIFT 4 /* packets per ACK are kept in 1/16 */

#define TRAIN 1u       /* HyStart: an ACK train as long as the path */
#define DELAY 2u       /* a delay above the least */
#define MIN_SAMPLES 8u /* a round's delay is the least of this many */
#define MAX_RISE 16u   /* ms (jiffies), a delay above the least by more is always one */
#define MIN_RISE_US 4000u
#define MAX_RISE_US 16000u
#define MAX_ACK_DELAY_US 1000u /* what batching of ACKs may add to the least RTT */
#define SK_GSO_MAX_SIZE 65343u /* bytes of a socket's largest skb: 65,536 less MAX_TCP_HEADER + 1 */

enum { IN_JIFFIES, IN_MS, IN_US }; /* rtt_clock */

#define CUBIC_PARAMS(P)                                                                             \
	P(beta, "1/1024", 1, 1023, "share of cwnd kept after a loss", SINCE(2, 6, 20, 819),         \
	  SINCE(2, 6, 26, 717))                                                                     \
	P(fast_convergence, "0 or 1", 0, 1, "a loss below the last maximum lowers that maximum",    \
	  SINCE(2, 6, 20, 1))                                                                       \
	P(initial_ssthresh, "packets", 0, 2147483647, "ssthresh at the start; 0 leaves it unset",   \
	  SINCE(2, 6, 20, 100), SINCE(2, 6, 22, 0))                                                 \
	P(bic_scale, "packets per 100 ms per s^3, 1/1024", 1, 10240, "steepness C of the curve",    \
	  SINCE(2, 6, 20, 41))                                                                      \
	P(tcp_friendliness, "0 or 1", 0, 1, "at least as fast as Reno with the same beta would be", \
	  SINCE(2, 6, 20, 1))                                                                       \
	P(max_increment, "packets per 100 ms", 0, 65535, "largest growth; 0 for no limit",          \
	  SINCE(2, 6, 20, 16), SINCE(2, 6, 26, 0))                                                  \
	P(max_increment_after_k, "0 or 1", 0, 1, "limit the growth only beyond the origin",         \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 22, 1))                                                   \
	P(no_loss_cnt, "packets", 0, 65535,                                                         \
	  "before the first loss one packet per this many; 0 for the curve",                        \
	  SINCE(2, 6, 20, 50), SINCE(2, 6, 26, 0))                                                  \
	P(no_loss_max_cnt, "packets", 0, 65535,                                                     \
	  "with no loss in mind a packet per this many at least; 0: none",                          \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 39, 20))                                                  \
	P(ack_ratio_limit, "packets", 0, 65535, "most packets that an ACK counts for; 0: no limit", \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 39, 32))                                                  \
	P(undo_to_loss_cwnd, "0 or 1", 0, 1, "undo goes back to cwnd at the loss",                  \
	  SINCE(2, 6, 20, 0), SINCE(3, 3, 0, 1))                                                    \
	P(delay_by_sample, "0 or 1", 0, 1, "least RTT from RTT samples (1), timestamps only (0)",   \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 23, 1))                                                   \
	P(count_empty_acks, "0 or 1", 0, 1, "an ACK that completes no skb lowers the ACK ratio",    \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 24, 1))                                                   \
	P(hystart, "0 or 1", 0, 1, "leave slow start when the queue grows; needs delay_by_sample",  \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 29, 1))                                                   \
	P(hystart_detect, "0 to 3", 0, 3, "by ACK trains (1), by delays (2), by both (3)",          \
	  SINCE(2, 6, 20, 3))                                                                       \
	P(hystart_low_window, "packets", 0, 2147483647, "not below this cwnd",                      \
	  SINCE(2, 6, 20, 16))                                                                      \
	P(hystart_ack_delta, "ms", 0, 1000, "longest gap in an ACK train (fixed before 2.6.39)",    \
	  SINCE(2, 6, 20, 2))                                                                       \
	P(hystart_ack_delta_us, "us", 0, 2147483647, "the same where the clock is in us",           \
	  SINCE(2, 6, 20, 2000))                                                                    \
	P(rtt_clock, "0 to 2", 0, 2, "least RTT and HyStart's clock in jiffies (0), ms (1), us (2)", \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 39, 1), SINCE(5, 6, 0, 2))                                \
	P(ack_ratio, "0 or 1", 0, 1, "an ACK counts for as many packets as ACKs do on average",     \
	  SINCE(2, 6, 20, 1), SINCE(4, 0, 0, 0))                                                    \
	P(least_cnt, "packets", 1, 65535, "one packet per this many at least",                      \
	  SINCE(2, 6, 20, 1), SINCE(4, 0, 0, 2))                                                    \
	P(idle_shifts_epoch, "0 or 1", 0, 1, "the curve stands still in a pause",               \
	  SINCE(2, 6, 20, 0), SINCE(4, 3, 0, 1))                                                    \
	P(root_by_table, "0 or 1", 0, 1, "the cubic root is one step from a table's value",         \
	  SINCE(2, 6, 20, 0), SINCE(4, 0, 0, 1))
CC_PARAMS(CUBIC_PARAMS)

struct cubic {
	u32 cnt;           /* ACKs per increment of cwnd */
	u32 last_max_cwnd; /* packets, where the last loss was (or a little below) */
	u32 loss_cwnd;     /* packets, cwnd at the last loss; 0: no loss yet */
	u32 last_cwnd;     /* packets, cwnd when cnt was computed */
	u32 last_time;     /* jiffies, time when cnt was computed */
	u32 origin;        /* packets, where the curve is flat */
	u32 k;             /* 1/1024 s, from the epoch's start to the origin */
	u32 delay_min;     /* jiffies (ms) << 3, or us: least RTT; 0: unknown */
	u32 epoch_start;   /* jiffies, first increase after a loss; 0: none */
	u32 ack_cnt;       /* ACKs not yet turned into tcp_cwnd */
	u32 tcp_cwnd;      /* packets, the window Reno would have */
	u32 delayed_ack;   /* packets per ACK, in 1/16 */
	/* HyStart; times in jiffies (ms, us) */
	u32 round_start;   /* when the round began */
	u32 last_ack;      /* when the last ACK of the train came */
	u32 end_seq;       /* the round is over when this is acknowledged */
	u32 curr_rtt;      /* as delay_min, least RTT of the round (its first samples); 0: none */
	u32 sample_cnt;    /* those samples */
	u32 found;         /* why slow start has ended: TRAIN, DELAY */
};
CC_PRIVATE(struct cubic)

/* cwnd at the loss outlives a timeout where an undo goes back to it. */
static void reset(struct sock *sk, struct cubic *ca)
{
	u32 loss_cwnd = param(sk, undo_to_loss_cwnd) ? ca->loss_cwnd : 0;

	*ca = (struct cubic){ .delayed_ack = 2 << ACK_RATIO_SHIFT, .loss_cwnd = loss_cwnd };
}

/* Of the least RTT and of HyStart. */
static u32 rtt_clock(struct sock *sk)
{
	switch (param(sk, rtt_clock)) {
	case IN_JIFFIES:
		return cc_jiffies(sk);
	case IN_MS:
		return (u32)(cc_now_us(sk) / 1000);
	default:
		return (u32)cc_now_us(sk);
	}
}

/* A round begins: it ends with the ACK of all that is out now. */
static void hystart_reset(struct sock *sk, struct cubic *ca)
{
	ca->round_start = ca->last_ack = rtt_clock(sk);
	ca->end_seq = tcp_sk(sk)->snd_nxt;
	ca->curr_rtt = 0;
	ca->sample_cnt = 0;
}

/* An ACK of the train, unless it comes late; the train is long once it lasts half the least RTT. */
static void watch_train(struct sock *sk, struct cubic *ca)
{
	u32 now = rtt_clock(sk), gap = param(sk, hystart_ack_delta), half = ca->delay_min >> 4;
	u32 length = now - ca->round_start;

	if (param(sk, rtt_clock) == IN_JIFFIES)
		gap = cc_ms_to_jiffies(gap, cc_hz(sk));
	if ((s32)(now - ca->last_ack) > (s32)gap)
		return;
	ca->last_ack = now;
	if ((s32)length > (s32)half || (length == half && param(sk, rtt_clock) == IN_JIFFIES))
		ca->found |= TRAIN;
}

/* The least of the round's first delays against the least of all: an eighth of half of it more. */
static void watch_delay(struct sock *sk, struct cubic *ca, u32 delay)
{
	u32 least = param(sk, rtt_clock) == IN_MS ? 4 : 2;
	u32 rise = max_u32(min_u32(ca->delay_min >> 4, MAX_RISE << 3), least << 3);

	if (ca->sample_cnt < MIN_SAMPLES) {
		if (ca->curr_rtt == 0 || ca->curr_rtt > delay)
			ca->curr_rtt = delay;
		ca->sample_cnt++;
	} else if (ca->curr_rtt > ca->delay_min + rise) {
		ca->found |= DELAY;
	}
}

/* What batches of segments may add to the least RTT: two of the largest, at twice the flow's speed. */
static u32 ack_delay(struct sock *sk)
{
	u64 rate = sk_pacing_rate(sk);

	return rate ? min_u32((u32)min_u64(div_u64(SK_GSO_MAX_SIZE * 4ull * 1000000, rate), ~0u),
			      MAX_ACK_DELAY_US)
		    : 0;
}

/* A paced flow's packets are spread over up to half an RTT by themselves. */
static void watch_train_us(struct sock *sk, struct cubic *ca)
{
	u32 now = rtt_clock(sk);
	u32 length = (ca->delay_min + ack_delay(sk)) >> (sk_is_paced(sk) ? 0 : 1);

	if ((s32)(now - ca->last_ack) > (s32)param(sk, hystart_ack_delta_us))
		return;
	ca->last_ack = now;
	if ((s32)(now - ca->round_start) > (s32)length)
		ca->found |= TRAIN;
}

/* The least of the round's delays, of all of them, against the least of all. */
static void watch_delay_us(struct cubic *ca, u32 delay)
{
	u32 rise = min_u32(max_u32(ca->delay_min >> 3, MIN_RISE_US), MAX_RISE_US);

	if (ca->curr_rtt == 0 || ca->curr_rtt > delay)
		ca->curr_rtt = delay;
	if (ca->sample_cnt < MIN_SAMPLES)
		ca->sample_cnt++;
	else if (ca->curr_rtt > ca->delay_min + rise)
		ca->found |= DELAY;
}

/* The same with a clock in us: a round begins with the first sample beyond the last one. */
static void hystart_update_us(struct sock *sk, struct cubic *ca, u32 delay)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (ca->found || !param(sk, hystart) || !tcp_in_slow_start(tp))
		return;
	if (cc_after(tp->snd_una, ca->end_seq))
		hystart_reset(sk, ca);
	if (tp->snd_cwnd < param(sk, hystart_low_window))
		return;
	if (param(sk, hystart_detect) & TRAIN)
		watch_train_us(sk, ca);
	if (param(sk, hystart_detect) & DELAY)
		watch_delay_us(ca, delay);
	if (ca->found) {
		tp->snd_ssthresh = tp->snd_cwnd;
		cc_count_exit(sk, ca->found & TRAIN, ca->found & DELAY);
	}
}

/* Slow start ends at the present cwnd once it has been found to be large enough. */
static void hystart_update(struct sock *sk, struct cubic *ca, u32 delay)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 detect = param(sk, hystart_detect);

	if (!param(sk, hystart) || !tcp_in_slow_start(tp) ||
	    tp->snd_cwnd < param(sk, hystart_low_window) || ca->found & detect)
		return;
	watch_train(sk, ca);
	watch_delay(sk, ca, delay);
	if (ca->found & detect) {
		tp->snd_ssthresh = tp->snd_cwnd;
		cc_count_exit(sk, ca->found & detect & TRAIN, ca->found & detect & DELAY);
	}
}

/* 1024 C / (100 ms): 410 by default. */
static u32 cube_rtt_scale(struct sock *sk)
{
	return param(sk, bic_scale) * 10;
}

/* Cubic root, within 1: Newton's iteration from a power of two, until it moves by at most 1. */
static u32 cubic_root(u64 a)
{
	u64 x = 1ull << (fls64(a) / 3), before;
	u32 i;

	for (i = 0; i < 64; i++) {
		before = x;
		x = (2 * x + div_u64(a, x * x)) / 3;
		if (before - x + 1 <= 2)
			break;
	}
	return (u32)x;
}

/* 64 cbrt(x) - 1 for x below 64, the first ones by what fits best: figures of Linux (2.6.22 and later). */
CC_TABLE(unsigned char, root_64) = {
	0,   54,  54,  54,  118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156,
	157, 161, 164, 168, 170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199,
	200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227, 229,
	231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
};

/* The same as kernels have it: from the six leading bits a first value, then one step of Newton's with a root
 * taken a little too small and a third rounded down. */
static u32 cubic_root_by_table(u64 a)
{
	u32 bits = fls64(a), thirds;
	u64 x;

	if (bits < 7)
		return (root_64[a & 63] + 35u) >> 6;
	thirds = ((bits * 84) >> 8) - 1;
	x = ((u64)(root_64[(a >> (3 * thirds)) & 63] + 10u) << thirds) >> 6;
	x = 2 * x + div_u64(a, x * (x - 1));
	return (u32)((x * 341) >> 10);
}

static void start_epoch(struct sock *sk, struct cubic *ca, u32 cwnd, u32 now, u32 acked)
{
	u64 cube_factor = div_u64(1ull << CUBE_SHIFT, cube_rtt_scale(sk));

	ca->epoch_start = now;
	ca->ack_cnt = acked;
	ca->tcp_cwnd = cwnd;
	if (ca->last_max_cwnd <= cwnd) {
		ca->k = 0;
		ca->origin = cwnd;
	} else {
		u64 cube = cube_factor * (ca->last_max_cwnd - cwnd);

		ca->k = param(sk, root_by_table) ? cubic_root_by_table(cube) : cubic_root(cube);
		ca->origin = ca->last_max_cwnd;
	}
}

/* 1/1024 s since the epoch's start, one RTT ahead where the RTT is known. */
static u64 epoch_time(struct sock *sk, const struct cubic *ca, u32 now)
{
	u32 rtt = ca->delay_min >> 3, t;

	if (param(sk, rtt_clock) == IN_MS)
		rtt = cc_ms_to_jiffies(rtt, cc_hz(sk));
	else if (param(sk, rtt_clock) == IN_US)
		rtt = cc_us_to_jiffies(ca->delay_min, cc_hz(sk));
	t = now + rtt - ca->epoch_start;

	return div_u64((u64)t << TIME_SHIFT, cc_hz(sk));
}

/* Packets that the curve asks for at time t. */
static u32 curve(struct sock *sk, const struct cubic *ca, u64 t)
{
	u64 offs = t < ca->k ? ca->k - t : t - ca->k;
	u32 delta = (u32)((cube_rtt_scale(sk) * offs * offs * offs) >> CUBE_SHIFT);

	return t < ca->k ? ca->origin - delta : ca->origin + delta;
}

/* At least this many ACKs per increment, so that growth stays below max_increment per 100 ms. */
static u32 smax_cnt(struct sock *sk, const struct cubic *ca, u32 cwnd, u64 t)
{
	u32 smax = param(sk, max_increment), per_second = param(sk, rtt_clock) == IN_MS ? 1000 : cc_hz(sk);

	if (!smax || !ca->delay_min || (param(sk, max_increment_after_k) && t < ca->k))
		return 0;
	return div_u32(cwnd * per_second * 8, 10 * smax * ca->delay_min);
}

/* At most this many ACKs per increment, so that growth is not slower than Reno's. */
static u32 friendly_cnt(struct sock *sk, struct cubic *ca, u32 cwnd)
{
	u32 beta = param(sk, beta);
	u32 scale = div_u32(8 * (BETA_ONE + beta) / 3, BETA_ONE - beta); /* x 8 */
	u32 per_increment = (cwnd * scale) >> 3;
	u32 steps;

	if (ca->ack_cnt > per_increment) {
		steps = div_u32(ca->ack_cnt - 1, per_increment);
		ca->ack_cnt -= steps * per_increment;
		ca->tcp_cwnd += steps;
	}
	return ca->tcp_cwnd > cwnd ? div_u32(cwnd, ca->tcp_cwnd - cwnd) : ~0u;
}

/* ACKs per increment by the curve. */
static u32 curve_cnt(struct sock *sk, struct cubic *ca, u32 cwnd, u32 now)
{
	u64 t = epoch_time(sk, ca, now);
	u32 target = curve(sk, ca, t), cnt;

	cnt = target > cwnd ? div_u32(cwnd, target - cwnd) : 100 * cwnd;
	cnt = max_u32(cnt, smax_cnt(sk, ca, cwnd, t));
	if (ca->loss_cwnd == 0 && param(sk, no_loss_cnt))
		cnt = param(sk, no_loss_cnt);
	if (ca->last_max_cwnd == 0 && param(sk, no_loss_max_cnt))
		cnt = min_u32(cnt, param(sk, no_loss_max_cnt));
	return cnt;
}

static void update(struct sock *sk, struct cubic *ca, u32 cwnd, u32 acked)
{
	u32 now = cc_jiffies(sk), cnt = ca->cnt;

	ca->ack_cnt += acked;
	if (ca->last_cwnd == cwnd && (s32)(now - ca->last_time) <= (s32)(cc_hz(sk) / 32))
		return;
	/* Without the ACK ratio the curve is looked at once per jiffy. */
	if (param(sk, ack_ratio) || ca->epoch_start == 0 || now != ca->last_time) {
		ca->last_cwnd = cwnd;
		ca->last_time = now;
		if (ca->epoch_start == 0)
			start_epoch(sk, ca, cwnd, now, param(sk, ack_ratio) ? 1 : acked);
		cnt = curve_cnt(sk, ca, cwnd, now);
	}
	if (param(sk, tcp_friendliness))
		cnt = min_u32(cnt, friendly_cnt(sk, ca, cwnd));
	if (param(sk, ack_ratio))
		cnt = div_u32(cnt << ACK_RATIO_SHIFT, ca->delayed_ack);
	ca->cnt = max_u32(cnt, param(sk, least_cnt));
}

/* A delay (<< 3, or in us): least RTT, HyStart. The first second after a reduction does not count. */
static void measure_delay(struct sock *sk, struct cubic *ca, u32 delay)
{
	if ((ca->epoch_start || param(sk, rtt_clock) != IN_US) &&
	    (s32)(cc_jiffies(sk) - ca->epoch_start) < (s32)cc_hz(sk))
		return;
	delay = max_u32(delay, 1);
	if (ca->delay_min == 0 || ca->delay_min > delay)
		ca->delay_min = delay;
	if (param(sk, rtt_clock) == IN_US)
		hystart_update_us(sk, ca, delay);
	else
		hystart_update(sk, ca, delay);
}

/* An RTT as the least one is kept. */
static u32 sampled(struct sock *sk, u64 rtt_us)
{
	if (param(sk, rtt_clock) == IN_US)
		return (u32)rtt_us;
	if (param(sk, rtt_clock) == IN_MS)
		return (u32)((rtt_us << 3) / 1000);
	return cc_us_to_jiffies(rtt_us, cc_hz(sk)) << 3;
}

CC_CALLBACK(void, cubic_init, struct sock *sk)
{
	struct cubic *ca = inet_csk_ca(sk);

	reset(sk, ca);
	if (param(sk, hystart))
		hystart_reset(sk, ca);
	else if (param(sk, initial_ssthresh))
		tcp_sk(sk)->snd_ssthresh = param(sk, initial_ssthresh);
}

CC_CALLBACK(void, cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);

	if (!param(sk, delay_by_sample) && tcp_ca_state(sk) == TCP_CA_Open &&
	    tcp_saw_tstamp(sk) && tcp_rcv_tsecr(sk))
		measure_delay(sk, ca, (cc_jiffies(sk) - tcp_rcv_tsecr(sk)) << 3);
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		if (param(sk, hystart) && param(sk, rtt_clock) != IN_US &&
		    cc_after(ack, ca->end_seq))
			hystart_reset(sk, ca);
		acked = cc_slow_start(sk, acked);
		if (!acked)
			return;
	}
	update(sk, ca, tp->snd_cwnd, acked);
	tcp_cong_avoid_ai(tp, ca->cnt, acked);
}

CC_CALLBACK(u32, cubic_ssthresh, struct sock *sk)
{
	struct cubic *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd, beta = param(sk, beta);

	ca->epoch_start = 0;
	if (cwnd < ca->last_max_cwnd && param(sk, fast_convergence))
		ca->last_max_cwnd = cwnd * (BETA_ONE + beta) / (2 * BETA_ONE);
	else
		ca->last_max_cwnd = cwnd;
	ca->loss_cwnd = cwnd;
	return max_u32(cwnd * beta / BETA_ONE, 2);
}

CC_CALLBACK(u32, cubic_undo_cwnd, struct sock *sk)
{
	const struct cubic *ca = inet_csk_ca(sk);

	return max_u32(tcp_sk(sk)->snd_cwnd,
		       param(sk, undo_to_loss_cwnd) ? ca->loss_cwnd : ca->last_max_cwnd);
}

CC_CALLBACK(void, cubic_set_state, struct sock *sk, u8 new_state)
{
	struct cubic *ca = inet_csk_ca(sk);

	if (new_state == TCP_CA_Loss) {
		reset(sk, ca);
		hystart_reset(sk, ca);
	}
}

CC_CALLBACK(void, cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct cubic *ca = inet_csk_ca(sk);

	if (tcp_ca_state(sk) == TCP_CA_Open &&
	    ((s32)sample->pkts_acked > 0 || param(sk, count_empty_acks)))
		ca->delayed_ack += sample->pkts_acked - (ca->delayed_ack >> ACK_RATIO_SHIFT);
	if (param(sk, ack_ratio_limit))
		ca->delayed_ack = min_u32(ca->delayed_ack,
					  param(sk, ack_ratio_limit) << ACK_RATIO_SHIFT);
	if (param(sk, delay_by_sample) && sample->rtt_us >= 0)
		measure_delay(sk, ca, sampled(sk, (u64)sample->rtt_us));
}

/* After a pause the curve goes on where it was. */
CC_CALLBACK(void, cubic_cwnd_event, struct sock *sk, u32 event)
{
	struct cubic *ca = inet_csk_ca(sk);
	u32 now = cc_jiffies(sk);
	s32 idle = (s32)(now - tcp_sk(sk)->lsndtime);

	if (event != CA_EVENT_TX_START || !param(sk, idle_shifts_epoch) || !ca->epoch_start || idle <= 0)
		return;
	ca->epoch_start += (u32)idle;
	if (cc_after(ca->epoch_start, now))
		ca->epoch_start = now;
}

CC_REGISTER(cubic, .title = "CUBIC (PFLDnet 2005)", CC_WITH_PARAMS,
	    .init = cubic_init, .ssthresh = cubic_ssthresh, .cong_avoid = cubic_cong_avoid,
	    .pkts_acked = cubic_pkts_acked, .set_state = cubic_set_state,
	    .undo_cwnd = cubic_undo_cwnd, .cwnd_event = cubic_cwnd_event, CC_US_RTT_IF(hystart))
