//! BBR against figures of its paper, and of the kernel's module where they depend on rounding.

use super::EPOCH;
use fullpipe_sim::cc::{Congestion, Event, INFINITE_SSTHRESH, LOSS, OPEN, RECOVERY, RateSample};

const MSS: u32 = 1448;
const RTT_US: u32 = 40_000;
/// Packets that a path of 100 Mb/s holds in that time, about.
const PIPE: u32 = 332;

/// A flow of 6.12 after a handshake of `rtt_us`, at 1000 jiffies per second.
fn begun(rtt_us: u32) -> Congestion {
    let mut flow = Congestion::new("bbr", &[], "6.12", 1000, 1).expect("valid arguments");
    let sock = flow.sock_mut();
    (sock.jiffies, sock.snd_cwnd, sock.mss_cache) = (EPOCH, 10, MSS);
    (sock.srtt_us, sock.delivered, sock.pacing_rate) = (rtt_us << 3, 1, u64::MAX);
    let rates = flow.rates_mut();
    (rates.min_rtt_us, rates.max_pacing_rate) = (rtt_us, u64::MAX);
    flow.init();
    flow
}

fn sample(flow: &Congestion, delivered: u32, interval_us: u32) -> RateSample {
    RateSample {
        interval_us: interval_us.into(),
        prior_delivered: flow.sock().delivered - delivered,
        delivered: delivered as i32,
        rtt_us: interval_us as i32,
        losses: 0,
        acked_sacked: delivered,
        prior_in_flight: delivered,
        is_app_limited: 0,
        is_ack_delayed: 0,
    }
}

/// One ACK for a whole round trip of RTT_US, in which so many packets were delivered.
fn round(flow: &mut Congestion, delivered: u32) {
    ack(flow, delivered, 0, |_| {});
}

/// An ACK after `losses` losses; `change` alters the sample.
fn ack(flow: &mut Congestion, delivered: u32, losses: u32, change: impl Fn(&mut RateSample)) {
    let sock = flow.sock_mut();
    sock.jiffies += RTT_US / 1000;
    sock.now_us += u64::from(RTT_US);
    sock.delivered += delivered;
    sock.packets_out = delivered;
    let now_us = sock.now_us;
    let rates = flow.rates_mut();
    (rates.tcp_mstamp, rates.delivered_mstamp) = (now_us, now_us);
    (rates.tcp_clock_cache, rates.tcp_wstamp_ns) = (now_us * 1000, now_us * 1000);
    rates.lost += losses;
    let mut sample = sample(flow, delivered, RTT_US);
    sample.losses = losses;
    change(&mut sample);
    flow.cong_control(0, &sample);
}

/// 99 % of a full pipe, bytes per second.
fn rate() -> f64 {
    f64::from(PIPE * MSS) / f64::from(RTT_US) * 1e6 * 0.99
}

/// One that has filled its pipe, left DRAIN and is at most in its third round of PROBE_BW.
fn cruising() -> Congestion {
    let mut flow = begun(RTT_US);
    (0..6).for_each(|_| round(&mut flow, PIPE));
    flow
}

/// 2.887 x 0.99 x 10 packets per 40,005 us, as the module of 6.12 sets it.
#[test]
fn the_first_pace_is_the_first_window_per_rtt() {
    let flow = begun(40_005);
    assert_eq!(flow.sock().pacing_rate, 1_034_220);
    assert_eq!((flow.sock().pacing_status, flow.sock().snd_ssthresh), (1, INFINITE_SSTHRESH));
}

/// Cwnd grows by all delivered packets while each round trip delivers more. Three round trips without a quarter more
/// end STARTUP. ssthresh then marks the product, 332 packets and three skbs of 8 segments, and the window is two
/// products.
#[test]
fn three_rounds_without_growth_fill_the_pipe() {
    let mut flow = begun(RTT_US);
    for delivered in [10, 20, 40, 80, 160, PIPE] {
        let before = flow.sock().snd_cwnd;
        round(&mut flow, delivered);
        assert_eq!(flow.sock().snd_cwnd, before + delivered);
    }
    for _ in 0..2 {
        round(&mut flow, PIPE);
        assert_eq!(flow.sock().snd_ssthresh, INFINITE_SSTHRESH);
    }
    round(&mut flow, PIPE);
    let marked = flow.sock().snd_ssthresh;
    assert!((PIPE + 3 * 20..PIPE + 3 * 24).contains(&marked), "{marked}");
}

/// The pace in PROBE_BW is 5/4, 3/4 or all of 99 % of the rate, and each is seen within a cycle.
#[test]
fn the_pace_cycles_around_the_rate() {
    let mut flow = cruising();
    let mut seen = [0; 3];
    for turn in 0..160 {
        // A phase lasts longer than the least RTT, so every other ACK is of the same one.
        match turn % 2 {
            0 => ack(&mut flow, PIPE, 0, |sample| sample.prior_in_flight = 2 * PIPE),
            _ => ack(&mut flow, 1, 0, |sample| (sample.delivered, sample.interval_us) = (-1, -1)),
        }
        let share = flow.sock().pacing_rate as f64 / rate();
        let which = [0.75, 1.0, 1.25].iter().position(|gain| (share - gain).abs() < 0.002);
        seen[which.unwrap_or_else(|| panic!("{share} in turn {turn}"))] += 1;
    }
    assert!(seen.iter().all(|times| *times >= 5), "{seen:?}");
    assert!(seen[1] > seen[0] + seen[2], "{seen:?}");
}

/// The largest rate of ten round trips counts: a slower path is believed after these.
#[test]
fn a_rate_is_forgotten_after_ten_rounds() {
    let mut flow = cruising();
    let share = |flow: &Congestion| flow.sock().pacing_rate as f64 / rate();
    for _ in 0..9 {
        round(&mut flow, PIPE / 2);
    }
    assert!(share(&flow) > 0.749, "{}", share(&flow));
    for _ in 0..3 {
        round(&mut flow, PIPE / 2);
    }
    assert!(share(&flow) < 1.251 / 2.0, "{}", share(&flow));
}

/// Samples that include an application's pauses do not lower the rate, but may raise it.
#[test]
fn samples_of_a_limited_application_only_raise() {
    let mut flow = cruising();
    let before = flow.private().to_owned();
    ack(&mut flow, 1, 0, |sample| {
        (sample.is_app_limited, sample.delivered) = (1, 1);
    });
    let [largest, after] = [before, *flow.private()].map(|state| state[4]);
    assert_eq!(largest, after);
    let pace = flow.sock().pacing_rate;
    ack(&mut flow, 2 * PIPE, 0, |sample| sample.is_app_limited = 1);
    assert!(flow.sock().pacing_rate > pace * 5 / 4, "{}", flow.sock().pacing_rate);
}

/// Cwnd is four packets for 200 ms after ten seconds without an RTT as small, then the window as before.
#[test]
fn a_least_rtt_is_looked_for_every_ten_seconds() {
    let mut flow = cruising();
    let longer = |sample: &mut RateSample| sample.rtt_us = RTT_US as i32 + 1;
    let mut small = Vec::new();
    for turn in 0..300 {
        ack(&mut flow, PIPE, 0, longer);
        if flow.sock().snd_cwnd == 4 {
            small.push(turn);
            flow.sock_mut().packets_out = 4;
            ack(&mut flow, 4, 0, longer);
        }
    }
    // The first round trip that ends later than 10 s is the 251st, and six were before.
    assert_eq!(small[0], 251 - 6 - 1);
    assert!((4..8).contains(&small.len()), "{small:?}");
    assert!(flow.sock().snd_cwnd > 2 * PIPE, "{}", flow.sock().snd_cwnd);
}

/// A loss lowers neither ssthresh nor, once recovery is over, the window; in its first round trip what is delivered is sent.
#[test]
fn a_loss_is_no_sign_of_a_full_pipe() {
    let mut flow = cruising();
    round(&mut flow, PIPE);
    let [window, ssthresh] = [flow.sock().snd_cwnd, flow.sock().snd_ssthresh];
    assert_eq!(flow.ssthresh(), ssthresh);
    flow.set_state(RECOVERY);
    ack(&mut flow, 2, 1, |_| {});
    assert_eq!(flow.sock().snd_cwnd, 4, "in flight and acknowledged");
    flow.set_state(OPEN);
    round(&mut flow, 2);
    assert!(flow.sock().snd_cwnd >= window - 8, "{} of {window}", flow.sock().snd_cwnd);
}

/// A policer: each interval of more than four round trips loses more than 50 of 256. Two equal intervals give the rate
/// itself.
#[test]
fn two_lossy_intervals_are_a_policers_rate() {
    let mut flow = cruising();
    let policed = PIPE / 4;
    for _ in 0..16 {
        ack(&mut flow, policed, policed / 4, |_| {});
    }
    let rate = f64::from(policed * MSS) / f64::from(RTT_US) * 1e6 * 0.99;
    let share = flow.sock().pacing_rate as f64 / rate;
    assert!((share - 1.0).abs() < 0.002, "{share}");
}

/// The pipe counts as not measured after a timeout; a mistaken timeout leaves the window.
#[test]
fn an_undone_timeout_leaves_the_window() {
    let mut flow = cruising();
    flow.set_state(LOSS);
    assert_eq!(flow.undo_cwnd(), flow.sock().snd_cwnd);
}

/// The pace is the rate itself after a pause of the application, in any phase.
#[test]
fn a_pause_ends_at_the_rate() {
    let mut flow = cruising();
    for _ in 0..9 {
        round(&mut flow, PIPE);
        flow.rates_mut().app_limited = 1;
        flow.cwnd_event(Event::TxStart);
        let share = flow.sock().pacing_rate as f64 / rate();
        assert!((share - 1.0).abs() < 0.002, "{share}");
        flow.rates_mut().app_limited = 0;
    }
}

/// Skbs of slow flows are single segments, and the send buffer has room for three windows.
#[test]
fn it_has_small_skbs_and_large_buffers() {
    let mut flow = begun(RTT_US);
    assert_eq!((flow.min_tso_segs(), flow.sndbuf_expand()), (Some(2), 3));
    flow.sock_mut().pacing_rate = 149_999;
    assert_eq!(flow.min_tso_segs(), Some(1));
}

/// Kernels that pace and sample otherwise are refused.
#[test]
fn older_kernels_are_refused() {
    let error = Congestion::new("bbr", &[], "3.14", 1000, 1).err().expect("a refusal");
    assert_eq!(error.to_string(), "bbr does not know kernel \"3.14\"; known: 6.1.0 and later");
}
