/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * bic: binary increase. After a loss the window searches by halves for the point where the loss
 * occurred (here: goes a quarter of the distance per round trip), then probes beyond it.
 *
 * Source: Xu, Harfoush, Rhee, "Binary Increase Congestion Control for Fast Long-Distance
 * Networks", INFOCOM 2004; behaviour of Linux 2.6.20 to 6.12.
 * Deviations: none known. Products of 32 bits wrap as there (cwnd beyond 5 million packets).
 * Parameters, units and ranges: the rows of BIC_PARAMS.
 */
#include "cc.h"

#define BETA_ONE 1024u     /* beta is in 1/1024 */
#define SEARCH_PART 4u     /* a step covers this part of the distance to the last maximum */
#define ACK_RATIO_SHIFT 4  /* packets per ACK are kept in 1/16 */
#define NO_LOSS_CNT 20u    /* before the first loss: at least one packet per 20 (5 % per round trip) */

#define BIC_PARAMS(P)                                                                               \
	P(beta, "1/1024", 1, 1023, "share of cwnd kept after a loss", SINCE(2, 6, 20, 819))         \
	P(fast_convergence, "0 or 1", 0, 1, "a loss below the last maximum lowers that maximum",    \
	  SINCE(2, 6, 20, 1))                                                                       \
	P(initial_ssthresh, "packets", 0, 2147483647, "ssthresh at the start; 0 leaves it unset",   \
	  SINCE(2, 6, 20, 100), SINCE(2, 6, 22, 0))                                                 \
	P(low_window, "packets", 0, 65535, "up to this cwnd it grows and shrinks as Reno does",     \
	  SINCE(2, 6, 20, 14))                                                                      \
	P(max_increment, "packets per round trip", 1, 65535, "largest growth",                      \
	  SINCE(2, 6, 20, 16))                                                                      \
	P(smooth_part, "round trips", 1, 1024, "time spent close to the last maximum",              \
	  SINCE(2, 6, 20, 20))                                                                      \
	P(undo_to_loss_cwnd, "0 or 1", 0, 1, "undo goes back to cwnd at the loss",                  \
	  SINCE(2, 6, 20, 0), SINCE(3, 3, 0, 1))                                                    \
	P(count_empty_acks, "0 or 1", 0, 1, "an ACK that completes no skb lowers the ACK ratio",    \
	  SINCE(2, 6, 20, 0), SINCE(2, 6, 24, 1))                                                   \
	P(timeout_forgets_loss, "0 or 1", 0, 1, "after a timeout it grows as before any loss",      \
	  SINCE(2, 6, 20, 0), SINCE(4, 14, 0, 1))
CC_PARAMS(BIC_PARAMS)

struct bic {
	u32 cnt;           /* ACKs per increment of cwnd */
	u32 last_max_cwnd; /* packets, where the last loss was (or a little below) */
	u32 loss_cwnd;     /* packets, cwnd at the last loss; 0: no loss yet */
	u32 last_cwnd;     /* packets, cwnd when cnt was computed */
	u32 last_time;     /* jiffies, time when cnt was computed */
	u32 epoch_start;   /* jiffies, first increase after a loss; 0: none */
	u32 delayed_ack;   /* packets per ACK, in 1/16 */
};
CC_PRIVATE(struct bic)

/* cwnd at the loss outlives a timeout where an undo goes back to it. */
static void reset(struct sock *sk, struct bic *ca)
{
	u32 loss_cwnd = param(sk, undo_to_loss_cwnd) ? ca->loss_cwnd : 0;

	*ca = (struct bic){ .delayed_ack = 2 << ACK_RATIO_SHIFT, .loss_cwnd = loss_cwnd };
}

/* ACKs per increment below the last maximum: linear, then binary search, then creeping. */
static u32 cnt_below(struct sock *sk, u32 cwnd, u32 last_max)
{
	u32 dist = (last_max - cwnd) / SEARCH_PART;

	if (dist > param(sk, max_increment))
		return div_u32(cwnd, param(sk, max_increment));
	if (dist <= 1)
		return cwnd * param(sk, smooth_part) / SEARCH_PART;
	return div_u32(cwnd, dist);
}

/* ACKs per increment beyond the last maximum: creeping, then ever faster, then linear. */
static u32 cnt_beyond(struct sock *sk, u32 cwnd, u32 last_max)
{
	if (cwnd < last_max + SEARCH_PART)
		return cwnd * param(sk, smooth_part) / SEARCH_PART;
	if (cwnd < last_max + param(sk, max_increment) * (SEARCH_PART - 1))
		return div_u32(cwnd * (SEARCH_PART - 1), cwnd - last_max);
	return div_u32(cwnd, param(sk, max_increment));
}

static void update(struct sock *sk, struct bic *ca, u32 cwnd)
{
	u32 now = cc_jiffies(sk), cnt;

	if (ca->last_cwnd == cwnd && (s32)(now - ca->last_time) <= (s32)(cc_hz(sk) / 32))
		return;
	ca->last_cwnd = cwnd;
	ca->last_time = now;
	if (ca->epoch_start == 0)
		ca->epoch_start = now;

	if (cwnd <= param(sk, low_window)) {
		ca->cnt = cwnd;
		return;
	}
	if (cwnd < ca->last_max_cwnd)
		cnt = cnt_below(sk, cwnd, ca->last_max_cwnd);
	else
		cnt = cnt_beyond(sk, cwnd, ca->last_max_cwnd);
	if ((param(sk, timeout_forgets_loss) ? ca->last_max_cwnd : ca->loss_cwnd) == 0)
		cnt = min_u32(cnt, NO_LOSS_CNT);
	ca->cnt = max_u32(div_u32(cnt << ACK_RATIO_SHIFT, ca->delayed_ack), 1);
}

CC_CALLBACK(void, bic_init, struct sock *sk)
{
	reset(sk, inet_csk_ca(sk));
	if (param(sk, initial_ssthresh))
		tcp_sk(sk)->snd_ssthresh = param(sk, initial_ssthresh);
}

CC_CALLBACK(void, bic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bic *ca = inet_csk_ca(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = cc_slow_start(sk, acked);
		if (!acked)
			return;
	}
	update(sk, ca, tp->snd_cwnd);
	tcp_cong_avoid_ai(tp, ca->cnt, acked);
}

CC_CALLBACK(u32, bic_ssthresh, struct sock *sk)
{
	struct bic *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd, beta = param(sk, beta);

	ca->epoch_start = 0;
	if (cwnd < ca->last_max_cwnd && param(sk, fast_convergence))
		ca->last_max_cwnd = cwnd * (BETA_ONE + beta) / (2 * BETA_ONE);
	else
		ca->last_max_cwnd = cwnd;
	ca->loss_cwnd = cwnd;
	if (cwnd <= param(sk, low_window))
		return max_u32(cwnd / 2, 2);
	return max_u32(cwnd * beta / BETA_ONE, 2);
}

CC_CALLBACK(u32, bic_undo_cwnd, struct sock *sk)
{
	const struct bic *ca = inet_csk_ca(sk);

	return max_u32(tcp_sk(sk)->snd_cwnd,
		       param(sk, undo_to_loss_cwnd) ? ca->loss_cwnd : ca->last_max_cwnd);
}

CC_CALLBACK(void, bic_set_state, struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Loss)
		reset(sk, inet_csk_ca(sk));
}

CC_CALLBACK(void, bic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct bic *ca = inet_csk_ca(sk);

	if (tcp_ca_state(sk) != TCP_CA_Open)
		return;
	if ((s32)sample->pkts_acked > 0 || param(sk, count_empty_acks))
		ca->delayed_ack += sample->pkts_acked - (ca->delayed_ack >> ACK_RATIO_SHIFT);
}

CC_REGISTER(bic, .title = "BIC (INFOCOM 2004)", CC_WITH_PARAMS,
	    .init = bic_init, .ssthresh = bic_ssthresh, .cong_avoid = bic_cong_avoid,
	    .pkts_acked = bic_pkts_acked, .set_state = bic_set_state, .undo_cwnd = bic_undo_cwnd)
