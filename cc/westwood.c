/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * westwood: Reno whose window after a loss is what the path carried. Bytes that ACKs acknowledge, per
 * round trip and smoothed twice, times the least RTT are the new window and threshold.
 *
 * Source: Grieco, Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP
 * Congestion Control", ACM CCR 34 (2004); behaviour of Linux 6.12 (tcp_westwood.c), with which runs of
 * 6.1 agree.
 * Deviations: kernels before 6.1 and after 6.12 are refused, because nobody compared them. Against the
 * paper, as in Linux: the fast path counts bytes after duplicates once more, and an update of the
 * window counts as a packet. Times are whole jiffies, and bandwidth is whole bytes per jiffy. The
 * measured window sets in when a reduction has ended, so that half of cwnd is the bound until then.
 * Parameters: none.
 */
#include "cc.h"

#define INIT_RTT_S 20u
#define WINDOWS_PER_S 20u /* at most: a sample lasts 50 ms or longer */

struct westwood {
	u32 bw_ns_est;  /* bytes per jiffy, smoothed once */
	u32 bw_est;     /* smoothed twice */
	u32 rtt_win_sx; /* jiffies, beginning of the sample */
	u32 bk;         /* bytes of the sample */
	u32 snd_una;    /* of the ACK before */
	u32 accounted;  /* bytes counted by duplicates */
	u32 rtt;        /* jiffies, of the last ACK */
	u32 rtt_min;    /* jiffies, since the last timeout */
	u8 first_ack;
	u8 reset_rtt_min;
};
CC_PRIVATE(struct westwood)

CC_CALLBACK(void, westwood_init, struct sock *sk)
{
	struct westwood *ca = inet_csk_ca(sk);
	u32 rtt = INIT_RTT_S * cc_hz(sk);

	*ca = (struct westwood){
		.rtt = rtt, .rtt_min = rtt, .rtt_win_sx = cc_jiffies(sk),
		.snd_una = tcp_sk(sk)->snd_una, .first_ack = 1, .reset_rtt_min = 1
	};
}

CC_CALLBACK(void, westwood_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct westwood *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		ca->rtt = cc_us_to_jiffies((u64)sample->rtt_us, cc_hz(sk));
}

static u32 smoothed(u32 mean, u32 sample)
{
	return (7 * mean + sample) / 8;
}

/* A sample of at least an RTT and 50 ms goes to the filters. */
static void end_sample(struct sock *sk, struct westwood *ca)
{
	u32 lasts = cc_jiffies(sk) - ca->rtt_win_sx, rate;

	if (ca->first_ack) {
		ca->snd_una = tcp_sk(sk)->snd_una;
		ca->first_ack = 0;
	}
	if (!ca->rtt || lasts <= max_u32(ca->rtt, cc_hz(sk) / WINDOWS_PER_S))
		return;
	rate = div_u32(ca->bk, lasts);
	if (!ca->bw_ns_est && !ca->bw_est) {
		ca->bw_ns_est = rate;
		ca->bw_est = rate;
	} else {
		ca->bw_ns_est = smoothed(ca->bw_ns_est, rate);
		ca->bw_est = smoothed(ca->bw_est, ca->bw_ns_est);
	}
	ca->bk = 0;
	ca->rtt_win_sx = cc_jiffies(sk);
}

/* Bytes of an ACK. A duplicate counts as a packet, which the ACK that makes up for it does not count again. */
static u32 count(const struct tcp_sock *tp, struct westwood *ca)
{
	u32 bytes = tp->snd_una - ca->snd_una;

	if (!bytes) {
		ca->accounted += tp->mss_cache;
		return tp->mss_cache;
	}
	if (bytes <= tp->mss_cache)
		return bytes;
	if (ca->accounted >= bytes) {
		ca->accounted -= bytes;
		return tp->mss_cache;
	}
	bytes -= ca->accounted;
	ca->accounted = 0;
	return bytes;
}

CC_CALLBACK(void, westwood_in_ack_event, struct sock *sk, u32 flags)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct westwood *ca = inet_csk_ca(sk);

	end_sample(sk, ca);
	if (flags & CA_ACK_SLOWPATH)
		ca->bk += count(tp, ca);
	else
		ca->bk += tp->snd_una - ca->snd_una;
	ca->snd_una = tp->snd_una;

	if (ca->reset_rtt_min) {
		ca->rtt_min = ca->rtt;
		ca->reset_rtt_min = 0;
	} else {
		ca->rtt_min = min_u32(ca->rtt_min, ca->rtt);
	}
}

/* What the path carries in the least RTT, packets. */
static u32 carried(struct sock *sk, const struct westwood *ca)
{
	return max_u32(div_u32(ca->bw_est * ca->rtt_min, tcp_sk(sk)->mss_cache), 2);
}

CC_CALLBACK(void, westwood_cwnd_event, struct sock *sk, u32 event)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct westwood *ca = inet_csk_ca(sk);

	if (event == CA_EVENT_COMPLETE_CWR) {
		tp->snd_ssthresh = carried(sk, ca);
		tp->snd_cwnd = tp->snd_ssthresh;
	} else if (event == CA_EVENT_LOSS) {
		tp->snd_ssthresh = carried(sk, ca);
		ca->reset_rtt_min = 1;
	}
}

CC_CALLBACK(void, westwood_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

CC_CALLBACK(u32, westwood_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

CC_CALLBACK(u32, westwood_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

CC_REGISTER(westwood, .title = "TCP Westwood+ (2004)", .first_kernel = KERNEL(6, 1, 0),
	    .last_kernel = KERNEL(6, 12, 255), .init = westwood_init,
	    .ssthresh = westwood_ssthresh, .cong_avoid = westwood_cong_avoid,
	    .pkts_acked = westwood_pkts_acked, .undo_cwnd = westwood_undo_cwnd,
	    .cwnd_event = westwood_cwnd_event, .in_ack_event = westwood_in_ack_event)
