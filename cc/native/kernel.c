/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The simulator's own version of the kernel functions that cc.h offers to congestion controls.
 *
 * SIM_PER_ACK, Linux 2.6.20 to 3.12: an ACK is one event (the caller passes acked = 1); slow start
 * includes cwnd == ssthresh; avoidance adds one packet on the event after the w-th; Reno's undo
 * doubles ssthresh. SIM_SLOW_START, Linux 3.13 to 3.19: as before, but slow start counts the packets
 * that an ACK acknowledges, up to one beyond ssthresh. SIM_STRETCH, Linux 4.14 on: every packet an ACK
 * acknowledges counts, what slow start leaves over is used in avoidance, and Reno's undo restores the
 * former window.
 */
#include "../cc.h"

/* The same numbers are asserted in crates/fullpipe-sim/src/cc/sock.rs. */
#define AT(field, offset) _Static_assert(__builtin_offsetof(struct tcp_sock, field) == offset, #field)
AT(snd_cwnd_clamp, 16);
AT(snd_nxt, 40);
AT(sim_hz, 76);
AT(sim_now_us, 80);
AT(sim_private, 104);
AT(sim_random, 208);
AT(sim_param, 220);
AT(sim_slow_param, 312);
AT(sim_slow_private, 344);
AT(sim_slow_start, 544);
AT(sim_exits, 552);
AT(tcp_mstamp, 568);
AT(lost, 608);
_Static_assert(sizeof(struct tcp_sock) == 632, "struct tcp_sock");
_Static_assert(sizeof(struct rate_sample) == 40, "struct rate_sample");
_Static_assert(sizeof(struct ack_sample) == 12, "struct ack_sample");

enum { SIM_PER_ACK, SIM_STRETCH, SIM_SLOW_START };

static int per_ack(const struct tcp_sock *tp)
{
	return tp->sim_helpers != SIM_STRETCH;
}

/* Grows cwnd by n packets as far as the clamp allows. */
static void grow(struct tcp_sock *tp, u32 n)
{
	u32 room = tp->snd_cwnd < tp->snd_cwnd_clamp ? tp->snd_cwnd_clamp - tp->snd_cwnd : 0;

	tp->snd_cwnd += min_u32(n, room);
}

int tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh || (per_ack(tp) && tp->snd_cwnd == tp->snd_ssthresh);
}

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 used;

	if (per_ack(tp)) {
		grow(tp, min_u32(acked, tp->snd_ssthresh + 1 - tp->snd_cwnd));
		return 0;
	}
	used = min_u32(acked, tp->snd_ssthresh - min_u32(tp->snd_cwnd, tp->snd_ssthresh));
	grow(tp, used);
	return acked - used;
}

void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked)
{
	u32 steps;

	if (tp->snd_cwnd_cnt >= w) {
		tp->snd_cwnd_cnt = 0;
		grow(tp, 1);
		if (per_ack(tp))
			return;
	}
	tp->snd_cwnd_cnt += acked;
	if (per_ack(tp) || tp->snd_cwnd_cnt < w)
		return;
	steps = div_u32(tp->snd_cwnd_cnt, w);
	tp->snd_cwnd_cnt -= steps * w;
	grow(tp, steps);
}

u32 tcp_reno_ssthresh(struct sock *sk)
{
	return max_u32(tcp_sk(sk)->snd_cwnd / 2, 2);
}

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return max_u32(tp->snd_cwnd, per_ack(tp) ? tp->snd_ssthresh << 1 : tp->prior_cwnd);
}

/* splitmix64: one step of a counter, well mixed. */
u32 cc_random(struct sock *sk)
{
	u64 z = tcp_sk(sk)->sim_random += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (u32)(z >> 32 ^ z);
}
