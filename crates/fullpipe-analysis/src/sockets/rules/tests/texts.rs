//! Rules about pasted texts, and rules that stay quiet where a text lacks what they need.

use super::super::verdicts;
use super::{Cwnd, Facts, Losses, Shares, Window, full};
use crate::document::Confidence;
use crate::pasted::{Column, Pasted};
use std::collections::BTreeMap;

fn first(facts: &Facts) -> Option<&'static str> {
    verdicts(facts).first().map(|verdict| verdict.code)
}

/// Rows of iperf3 in words: rate and cwnd.
fn rows(rate: f64, cwnd: f64, follows: f64, again: u64) -> Facts {
    let hidden = Column::ALL.to_vec();
    Facts {
        pasted: Pasted { hidden, always_writes: true, ..Pasted::default() },
        rate_spread: rate,
        cwnd: Cwnd { median: 200.0, slow_spread: cwnd, follows, ..Cwnd::default() },
        loss: Losses { retransmitted: again, ..Losses::default() },
        looks: 11,
        mss: 1448,
        acked: 1_000_000,
        mbit: 40.0,
        ..Facts::default()
    }
}

#[test]
fn a_rate_that_does_not_follow_cwnd_is_that_of_a_full_path() {
    assert_eq!(first(&rows(0.01, 0.2, 0.1, 20)), Some("none"));
    assert_eq!(first(&rows(0.2, 0.2, 0.9, 20)), Some("loss"));
    let unclear = rows(0.1, 0.2, 0.2, 20);
    assert_eq!(verdicts(&unclear)[0].confidence(), Confidence::CannotTell);
}

#[test]
fn a_cwnd_that_stays_holds_nothing() {
    let own = &verdicts(&rows(0.01, 0.0, 0.0, 0))[0];
    assert_eq!(own.confidence(), Confidence::CannotTell);
    assert!(own.twins.contains(&"sndbuf") && own.who.contains("not cwnd"));
    let own = Facts { pasted: Pasted::default(), ..rows(0.01, 0.0, 0.0, 0) };
    assert!(verdicts(&own).iter().all(|own| own.rule != "rate-and-cwnd"), "a socket shows more");
}

#[test]
fn a_rate_alone_grows_stalls_or_stays() {
    let own = |rises, early, stalls, spread| {
        let mut own = rows(spread, 0.0, 0.0, 0);
        own.cwnd.median = 0.0;
        own.last_mbit = 900.0;
        own.shape.rises = rises;
        own.shape.early_mbit = early;
        own.shape.stalls = stalls;
        first(&own)
    };
    assert_eq!(own(0.95, 60.0, 0, 0.5), Some("ss_short"));
    assert_eq!(own(0.5, 60.0, 0, 0.5), None);
    assert_eq!(own(0.95, 60.0, 2, 0.5), Some("loss"));
    assert_eq!(own(0.5, 900.0, 0, 0.01), Some("rwnd_auto"));
}

#[test]
fn a_program_that_always_writes_and_fills_no_window_has_a_small_buffer() {
    let mut own = full();
    own.main = Shares { idle: 1.0, busy: 1.0, ..Shares::default() };
    own.loss = Losses::default();
    own.cwnd.in_flight = 90.0;
    own.rtt_us = 21_000.0;
    own.rtt_p95_us = 21_000.0;
    own.pasted = Pasted { always_writes: true, hidden: vec![Column::Moments], ..Pasted::default() };
    own.pasted.hidden.extend([Column::Clocks, Column::Acks, Column::State, Column::Memory]);
    assert_eq!(first(&own), Some("sndbuf"));

    // The program was asked for a rate.
    own.pasted.asked = Some((95.0, "iperf3 -b".into()));
    own.pasted.always_writes = false;
    assert_eq!(first(&own), Some("pacing"));
}

#[test]
fn one_look_has_shares_of_totals() {
    let look = |in_flight, last, share, rtt_us, unsent| {
        let mut own = rows(0.0, 0.0, 0.0, 40);
        own.pasted.one_look = true;
        (own.min_rtt_us, own.rtt_us, own.round_trips) = (20_000.0, rtt_us, 100.0);
        (own.cwnd.in_flight, own.cwnd.last, own.cwnd.unsent) = (in_flight, last, unsent);
        (own.loss.share, own.loss.sent) = (share, 40_000);
        own
    };
    assert_eq!(first(&look(20.0, 20.0, 1e-3, 20_500.0, 1e6)), Some("loss"));
    assert_eq!(first(&look(20.0, 20.0, 1e-3, 40_000.0, 1e6)), Some("none"));
    assert_eq!(first(&look(5.0, 20.0, 1e-3, 20_500.0, 0.0)), Some("app_write"));

    // Linux's own clocks decide before.
    let mut own = look(5.0, 20.0, 0.0, 20_500.0, 0.0);
    own.main.rwnd = 0.9;
    own.wscale = true;
    let size = 150_000.0;
    own.window = Window {
        largest: size,
        first: size,
        median: size,
        low: size,
        high: size,
        ..Window::default()
    };
    assert_eq!(first(&own), Some("rwnd_fixed"));
}

#[test]
fn counters_of_a_host_name_places() {
    let with = |counters: &[(&str, u64)]| {
        let counters: BTreeMap<String, u64> =
            counters.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let pasted = Pasted { hidden: Column::ALL.to_vec(), no_socket: true, ..Pasted::default() };
        first(&Facts { pasted, counters, ..Facts::default() })
    };
    assert_eq!(with(&[("ethtool.rx_crc_errors", 3)]), Some("loss"));
    assert_eq!(with(&[("ethtool.rx_missed_errors", 3)]), Some("rx_drop"));
    assert_eq!(with(&[("TcpExt.TCPRcvQDrop", 3)]), Some("rx_drop"));
    assert_eq!(with(&[("TcpExt.ListenOverflows", 3)]), Some("connect"));
    assert_eq!(with(&[("TcpExt.PruneCalled", 3)]), Some("app_read"));
    assert_eq!(with(&[("TcpExt.TCPMemoryPressures", 1)]), Some("tcp_mem"));
    assert_eq!(with(&[("Udp.RcvbufErrors", 1)]), Some("udp"));
    assert_eq!(with(&[("Tcp.RetransSegs", 5), ("Tcp.OutSegs", 1000)]), Some("loss"));
    assert_eq!(with(&[("Tcp.RetransSegs", 5), ("Tcp.OutSegs", 100_000)]), None);
    assert_eq!(with(&[("TcpExt.PruneCalled", 0)]), None);
}

#[test]
fn a_receiving_process_without_rest_is_the_cause() {
    let with = |cpu| {
        let own = full();
        first(&Facts { pasted: Pasted { peer_cpu: Some(cpu), ..Pasted::default() }, ..own })
    };
    assert_eq!(with(0.98), Some("cpu_receiver"));
    assert_eq!(with(0.6), Some("none"));
}
