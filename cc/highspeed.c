/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * highspeed: the larger the window, the faster it grows and the less a loss takes: Reno's rule up to 38
 * packets, 72 packets per round trip and a tenth at 89,000. A window of w packets then follows from a
 * loss rate p as 0.12 / p^0.835.
 *
 * Source: RFC 3649, "HighSpeed TCP for Large Congestion Windows", section 5; its appendix B, whose
 * program computes the table; behaviour of Linux 2.6.20 to 6.12 (tcp_highspeed.c), read in 2.6.24 and
 * 5.9, which agree. Of 2.6.20 to 2.6.23 it is remembered from the history, and not read.
 * Deviations: the kernel lowers snd_cwnd_clamp to 2^25 packets, which slow start heeds too; here avoidance
 * alone stops there. The RFC lets a(w) and b(w) of a row hold from its window on, Linux up to its
 * window: so growth is two packets per round trip from 39 packets on. What slow start leaves over
 * of an ACK is lost, and an ACK counts once, whatever it acknowledges. A loss in slow start takes
 * what the last window in avoidance said, at first half.
 * Parameters: none.
 */
#include "cc.h"

#define ROWS 72u
#define MOST_CWND (0xffffffffu / 128)

/* Up to a window of cwnd packets, row n adds n packets per round trip; a loss takes md / 256. */
struct row { u32 cwnd, md; };
CC_TABLE(struct row, rows) = {
	{ 38, 128 }, { 118, 112 }, { 221, 104 }, { 347, 98 }, { 495, 93 }, { 663, 89 },
	{ 851, 86 }, { 1058, 83 }, { 1284, 81 }, { 1529, 78 }, { 1793, 76 }, { 2076, 74 },
	{ 2378, 72 }, { 2699, 71 }, { 3039, 69 }, { 3399, 68 }, { 3778, 66 }, { 4177, 65 },
	{ 4596, 64 }, { 5036, 62 }, { 5497, 61 }, { 5979, 60 }, { 6483, 59 }, { 7009, 58 },
	{ 7558, 57 }, { 8130, 56 }, { 8726, 55 }, { 9346, 54 }, { 9991, 53 }, { 10661, 52 },
	{ 11358, 52 }, { 12082, 51 }, { 12834, 50 }, { 13614, 49 }, { 14424, 48 }, { 15265, 48 },
	{ 16137, 47 }, { 17042, 46 }, { 17981, 45 }, { 18955, 45 }, { 19965, 44 }, { 21013, 43 },
	{ 22101, 43 }, { 23230, 42 }, { 24402, 41 }, { 25618, 41 }, { 26881, 40 }, { 28193, 39 },
	{ 29557, 39 }, { 30975, 38 }, { 32450, 38 }, { 33986, 37 }, { 35586, 36 }, { 37253, 36 },
	{ 38992, 35 }, { 40808, 35 }, { 42707, 34 }, { 44694, 33 }, { 46776, 33 }, { 48961, 32 },
	{ 51258, 32 }, { 53677, 31 }, { 56230, 30 }, { 58932, 30 }, { 61799, 29 }, { 64851, 28 },
	{ 68113, 28 }, { 71617, 27 }, { 75401, 26 }, { 79517, 26 }, { 84035, 25 }, { 89053, 24 },
};

struct highspeed {
	u32 row; /* of the last window in avoidance, from 0 */
};
CC_PRIVATE(struct highspeed)

/* The first row whose window is not below cwnd; the last one for all that are larger. */
static u32 row_of(u32 cwnd)
{
	u32 row = 0, i;

	for (i = 0; i < ROWS - 1; i++)
		row += cwnd > rows[i].cwnd;
	return row;
}

CC_CALLBACK(u32, highspeed_ssthresh, struct sock *sk)
{
	const struct highspeed *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	return max_u32(cwnd - (u32)(((u64)cwnd * rows[ca->row].md) >> 8), 2);
}

CC_CALLBACK(void, highspeed_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct highspeed *ca = inet_csk_ca(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		cc_slow_start(sk, acked);
		return;
	}
	ca->row = row_of(tp->snd_cwnd);
	if (tp->snd_cwnd >= min_u32(tp->snd_cwnd_clamp, MOST_CWND))
		return;
	tp->snd_cwnd_cnt += ca->row + 1;
	if (tp->snd_cwnd_cnt >= tp->snd_cwnd) {
		tp->snd_cwnd_cnt -= tp->snd_cwnd;
		tp->snd_cwnd++;
	}
}

CC_CALLBACK(u32, highspeed_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(highspeed, .title = "HighSpeed TCP (RFC 3649)", .min_cwnd_shift = 1,
	    .ssthresh = highspeed_ssthresh, .cong_avoid = highspeed_cong_avoid,
	    .undo_cwnd = highspeed_undo_cwnd)
