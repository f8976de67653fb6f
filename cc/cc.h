/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The dialect in which congestion controls are written: all that one may see, change or call.
 * README.md has the rules. This is the native side: a flow of the simulator. Names that a kernel
 * has mean what they mean there; names beginning with sim_ are for the macros below alone.
 */
#ifndef CC_H
#define CC_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

/* ---- what a kernel has: partial structs, closed by construction ---- */

struct sock; /* opaque: go through tcp_sk() and inet_csk_ca() */

struct tcp_sock { /* mirrored by Sock in crates/fullpipe-sim/src/cc/sock.rs */
	u32 snd_cwnd;       /* packets; writable */
	u32 snd_cwnd_cnt;   /* ACKs (packets) counted towards the next increment; writable */
	u32 snd_cwnd_stamp; /* jiffies; writable */
	u32 snd_ssthresh;   /* packets; writable */
	u32 snd_cwnd_clamp; /* packets, at least 1 */
	u32 prior_cwnd;     /* packets, cwnd before the last reduction */
	u32 packets_out;    /* packets */
	u32 srtt_us;        /* us << 3 */
	u32 mss_cache;      /* bytes */
	u32 delivered;      /* packets */
	u32 snd_nxt;        /* sequence number of the next byte to be sent first, wraps */
	u32 snd_una;        /* the first one that is not acknowledged, wraps */
	u32 lsndtime;       /* jiffies, when data was last sent */
	u32 sim_prior_in_flight, sim_is_cwnd_limited, sim_ca_state;
	u32 sim_saw_tstamp, sim_rcv_tsecr, sim_jiffies, sim_hz;
	u64 sim_now_us, sim_pacing_rate;
	u32 sim_pacing_status;
	u64 sim_private[13]; /* icsk_ca_priv */
	u64 sim_random;
	u32 sim_helpers;
	u32 sim_param[23];
	u32 sim_slow_param[8];
	u64 sim_slow_private[25]; /* in BPF: sk_storage */
	u32 (*sim_slow_start)(struct sock *sk, u32 acked);
	u32 sim_exits[4]; /* by a train of ACKs: how many, sum of their cwnds; by delay: the same */

	/* Kept up to date where there is a cong_control, else 0. */
	u64 tcp_mstamp;       /* us, the clock at the packet or timer in hand */
	u64 delivered_mstamp; /* us, when delivered last grew */
	u64 tcp_clock_cache;  /* ns, the clock when it was last read */
	u64 tcp_wstamp_ns;    /* ns, when the pace lets the next skb leave */
	u64 sim_max_pacing_rate;
	u32 lost;             /* packets ever marked lost */
	u32 app_limited;      /* what delivered has to pass until the application does not limit; 0: it does not */
	u32 sacked_out, lost_out, retrans_out; /* packets */
	u32 sim_min_rtt_us;
};

struct rate_sample { /* mirrored by RateSample in crates/fullpipe-sim/src/cc/sock.rs */
	s64 interval_us;      /* in which so many were delivered; not positive: no sample */
	u32 prior_delivered;  /* tp->delivered when the newest packet that arrived was sent */
	s32 delivered;        /* packets since then; negative: no sample */
	s32 rtt_us;           /* negative: none */
	u32 losses;           /* packets that this ACK marked lost */
	u32 acked_sacked;     /* packets that it delivered */
	u32 prior_in_flight;  /* packets in flight before it */
	u32 is_app_limited;   /* the application limited the sender when that packet was sent */
	u32 is_ack_delayed;   /* the receiver may have waited with the ACK */
};

struct ack_sample {
	u32 pkts_acked; /* what the kernel version counts: skbs or segments */
	s32 rtt_us;     /* negative: none */
	u32 in_flight;  /* packets, when the acknowledged one was sent */
};

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

/* Kernel helpers; native/kernel.c has the simulator's, for each range of kernel versions. */
int tcp_in_slow_start(const struct tcp_sock *tp);
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked); /* returns packets not used up */
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked); /* one increment per w */
u32 tcp_reno_ssthresh(struct sock *sk);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_undo_cwnd(struct sock *sk);

#define tcp_sk(sk) ((struct tcp_sock *)(sk))
#define inet_csk_ca(sk) ((void *)tcp_sk(sk)->sim_private) /* 104 bytes, zero at first */
#define sk_pacing_rate(sk) (tcp_sk(sk)->sim_pacing_rate) /* bytes per second */
#define sk_is_paced(sk) (tcp_sk(sk)->sim_pacing_status != 0) /* by fq or TCP itself */
#define sk_max_pacing_rate(sk) (tcp_sk(sk)->sim_max_pacing_rate) /* bytes per second */
#define sk_pacing_shift(sk) 10
#define MAX_TCP_HEADER 192u /* bytes, of a kernel without WLAN and tunnels */
#define TCP_INIT_CWND 10u
#define TCP_INFINITE_SSTHRESH 0x7fffffffu
#define tcp_min_rtt(tp) ((tp)->sim_min_rtt_us) /* us; ~0u: none yet */
#define tcp_is_cwnd_limited(sk) (tcp_sk(sk)->sim_is_cwnd_limited != 0)
#define tcp_ca_state(sk) (tcp_sk(sk)->sim_ca_state)
#define tcp_saw_tstamp(sk) (tcp_sk(sk)->sim_saw_tstamp != 0)
#define tcp_rcv_tsecr(sk) (tcp_sk(sk)->sim_rcv_tsecr) /* echoed timestamp, in jiffies; 0: none */

/* ---- clock, chance, arithmetic ---- */

enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };
enum tcp_ca_event { CA_EVENT_TX_START, CA_EVENT_CWND_RESTART, CA_EVENT_COMPLETE_CWR, CA_EVENT_LOSS };

#define cc_jiffies(sk) (tcp_sk(sk)->sim_jiffies) /* wraps */
#define cc_hz(sk) (tcp_sk(sk)->sim_hz)           /* jiffies per second */
#define cc_now_us(sk) (tcp_sk(sk)->sim_now_us)
static inline int cc_after(u32 a, u32 b) { return (s32)(a - b) > 0; } /* sequence numbers, jiffies */
u32 cc_random(struct sock *sk); /* uniform over 32 bits */

static inline u32 cc_random_below(struct sock *sk, u32 n) /* 0 to n - 1 */
{
	return (u32)((u64)cc_random(sk) * n >> 32);
}
static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}
static inline void cc_set_pacing_rate(struct sock *sk, u64 rate) { sk_pacing_rate(sk) = rate; }
static inline void cc_want_pacing(struct sock *sk) /* TCP paces itself unless fq does */
{
	if (!sk_is_paced(sk))
		tcp_sk(sk)->sim_pacing_status = 1;
}

/* Any division by what is not a constant: x/0 is 0, as in BPF. */
static inline u32 div_u32(u32 a, u32 b) { return b ? a / b : 0; }
static inline u64 div_u64(u64 a, u64 b) { return b ? a / b : 0; }
static inline u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }
static inline u32 max_u32(u32 a, u32 b) { return a > b ? a : b; }
static inline u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }
static inline u32 fls64(u64 a) { return a ? 64 - (u32)__builtin_clzll(a) : 0; }
static inline u32 cc_ms_to_jiffies(u32 ms, u32 hz) /* rounded up */
{
	return (u32)(((u64)ms * hz + 999) / 1000);
}
static inline u32 cc_us_to_jiffies(u64 us, u32 hz) /* rounded up */
{
	return (u32)div_u64(us * hz + 999999, 1000000);
}

static inline u32 tcp_current_ssthresh(const struct tcp_sock *tp) /* three quarters of cwnd, unless it shrinks */
{
	u32 cwnd = tp->snd_cwnd, state = tp->sim_ca_state;

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery)
		return tp->snd_ssthresh;
	return max_u32(tp->snd_ssthresh, (cwnd / 2) + (cwnd / 4));
}

/* ---- RTTs as Vegas and its kin take them: us, and one more, so that none is 0 ---- */

#define CC_NO_RTT 0x7fffffffu
struct cc_rtts {
	u32 base;  /* least of the path */
	u32 least; /* least of the round trip; CC_NO_RTT: none yet */
	u16 count; /* samples of the round trip, wraps */
};
static inline void cc_take_rtt(struct cc_rtts *rtts, s32 rtt_us)
{
	if (rtt_us < 0)
		return;
	rtts->base = min_u32(rtts->base, (u32)rtt_us + 1);
	rtts->least = min_u32(rtts->least, (u32)rtt_us + 1);
	rtts->count++;
}

/* ---- parameters: X-macro of rows P(name, unit, min, max, meaning, SINCE(...), ...) ---- */

struct cc_default { u32 since, value; };
struct cc_param {
	const char *name, *unit, *meaning;
	u32 min, max;
	struct cc_default defaults[4]; /* ascending; unused ones have since 0 */
};
#define KERNEL(a, b, c) ((u32)(a) << 16 | (b) << 8 | (c))
#define SINCE(a, b, c, value) { KERNEL(a, b, c), value }
#define CC_INDEX(name, ...) CC_P_##name,
#define CC_ROW(name, unit, min, max, meaning, ...) { #name, unit, meaning, min, max, { __VA_ARGS__ } },
#define CC_PARAMS(rows)                                                                             \
	enum { rows(CC_INDEX) CC_P_COUNT };                                                         \
	static const struct cc_param cc_params[] = { rows(CC_ROW) };                                \
	_Static_assert(CC_P_COUNT <= 23, "at most 23 parameters");
#define param(sk, name) (tcp_sk(sk)->sim_param[CC_P_##name])

/* ---- slow start: the flow's own kind (slow_start/), else the kernel's ---- */

#define cc_slow_start_ca(sk) ((void *)tcp_sk(sk)->sim_slow_private) /* 200 bytes, zero at first */
#define slow_param(sk, name) (tcp_sk(sk)->sim_slow_param[CC_P_##name])
#define CC_FIRST_SSTHRESH 0x7fffffffu /* packets; no reduction has been yet */
static inline u32 cc_slow_start(struct sock *sk, u32 acked) /* returns packets not used up */
{
	struct tcp_sock *tp = tcp_sk(sk);

	return tp->sim_slow_start ? tp->sim_slow_start(sk, acked) : tcp_slow_start(tp, acked);
}

/* What nstat tells of HyStart (TCPHystartTrainDetect and so on): slow start ends at the present cwnd. */
static inline void cc_count_exit(struct sock *sk, int by_train, int by_delay)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->sim_exits[0] += by_train != 0;
	tp->sim_exits[1] += by_train ? tp->snd_cwnd : 0;
	tp->sim_exits[2] += by_delay != 0;
	tp->sim_exits[3] += by_delay ? tp->snd_cwnd : 0;
}

/* ---- constant tables, callbacks, registration ---- */

#define CC_TABLE(type, name) static const type name[]
#define CC_CALLBACK(type, name, ...) static type name(__VA_ARGS__)

struct cc_algorithm { /* mirrored by Algorithm in crates/fullpipe-sim/src/cc/ffi.rs */
	const char *name, *title;
	const struct cc_param *params;
	u32 param_count;
	u32 first_kernel;     /* 0: any; else behaviour of earlier ones is not here */
	u32 last_kernel;      /* 0: any; else behaviour of later ones is not here */
	u32 min_cwnd_shift;   /* rate halving's floor is ssthresh >> this */
	u32 us_rtt_param;     /* 1 + index of the parameter that asks for RTTs in us below HZ 1000; 0: none */
	void (*init)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*set_state)(struct sock *sk, u8 new_state);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*cwnd_event)(struct sock *sk, u32 event);
	/* In the place of cong_avoid, of the reduction after losses and of TCP's own pacing rate. */
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*min_tso_segs)(struct sock *sk);  /* least segments of an skb, unless that is cwnd's end */
	u32 (*sndbuf_expand)(struct sock *sk); /* windows for which the send buffer has room */
	void (*in_ack_event)(struct sock *sk, u32 flags); /* after pkts_acked, whatever the ACK is */
};
#define CC_PRIVATE(type) _Static_assert(sizeof(type) <= 104, "private state: at most 104 bytes");
#define CC_US_RTT_IF(name) .us_rtt_param = CC_P_##name + 1
#define CC_WITH_PARAMS .params = cc_params, .param_count = CC_P_COUNT

struct cc_slow_start_kind { /* mirrored by SlowStart in crates/fullpipe-sim/src/cc/ffi.rs */
	const char *name, *title;
	const struct cc_param *params;
	u32 param_count;
	u32 us_rtt; /* 1: asks for RTTs in us below HZ 1000 */
	void (*init)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample); /* before the algorithm's */
	u32 (*grow)(struct sock *sk, u32 acked);                              /* in tcp_slow_start's place */
};
#define CC_SLOW_PRIVATE(type) _Static_assert(sizeof(type) <= 200, "slow start's state: at most 200 bytes");
#define CC_SLOW_START(id, called, ...)                                                              \
	_Static_assert(CC_P_COUNT <= 8, "slow start: at most 8 parameters");                        \
	const struct cc_slow_start_kind cc_slow_start_##id = { .name = called, CC_WITH_PARAMS, __VA_ARGS__ };

#define CC_REGISTER(id, ...) const struct cc_algorithm cc_##id = { .name = #id, __VA_ARGS__ };

#endif
