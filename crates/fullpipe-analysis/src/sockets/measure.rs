//! Measuring: facts from one host's view of a flow.
//!
//! Limits:
//! - Everything between two looks is unknown. A window that was full between them is not seen.

mod buffers;
mod parts;

use super::cuts::cuts;
use super::facts::{Acks, Facts, Losses, Order, Own, Shape, Shares, quantile, spread};
use crate::pasted::Column;
use crate::view::sender::{Flow, Look, Sight};
use buffers::{cwnd, memory, window, window_step};
use fullpipe_base::trace::option;
use fullpipe_base::units::Time;
use parts::parts;
use std::collections::BTreeMap;

/// Part of a connection's life that is its start.
const START: f64 = 0.35;
/// Share of the window above which it counts as full: segments do not fill it to the byte.
const WINDOW_FULL: f64 = 0.85;
/// Bytes unsent up to which the program has nothing to send: one skb, from a write that has just happened.
const NOTHING: u64 = 65_536;

/// Facts of one flow of a sight.
pub fn facts(sight: &Sight, flow: &Flow) -> Facts {
    let looks = &flow.looks[..];
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else {
        return Facts {
            name: flow.name.clone(),
            host: sight.host.name.clone(),
            ..Facts::default()
        };
    };
    let life = seconds(first, last);
    let main = main_part(looks);
    let rtts = main.iter().map(|look| f64::from(look.srtt_us)).filter(|rtt| *rtt > 0.0);
    let rtts: Vec<f64> = rtts.collect();
    let min_rtt = least_rtt(looks);
    let rates = rates(main, min_rtt);
    let pace = |bytes: u64| (bytes < u64::MAX).then_some(bytes as f64 * 8.0 / 1e6);
    let counters = match flow.pasted.no_socket {
        true => sight.host.counters.clone(),
        false => BTreeMap::new(),
    };
    Facts {
        pasted: flow.pasted.clone(),
        counters,
        name: flow.name.clone(),
        host: sight.host.name.clone(),
        congestion: flow.congestion.clone(),
        looks: looks.len(),
        life_s: life,
        round_trips: if min_rtt > 0.0 { life * 1e6 / min_rtt } else { 0.0 },
        acked: last.bytes_acked,
        answered: flow.answered,
        mbit: rate(first, last),
        main_mbit: main.first().map_or(0.0, |from| rate(from, last)),
        last_mbit: rate(&looks[looks.len() - 1 - looks.len() / 5], last),
        peak_mbit: quantile(&rates, 0.9),
        rate_spread: spread(&rates),
        shape: shape(looks),
        min_rtt_us: min_rtt,
        rtt_us: quantile(&rtts, 0.5),
        rtt_spread: spread(&rtts),
        rtt_p95_us: quantile(&rtts, 0.95),
        main: shares(main),
        whole: shares(looks),
        parts: parts(looks),
        longest_pause_s: pauses(looks).into_iter().fold(0.0, f64::max),
        pauses: pauses(looks).len(),
        window: window(looks, main),
        cwnd: cwnd(sight, flow, looks, main),
        buffer: memory(flow, looks, main),
        loss: losses(sight, looks, main, min_rtt),
        order: order(sight, looks),
        acks: if flow.pasted.lacks(&[Column::Acks]) { DELAYED } else { acks(main) },
        own: own(sight, main),
        mss: last.socket.snd_mss,
        pmtu: last.socket.pmtu,
        sack: last.socket.options & option::SACK != 0,
        wscale: last.socket.options & option::WSCALE != 0,
        window_step: window_step(last),
        max_pace_mbit: pace(last.socket.max_pacing_rate).filter(|mbit| *mbit > 0.0),
        pace_mbit: pace(median(main, |look| look.socket.pacing_rate as f64) as u64),
        beside: beside(sight, flow),
    }
}

/// ACKs of a source that does not count them: one for two segments, as receivers delay them.
const DELAYED: Acks = Acks { rate: 0.0, segments: 2.0, spread: 0.0, data_spread: 0.0, growth: 1.0 };

/// Step of RTTs that come from timestamps, us (TCP_TS_HZ of Linux).
const STAMP: u32 = 1_000;

/// Least RTT, us; 0 before the first sample.
///
/// The RTT of a retransmitted segment is measured by timestamps. It is a whole number of milliseconds, and may be one
/// too short. Where the least RTT is a whole number, the shortest finer RTT within that millisecond counts.
fn least_rtt(looks: &[Look]) -> f64 {
    let all = || looks.iter().map(|look| look.socket.min_rtt_us).filter(|rtt| *rtt < u32::MAX);
    let least = all().min().unwrap_or(0);
    let stamped = looks.iter().any(|look| look.socket.options & option::TIMESTAMPS != 0);
    if !stamped || least == 0 || least % STAMP != 0 {
        return f64::from(least);
    }
    let finer = all().filter(|rtt| rtt % STAMP != 0).min();
    let smoothed = looks.iter().map(|look| look.srtt_us).filter(|rtt| *rtt > 0).min();
    let candidates = [finer, smoothed.map(|rtt| rtt.max(least)), Some(least + STAMP)];
    f64::from(candidates.into_iter().flatten().min().unwrap_or(least))
}

/// The looks behind the start.
fn main_part(looks: &[Look]) -> &[Look] {
    let from = (looks.len() as f64 * START) as usize;
    &looks[from.min(looks.len().saturating_sub(1))..]
}

fn seconds(from: &Look, to: &Look) -> f64 {
    to.time.saturating_sub(from.time).as_secs_f64()
}

/// Rate of acknowledged bytes, Mb/s.
fn rate(from: &Look, to: &Look) -> f64 {
    let (bytes, seconds) = (to.bytes_acked.saturating_sub(from.bytes_acked), seconds(from, to));
    if seconds > 0.0 { bytes as f64 * 8.0 / 1e6 / seconds } else { 0.0 }
}

/// Shape of the rate of all intervals.
fn shape(looks: &[Look]) -> Shape {
    let rates: Vec<f64> = looks.windows(2).map(|pair| rate(&pair[0], &pair[1])).collect();
    let fastest = quantile(&rates, 1.0);

    // Growth ends where the rate is nearly the largest one.
    let top = rates.iter().position(|own| *own >= 0.9 * fastest).unwrap_or(0);
    let rising = rates[..top].windows(2).filter(|pair| pair[1] > pair[0]).count();

    // A slow beginning is no stall: the rate was high before.
    let (mut stalls, mut before) = (0, 0.0f64);
    for own in rates.iter().take(rates.len().saturating_sub(1)) {
        stalls += usize::from(20.0 * own < before);
        before = before.max(*own);
    }
    Shape {
        rises: if top > 3 { rising as f64 / (top - 1) as f64 } else { 0.0 },
        stalls,
        early_mbit: rates.get(1).or(rates.first()).copied().unwrap_or(0.0),
    }
}

/// Rates of intervals that last two round trips or more: shorter ones show bursts.
fn rates(looks: &[Look], min_rtt_us: f64) -> Vec<f64> {
    let step = looks.windows(2).next().map_or(1.0, |pair| seconds(&pair[0], &pair[1]) * 1e6);
    let each = (2.0 * min_rtt_us / step.max(1.0)).ceil().max(1.0) as usize;
    let ends: Vec<&Look> = looks.iter().step_by(each).collect();
    ends.windows(2).map(|pair| rate(pair[0], pair[1])).collect()
}

fn median(looks: &[Look], of: impl Fn(&Look) -> f64) -> f64 {
    quantile(&looks.iter().map(of).collect::<Vec<_>>(), 0.5)
}

/// Share of looks at which something holds.
fn part(looks: &[Look], holds: impl Fn(&Look) -> bool) -> f64 {
    looks.iter().filter(|look| holds(look)).count() as f64 / looks.len().max(1) as f64
}

/// Whether packets in flight reach cwnd, except for one packet or the rest of a burst.
fn fills_cwnd(look: &Look) -> bool {
    look.in_flight.saturating_add((look.cwnd / 32).max(1)) >= look.cwnd
}

/// Unacknowledged data fills the receiver's window but for a part that TSO leaves.
fn fills_window(look: &Look) -> bool {
    let bytes = u64::from(look.socket.unacked) * u64::from(look.socket.snd_mss);
    bytes as f64 >= WINDOW_FULL * look.snd_wnd as f64
}

/// Whether both windows have room for more.
fn has_room(look: &Look) -> bool {
    !fills_cwnd(look) && !fills_window(look)
}

fn shares(looks: &[Look]) -> Shares {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else { return Shares::default() };
    let life = last.time.saturating_sub(first.time).as_us().max(1) as f64;
    let grown = |of: fn(&Look) -> u64| of(last).saturating_sub(of(first)) as f64 / life;
    Shares {
        busy: grown(|look| look.socket.busy_time_us).min(1.0),
        rwnd: grown(|look| look.socket.rwnd_limited_us).min(1.0),
        sndbuf: grown(|look| look.socket.sndbuf_limited_us).min(1.0),
        window_full: part(looks, |look| look.has_data() && fills_window(look)),
        cwnd_full: part(looks, fills_cwnd),
        idle: part(looks, |look| look.unsent < NOTHING && has_room(look)),
        held: part(looks, |look| look.unsent >= NOTHING && has_room(look)),
        empty: part(looks, |look| !look.has_data()),
        recovery: part(looks, |look| look.ca_state >= 3),
    }
}

/// Lengths of the runs of looks in which nothing was in the socket, seconds.
fn pauses(looks: &[Look]) -> Vec<f64> {
    let runs = looks.chunk_by(|a, b| a.has_data() == b.has_data());
    let empty = runs.filter(|run| run.iter().all(|look| !look.has_data()));
    empty.map(|run| seconds(&run[0], &run[run.len() - 1])).collect()
}

fn losses(sight: &Sight, looks: &[Look], main: &[Look], min_rtt_us: f64) -> Losses {
    let last = looks.last().copied().unwrap_or_default();
    let before = main.first().map_or(0, |look| look.segments_retransmitted);
    let host = &sight.host;
    let undo = ["Full", "Partial", "DSACK", "Loss"].map(|kind| format!("TcpExt.TCP{kind}Undo"));
    Losses {
        retransmitted: last.segments_retransmitted,
        sent: last.segments_sent,
        share: last.segments_retransmitted as f64 / last.segments_sent.max(1) as f64,
        cuts: cuts(looks, min_rtt_us),
        main_retransmitted: last.segments_retransmitted.saturating_sub(before),
        again: host.counter("TcpExt.TCPLostRetransmit"),
        timeouts: last.socket.total_rto,
        undone: undo.iter().map(|name| host.counter(name)).sum(),
    }
}

fn order(sight: &Sight, looks: &[Look]) -> Order {
    let last = looks.last().copied().unwrap_or_default();
    Order {
        degree: looks.iter().map(|look| look.socket.reordering).max().unwrap_or(0),
        seen: last.socket.reord_seen,
        twice: last.socket.dsack_dups,
        counted: sight.host.counters(&[
            "TcpExt.TCPSACKReorder",
            "TcpExt.TCPTSReorder",
            "TcpExt.TCPRenoReorder",
        ]),
    }
}

fn acks(main: &[Look]) -> Acks {
    let (Some(first), Some(last)) = (main.first(), main.last()) else { return Acks::default() };
    let middle = &main[main.len() / 2];
    let segments = |from: &Look, to: &Look| {
        let bytes = to.bytes_acked.saturating_sub(from.bytes_acked) as f64;
        let acks = to.acks_received.saturating_sub(from.acks_received).max(1) as f64;
        bytes / acks / f64::from(to.socket.snd_mss.max(1))
    };
    let counts = |of: fn(&Look) -> u64| {
        let grown = |pair: &[Look]| of(&pair[1]).saturating_sub(of(&pair[0])) as f64;
        main.windows(2).map(grown).collect::<Vec<f64>>()
    };
    let all = last.acks_received.saturating_sub(first.acks_received) as f64;
    Acks {
        rate: all / seconds(first, last).max(1e-3),
        segments: segments(first, last),
        spread: spread(&counts(|look| look.acks_received)),
        data_spread: spread(&counts(|look| look.socket.delivered)),
        growth: segments(middle, last) / segments(first, middle).max(1e-9),
    }
}

fn own(sight: &Sight, main: &[Look]) -> Own {
    let host = &sight.host;
    let span = main
        .first()
        .map_or((Time::ZERO, Time::ZERO), |first| (first.time, main[main.len() - 1].time));
    let within = |time: Time| span.0 <= time && time <= span.1;
    let queue: Vec<f64> =
        host.queue.iter().filter(|own| within(own.time)).map(|own| own.backlog as f64).collect();
    let waiting = queue.iter().filter(|backlog| **backlog > 0.0).count();
    let cpu: Vec<_> = host.cpu.iter().filter(|own| within(own.time)).collect();
    let busy = cpu.first().zip(cpu.last()).filter(|(a, b)| a.time < b.time);
    let last = host.queue.last().copied().unwrap_or_default();
    let settings = &host.settings;
    let mbit = |bits: u64| bits as f64 / 1e6;
    Own {
        dropped: last.dropped,
        sent: last.sent,
        requeues: last.requeues,
        stops: host.counters(&["ethtool.tx_queue_stopped", "ethtool.tx_busy"]),
        backlogged: waiting as f64 / queue.len().max(1) as f64,
        backlog: quantile(&queue, 0.5),
        cpu: busy.map(|(a, b)| {
            b.busy_ns.saturating_sub(a.busy_ns) as f64
                / b.time.saturating_sub(a.time).as_ns() as f64
        }),
        qdisc: settings.qdisc.clone(),
        qdisc_limit: settings.qdisc_limit,
        maxrate_mbit: settings.maxrate.map(mbit),
        card_mbit: Some(settings.card).filter(|card| *card > 0).map(mbit),
        tx_ring: settings.tx_ring,
        tx_coalesce_us: settings.tx_coalesce_us,
        mtu: settings.mtu,
    }
}

/// Share of other connections in the data of all connections of the host while this one lives.
fn beside(sight: &Sight, flow: &Flow) -> f64 {
    let (Some(first), Some(last)) = (flow.looks.first(), flow.looks.last()) else { return 0.0 };
    let carried = |own: &Flow| {
        let at = |time: Time| {
            let count = own.looks.partition_point(|look| look.time <= time);
            count.checked_sub(1).map_or(0, |at| own.looks[at].bytes_acked)
        };
        at(last.time).saturating_sub(at(first.time)) as f64
    };
    let own = carried(flow);
    let all: f64 = sight.flows.iter().map(carried).sum();
    if all > 0.0 { 1.0 - own / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::facts::Parts;
    use fullpipe_base::tcp::INFINITE_SSTHRESH;
    use fullpipe_base::trace::SenderSocket;

    /// A look each 100 ms: `unacked` of a cwnd of 100 segments of 1,000 bytes, a window of 200 kB, and `unsent` bytes.
    fn look(number: u64, unacked: u32, unsent: u64) -> Look {
        Look {
            time: Time::ms(100 * number),
            cwnd: 100,
            ssthresh: INFINITE_SSTHRESH,
            srtt_us: 25_000,
            in_flight: unacked,
            snd_wnd: 200_000,
            unsent,
            bytes_acked: 125_000 * number,
            acks_received: 50 * number,
            socket: SenderSocket {
                min_rtt_us: 20_000,
                unacked,
                snd_mss: 1_000,
                busy_time_us: 50_000 * number,
                rwnd_limited_us: 20_000 * number,
                sndbuf: 400_000,
                wmem_queued: 100_000,
                max_pacing_rate: u64::MAX,
                pacing_rate: 2_500_000,
                ..SenderSocket::default()
            },
            ..Look::default()
        }
    }

    fn measured(looks: Vec<Look>) -> Facts {
        let flow = Flow { looks, judged: true, ..Flow::default() };
        let sight = Sight { flows: vec![flow.clone()], ..Sight::default() };
        facts(&sight, &flow)
    }

    #[test]
    fn rates_and_chronographs_are_those_of_the_looks() {
        let own = measured((1..=101).map(|n| look(n, 100, 500_000)).collect());
        let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-6, "{value}");
        close(own.life_s, 10.0);
        close(own.mbit, 10.0);
        close(own.peak_mbit, 10.0);
        close(own.rate_spread, 0.0);
        close(own.main.busy, 0.5);
        close(own.main.rwnd, 0.2);
        close(own.main.cwnd_full, 1.0);
        close(own.buffer.used, 0.25);
        close(own.acks.segments, 2.5);
        close(own.round_trips, 500.0);
        close(own.pace_mbit.expect("a pace"), 20.0);
        assert_eq!(own.max_pace_mbit, None);
    }

    #[test]
    fn parts_below_a_segment_wait_as_long_as_nothing_moves() {
        // Each message waits for three looks of 100 ms; the last look of four finds nothing.
        let own = |unacked, n: u64| Look {
            bytes_acked: 1_000 * (n / 4),
            bytes_sent: 1_000 * (n / 4),
            ..look(n, unacked, if n % 4 == 3 { 0 } else { 400 })
        };
        let nagle = measured((0..40).map(|n| own(2, n)).collect()).parts;
        assert_eq!((nagle.by_nagle, nagle.by_cork), (0.75, 0.0));
        assert!((nagle.nagle_s - 0.3).abs() < 1e-9, "{}", nagle.nagle_s);
        let cork = measured((0..40).map(|n| own(0, n)).collect()).parts;
        assert_eq!((cork.by_nagle, cork.by_cork), (0.0, 0.75));

        // A part that grows belongs to a stream, and one that a single look sees may have waited for no time.
        let grows = |n: u64| Look { unsent: 100 + n, ..own(2, n) };
        assert_eq!(measured((0..40).map(grows).collect()).parts.nagle_s, 0.0);

        // Whole segments, and parts behind a full window, are not held by these two.
        for other in [look(1, 2, 1_000), look(1, 100, 400)] {
            assert_eq!(measured(vec![other; 10]).parts, Parts::default());
        }
    }

    #[test]
    fn spreads_tell_which_of_data_and_acks_is_steady() {
        let with = |n: u64, delivered| {
            let look = look(n, 100, 0);
            Look { socket: SenderSocket { delivered, ..look.socket }, ..look }
        };
        let own = measured((1..=60).map(|n| with(n, 100 * n + 20 * (n % 2))).collect());
        assert!(own.acks.spread < 1e-9, "50 ACKs in each interval");
        // Intervals have 80 and 120 segments in turn.
        assert!((own.acks.data_spread - 0.2).abs() < 0.01, "{}", own.acks.data_spread);
    }

    #[test]
    fn each_look_is_full_idle_or_held() {
        let shares =
            |unacked, unsent| measured((1..=20).map(|n| look(n, unacked, unsent)).collect()).main;
        let full = shares(99, 500_000);
        assert_eq!((full.cwnd_full, full.idle, full.held), (1.0, 0.0, 0.0));
        let idle = shares(40, 0);
        assert_eq!((idle.cwnd_full, idle.idle, idle.held), (0.0, 1.0, 0.0));
        let held = shares(40, 500_000);
        assert_eq!((held.cwnd_full, held.idle, held.held), (0.0, 0.0, 1.0));

        let window =
            measured((1..=20).map(|n| Look { snd_wnd: 45_000, ..look(n, 40, 500_000) }).collect())
                .main;
        assert_eq!((window.window_full, window.held), (1.0, 0.0));
    }

    #[test]
    fn pauses_are_runs_of_empty_looks() {
        let bursts = (1..=40).map(|n| look(n, if n % 10 < 5 { 0 } else { 50 }, 0)).collect();
        let own = measured(bursts);
        assert_eq!(own.pauses, 5);
        assert!((own.longest_pause_s - 0.4).abs() < 1e-9);
        assert!((own.whole.empty - 0.5).abs() < 1e-9);
    }

    #[test]
    fn ssthresh_is_early_where_nothing_was_sent_again() {
        let set = |n: u64, again| Look {
            ssthresh: if n > 3 { 60 } else { INFINITE_SSTHRESH },
            segments_retransmitted: if n > 3 { again } else { 0 },
            ..look(n, 100, 500_000)
        };
        let early = measured((1..=20).map(|n| set(n, 0)).collect());
        assert_eq!(early.cwnd.early_ssthresh, Some(60.0));
        assert!(!early.cwnd.from_the_first);
        let lost = measured((1..=20).map(|n| set(n, 5)).collect());
        assert_eq!(lost.cwnd.early_ssthresh, None);
        assert_eq!(lost.loss.cuts.len(), 1);
    }

    #[test]
    fn a_least_rtt_of_whole_milliseconds_comes_from_timestamps() {
        let with = |rtts: &[u32], srtt_us, options| {
            least_rtt(
                &rtts
                    .iter()
                    .enumerate()
                    .map(|(n, rtt)| {
                        let look = look(n as u64 + 1, 100, 0);
                        let socket = SenderSocket { min_rtt_us: *rtt, options, ..look.socket };
                        Look { srtt_us, socket, ..look }
                    })
                    .collect::<Vec<_>>(),
            )
        };
        let stamped = option::TIMESTAMPS;
        let table = [
            (&[2_950, 2_000][..], 3_400, stamped, 2_950.0),
            (&[2_000, 2_000], 2_700, stamped, 2_700.0),
            (&[2_000, 2_000], 9_000, stamped, 3_000.0),
            (&[5_310, 2_000], 9_000, stamped, 3_000.0),
            (&[2_950, 2_000], 3_400, 0, 2_000.0),
            (&[2_950, 2_400], 3_400, stamped, 2_400.0),
        ];
        for (rtts, srtt_us, options, expected) in table {
            assert!((with(rtts, srtt_us, options) - expected).abs() < 1e-9, "{rtts:?} {srtt_us}");
        }
    }

    #[test]
    fn a_window_has_shrunk_where_it_is_clearly_smaller_than_before() {
        let shrunk = |late: u64, ca_state, snd_wscale| {
            let window = |n: u64| {
                let look = look(n, 10, 0);
                let socket = SenderSocket { snd_wscale, ..look.socket };
                let snd_wnd = if n > 10 { late } else { 50_000 };
                Look { snd_wnd, ca_state, socket, ..look }
            };
            measured((1..=20).map(window).collect()).window.shrunk
        };
        assert!(shrunk(40_000, 0, 7) > 0.7);
        assert_eq!(shrunk(45_000, 0, 7), 0.0);
        assert_eq!(shrunk(90_000, 0, 7), 0.0, "growth");
        assert_eq!(shrunk(40_000, 3, 7), 0.0, "holes of lost packets");
        assert_eq!(shrunk(40_000, 0, 14), 0.0, "a step of its scale");
    }

    #[test]
    fn nothing_and_one_look_are_no_panic() {
        assert_eq!(measured(Vec::new()).looks, 0);
        assert_eq!(measured(vec![look(1, 10, 0)]).looks, 1);
    }
}
