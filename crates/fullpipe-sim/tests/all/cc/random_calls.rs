//! Any calls in any order with any parameters: no crash, a window of at least one packet.

use fullpipe_sim::cc::{
    AckSample, Congestion, Description, Event, INFINITE_SSTHRESH, RateSample, algorithms,
    slow_starts,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A callback, or a change of the socket by the sender.
#[derive(Clone, Debug)]
enum Call {
    Acks {
        times: u16,
        acked: u32,
    },
    Sample {
        pkts_acked: i32,
        rtt_us: i32,
    },
    State(u8),
    Reduce,
    Undo,
    Event(Event),
    /// An ACK with these flags.
    AckEvent(u32),
    Clock(u32),
    Window {
        cwnd: u32,
        ssthresh: u32,
        clamp: u32,
    },
    Timestamp {
        saw: bool,
        echo: u32,
    },
    Limited(bool),
    /// A sample of the delivery rate.
    Control(RateSample),
    /// Packets on their way: lost so far, lost and sent again of those that are out.
    Flight {
        lost: u32,
        lost_out: u32,
        retrans_out: u32,
    },
    /// Packets arrive, others are sent; ssthresh is as at first.
    Progress {
        delivered: u32,
        out: u32,
    },
}

const EVENTS: [Event; 4] = [Event::TxStart, Event::CwndRestart, Event::CompleteCwr, Event::Loss];

/// Small numbers and all numbers, equally often.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..100u32, 1..100_000u32, any::<u32>()]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (1..400u16, number()).prop_map(|(times, acked)| Call::Acks { times, acked }),
        2 => (-2..10i32, any::<i32>()).prop_map(|(pkts_acked, rtt_us)| Call::Sample { pkts_acked, rtt_us }),
        1 => (any::<i32>(), -2..1_000_000i32).prop_map(|(pkts_acked, rtt_us)| Call::Sample { pkts_acked, rtt_us }),
        1 => (0..5u8).prop_map(Call::State),
        1 => Just(Call::Reduce),
        1 => Just(Call::Undo),
        1 => prop::sample::select(EVENTS.to_vec()).prop_map(Call::Event),
        1 => (0..8u32).prop_map(Call::AckEvent),
        2 => number().prop_map(Call::Clock),
        1 => (number(), number(), number()).prop_map(|(cwnd, ssthresh, clamp)| Call::Window {
            cwnd: cwnd.max(1), ssthresh, clamp: clamp.max(1) }),
        1 => (any::<bool>(), number()).prop_map(|(saw, echo)| Call::Timestamp { saw, echo }),
        1 => any::<bool>().prop_map(Call::Limited),
        4 => rate_sample().prop_map(Call::Control),
        1 => (number(), number(), number()).prop_map(|(lost, lost_out, retrans_out)| Call::Flight {
            lost, lost_out, retrans_out }),
        2 => (number(), number()).prop_map(|(delivered, out)| Call::Progress { delivered, out }),
    ]
}

fn rate_sample() -> impl Strategy<Value = RateSample> {
    let time = prop_oneof![-1..100_000i64, any::<i64>()];
    (time, number(), any::<i32>(), -2..1_000_000i32, number(), number(), number(), 0..4u32)
        .prop_map(
            |(
                interval_us,
                prior_delivered,
                delivered,
                rtt_us,
                losses,
                acked_sacked,
                prior_in_flight,
                flags,
            )| {
                RateSample {
                    interval_us,
                    prior_delivered,
                    delivered,
                    rtt_us,
                    losses,
                    acked_sacked,
                    prior_in_flight,
                    is_app_limited: flags & 1,
                    is_ack_delayed: flags >> 1,
                }
            },
        )
}

/// A value within its range for each parameter, chosen by `shares` of the range.
fn parameters(of: &Description, shares: &[u32]) -> Vec<(String, i64)> {
    let value = |(p, share): (&fullpipe_sim::cc::Parameter, &u32)| {
        let width = u64::from(p.max - p.min) + 1;
        let exact = [0, 1, width - 1].get(*share as usize % 8).copied();
        let offset = exact.unwrap_or((u64::from(*share) * width) >> 32);
        (p.name.to_string(), i64::from(p.min) + offset as i64)
    };
    of.parameters.iter().zip(shares).map(value).collect()
}

/// An algorithm and a slow start, or only the kernel's.
fn build(index: [Index; 2], kernel: &str, shares: &[u32], hz: u32) -> Option<Congestion> {
    let (known, slow) = (algorithms(), slow_starts());
    let algorithm = index[0].get(&known);
    let own = parameters(algorithm, shares);
    let flow = Congestion::new(algorithm.name, &own, kernel, hz, 0).ok()?;
    // One more than there are: none.
    match slow.get(index[1].index(slow.len() + 1)) {
        Some(slow) => flow.with_slow_start(slow.name, &parameters(slow, shares)).ok(),
        None => Some(flow),
    }
}

fn apply(flow: &mut Congestion, call: &Call) {
    match *call {
        Call::Acks { times, acked } => (0..times).for_each(|_| flow.cong_avoid(0, acked)),
        Call::Sample { pkts_acked, rtt_us } => {
            flow.pkts_acked(&AckSample { pkts_acked, rtt_us, in_flight: 0 });
        }
        Call::State(state) => flow.set_state(state),
        Call::Reduce => {
            let before = flow.sock().snd_ssthresh;
            let ssthresh = flow.ssthresh();
            // A control of the whole window leaves it as it is.
            assert!(ssthresh >= 2 || flow.controls() && ssthresh == before, "ssthresh {ssthresh}");
            let sock = flow.sock_mut();
            sock.prior_cwnd = sock.snd_cwnd;
            sock.snd_ssthresh = ssthresh;
            sock.snd_cwnd = sock.snd_cwnd.min(ssthresh).max(1);
        }
        Call::Undo => flow.sock_mut().snd_cwnd = flow.undo_cwnd(),
        Call::Event(event) => flow.cwnd_event(event),
        Call::AckEvent(flags) => flow.in_ack_event(flags),
        Call::Clock(jiffies) => {
            let sock = flow.sock_mut();
            sock.jiffies = sock.jiffies.wrapping_add(jiffies);
            sock.now_us = sock.now_us.wrapping_add(u64::from(jiffies) * 100);
        }
        Call::Window { cwnd, ssthresh, clamp } => {
            let sock = flow.sock_mut();
            (sock.snd_cwnd, sock.snd_ssthresh, sock.snd_cwnd_clamp) = (cwnd, ssthresh, clamp);
        }
        Call::Timestamp { saw, echo } => {
            flow.sock_mut().saw_tstamp = u32::from(saw);
            flow.sock_mut().rcv_tsecr = echo;
        }
        Call::Progress { delivered, out } => {
            let sock = flow.sock_mut();
            sock.delivered = sock.delivered.wrapping_add(delivered);
            sock.snd_una = sock.snd_una.wrapping_add(delivered);
            sock.packets_out = out;
            sock.snd_nxt = sock.snd_una.wrapping_add(out);
            sock.snd_ssthresh = INFINITE_SSTHRESH;
        }
        Call::Control(sample) => {
            flow.cong_control(0, &sample);
            let least = flow.min_tso_segs();
            assert!(least.is_none_or(|least| (1..=2).contains(&least)));
        }
        Call::Flight { lost, lost_out, retrans_out } => {
            let now_us = flow.sock().now_us;
            let rates = flow.rates_mut();
            (rates.lost, rates.lost_out, rates.retrans_out) = (lost, lost_out, retrans_out);
            (rates.tcp_mstamp, rates.delivered_mstamp) = (now_us, now_us);
        }
        Call::Limited(limited) => flow.sock_mut().is_cwnd_limited = u32::from(limited),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn any_calls_leave_a_window_and_equal_calls_equal_states(
        index in [any::<Index>(), any::<Index>()],
        kernel in prop::sample::select(vec!["2.6.20", "2.6.24", "2.6.28", "6.12"]),
        shares in vec(any::<u32>(), 23),
        hz in prop::sample::select(vec![1, 31, 100, 250, 1000]),
        calls in vec(call(), 1..60),
    ) {
        // Algorithms of the later kernels alone run as in one of these.
        let kernel = if build(index, kernel, &shares, hz).is_some() { kernel } else { "6.12" };
        let mut flow = build(index, kernel, &shares, hz).expect("all know 6.12");
        let mut twin = build(index, kernel, &shares, hz).expect("as before");
        for flow in [&mut flow, &mut twin] {
            flow.sock_mut().is_cwnd_limited = 1;
            flow.init();
        }
        for call in &calls {
            apply(&mut flow, call);
            apply(&mut twin, call);
            prop_assert!(flow.sock().snd_cwnd >= 1, "{:?} after {call:?}", flow.sock());
        }
        prop_assert_eq!(format!("{:?}", flow.sock()), format!("{:?}", twin.sock()));
        prop_assert_eq!(flow.rates(), twin.rates());
        prop_assert_eq!(flow.private(), twin.private());
        prop_assert_eq!(flow.slow_private(), twin.slow_private());
    }
}
