//! Congestion controls against figures worked out by hand from their formulas.
//!
//! The figures are ACKs until the window grows by one packet. In kernels up to 3.12 this number is one more than the
//! algorithm's count. BIC and CUBIC scale their count by 16 and divide it by the ACK ratio, which starts at 32 (two
//! packets per ACK).

mod arguments;
mod avoidance;
mod bbr;
mod compound;
mod curve;
mod dialect;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod random_calls;
mod reduction;
mod scalable;
mod search;
mod slow_start;
mod vegas;
mod veno;
mod westwood;
mod yeah;

use fullpipe_sim::cc::{AckSample, Congestion};

/// Jiffies of a fresh flow's clock, away from 0 and from the wrap.
const EPOCH: u32 = 1_000_000;

/// A flow limited by its window, after `init`, at 250 jiffies per second.
fn flow(name: &str, parameters: &[(&str, i64)], kernel: &str) -> Congestion {
    let parameters: Vec<_> = parameters.iter().map(|&(n, v)| (n.to_string(), v)).collect();
    let mut flow = Congestion::new(name, &parameters, kernel, 250, 1).expect("valid arguments");
    flow.sock_mut().jiffies = EPOCH;
    flow.sock_mut().is_cwnd_limited = 1;
    flow.init();
    flow
}

/// A flow in congestion avoidance: `cwnd` above an `ssthresh` of 2.
fn avoiding(name: &str, parameters: &[(&str, i64)], kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = flow(name, parameters, kernel);
    flow.sock_mut().snd_ssthresh = 2;
    set_cwnd(&mut flow, cwnd);
    flow
}

/// A flow that has lost a packet at `cwnd`, its window not yet reduced.
fn after_loss(name: &str, parameters: &[(&str, i64)], kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = avoiding(name, parameters, kernel, cwnd);
    flow.sock_mut().snd_ssthresh = flow.ssthresh();
    flow
}

fn set_cwnd(flow: &mut Congestion, cwnd: u32) {
    flow.sock_mut().snd_cwnd = cwnd;
    flow.sock_mut().snd_cwnd_cnt = 0;
}

/// ACKs of one packet until the window grows, at a standing clock.
fn acks_to_grow(flow: &mut Congestion) -> u32 {
    let before = flow.sock().snd_cwnd;
    let grows = |_: &u32| {
        flow.cong_avoid(0, 1);
        flow.sock().snd_cwnd > before
    };
    (1..10_000_000).find(grows).expect("a window that grows")
}

/// `times` ACKs, each of `packets` skbs, as `pkts_acked` sees them.
fn acked(flow: &mut Congestion, packets: i32, times: u32) {
    for _ in 0..times {
        flow.pkts_acked(&AckSample { pkts_acked: packets, rtt_us: -1, in_flight: 0 });
    }
}
