//! Rules on facts made by hand: each fires on its cause, and is quiet on a case near it.

mod acks;
mod texts;

use super::super::facts::{
    Acks, Cut, Cwnd, Facts, Losses, Memory, Order, Own, Parts, Shares, Window,
};
use super::verdicts;
use crate::document::Confidence;

/// A path of 100 Mb/s and 20 ms that cwnd fills, with two losses at its full queue.
fn full() -> Facts {
    let held = Shares { busy: 1.0, cwnd_full: 1.0, ..Shares::default() };
    Facts {
        looks: 60,
        life_s: 6.0,
        round_trips: 300.0,
        acked: 70_000_000,
        mbit: 94.0,
        main_mbit: 95.0,
        last_mbit: 95.0,
        peak_mbit: 95.5,
        min_rtt_us: 20_000.0,
        rtt_us: 30_000.0,
        rtt_p95_us: 34_000.0,
        main: held,
        whole: held,
        window: Window {
            largest: 8e6,
            first: 65_535.0,
            median: 8e6,
            low: 8e6,
            high: 8e6,
            ..Window::default()
        },
        cwnd: Cwnd {
            median: 250.0,
            largest: 300.0,
            last: 260.0,
            growth: 1.05,
            in_flight: 248.0,
            ..Cwnd::default()
        },
        buffer: Memory {
            used: 0.67,
            limit: 2e6,
            first: 1e5,
            tuned: 4_000_000,
            ..Memory::default()
        },
        loss: losses(&[(30, 1.7, 300.0), (4, 1.7, 290.0)]),
        order: Order { degree: 3, ..Order::default() },
        acks: Acks { rate: 4_000.0, segments: 2.0, spread: 0.05, data_spread: 0.05, growth: 1.0 },
        own: Own {
            sent: 40_000,
            cpu: Some(0.1),
            qdisc: "fq_codel".into(),
            qdisc_limit: Some(10_240),
            card_mbit: Some(1_000.0),
            tx_ring: 1024,
            mtu: 1500,
            ..Own::default()
        },
        mss: 1448,
        pmtu: 1500,
        sack: true,
        wscale: true,
        window_step: 128.0,
        ..Facts::default()
    }
}

/// Epochs: segments, RTT over its least, cwnd.
fn losses(cuts: &[(u64, f64, f64)]) -> Losses {
    let cut = |(segments, rtt, cwnd): &(u64, f64, f64)| Cut {
        segments: *segments,
        rtt: *rtt,
        cwnd: *cwnd,
        ..Cut::default()
    };
    let retransmitted = cuts.iter().map(|cut| cut.0).sum();
    Losses { retransmitted, cuts: cuts.iter().map(cut).collect(), ..Losses::default() }
}

/// The path without a queue and without losses.
fn empty() -> Facts {
    Facts { rtt_us: 20_400.0, rtt_p95_us: 20_800.0, loss: Losses::default(), ..full() }
}

/// The flow with room in cwnd.
fn with_room(main: Shares) -> Facts {
    let main = Shares { cwnd_full: 0.0, ..main };
    Facts { main, whole: Shares { empty: main.empty, ..full().whole }, ..empty() }
}

fn code(facts: &Facts) -> &'static str {
    verdicts(facts).first().map_or("-", |verdict| verdict.code)
}

fn points(facts: &Facts) -> f64 {
    verdicts(facts).first().map_or(0.0, |verdict| verdict.points)
}

/// The code that a change of the facts makes, and another code from a case near it.
fn check(expected: &str, facts: &Facts, near: &Facts) {
    assert_eq!(code(facts), expected, "{:?}", verdicts(facts));
    let all: Vec<&str> = verdicts(near).iter().map(|verdict| verdict.code).collect();
    assert!(!all.contains(&expected), "{expected} on a case near it: {all:?}");
}

#[test]
fn a_full_path_is_one_that_queues() {
    check("none", &full(), &empty());
    check("compete", &Facts { beside: 0.5, ..full() }, &Facts { beside: 0.05, ..full() });

    // Losses at a long RTT show a queue that is empty later, where cwnd fills the path.
    let once = Facts { loss: full().loss, ..empty() };
    check("none", &once, &Facts { main: Shares { cwnd_full: 0.1, ..full().main }, ..once.clone() });
}

#[test]
fn a_full_path_is_sure_where_nothing_of_another_group_looks_alike() {
    let sure = points(&full());
    assert!(sure >= 0.8, "{sure}");
    let joins = Facts { acks: Acks { segments: 8.0, ..full().acks }, ..full() };
    let varies = Facts { main_mbit: 80.0, ..full() };
    let long = Facts { rtt_p95_us: 100_000.0, ..full() };
    let short = Facts { rtt_us: 23_000.0, rtt_p95_us: 25_000.0, ..full() };
    let paused = Facts { whole: Shares { empty: 0.03, ..full().whole }, ..full() };
    let repairs = Facts { sack: false, whole: Shares { recovery: 0.12, ..full().whole }, ..full() };
    for unsure in [joins, varies, long, short, paused, repairs] {
        assert!(points(&unsure) < sure, "{:?}", verdicts(&unsure));
    }
}

#[test]
fn a_slow_start_that_goes_on_is_too_short() {
    let short = Facts { looks: 8, round_trips: 6.0, ..empty() };
    check("too_short", &short, &Facts { round_trips: 40.0, ..short.clone() });
    check("too_short", &Facts { looks: 2, ..full() }, &full());

    // An ssthresh that cwnd has not reached stops nothing; nor does the window of the last looks.
    let set = |ssthresh| Facts {
        cwnd: Cwnd { early_ssthresh: Some(ssthresh), ..full().cwnd },
        main: Shares { rwnd: 0.4, ..full().main },
        ..short.clone()
    };
    check("too_short", &set(3_000.0), &set(60.0));
}

#[test]
fn pauses_are_looks_without_any_data() {
    let paused =
        |empty: f64| Facts { whole: Shares { empty, ..full().whole }, pauses: 3, ..full() };
    check("app_onoff", &paused(0.3), &paused(0.05));

    // A short pause that holds back the growth of cwnd, and one that the flow has made up for.
    let slow = |mbit| Facts { mbit, ..paused(0.05) };
    check("app_onoff", &slow(60.0), &slow(90.0));

    // Even small writes are no pauses.
    let even = |rate_spread| Facts {
        rate_spread,
        main: Shares { cwnd_full: 0.0, idle: 1.0, ..full().main },
        ..paused(0.3)
    };
    check("app_onoff", &even(0.8), &even(0.1));
    check("app_write", &even(0.1), &full());
}

#[test]
fn a_busy_cpu_of_the_sender_is_the_cause_wherever_its_work_waits() {
    let busy = |cpu, cwnd_full| Facts {
        own: Own { cpu: Some(cpu), ..full().own },
        main: Shares { cwnd_full, idle: 1.0 - cwnd_full, ..full().main },
        ..empty()
    };
    check("cpu_sender", &busy(0.99, 0.1), &busy(0.5, 0.1));
    check("cpu_sender", &busy(0.8, 0.9), &busy(0.5, 0.9));

    // A thread may be busy with something else, while unread data holds the window.
    let unread = Facts {
        window: Window { shrunk: 0.6, ..full().window },
        main: Shares { rwnd: 0.9, window_full: 0.9, ..Shares::default() },
        ..busy(0.99, 0.1)
    };
    check("app_read", &unread, &busy(0.99, 0.1));
}

#[test]
fn a_pace_is_reached() {
    let paced = |mbit| Facts { max_pace_mbit: Some(mbit), ..full() };
    check("pacing", &paced(100.0), &paced(400.0));
    let shaped = |mbit| Facts { own: Own { maxrate_mbit: Some(mbit), ..full().own }, ..full() };
    check("pacing", &shaped(100.0), &shaped(400.0));
}

#[test]
fn a_full_card_has_a_queue_of_its_own() {
    let card = |mbit, backlogged| Facts {
        own: Own { card_mbit: Some(mbit), backlogged, ..full().own },
        ..with_room(Shares { held: 0.9, ..Shares::default() })
    };
    check("nic", &card(100.0, 0.9), &card(300.0, 0.9));
    let idle = Facts { own: card(100.0, 0.0).own, ..full() };
    check("nic", &card(100.0, 0.9), &idle);
}

#[test]
fn a_short_ring_carries_no_more_between_interrupts() {
    let ring = |tx_ring| Facts {
        own: Own { tx_ring, tx_coalesce_us: 1_000, backlogged: 0.3, ..full().own },
        ..with_room(Shares { held: 0.9, ..Shares::default() })
    };
    check("tx_ring", &ring(9), &ring(256));
}

#[test]
fn a_ring_holds_a_flow_that_has_room_in_cwnd() {
    let ring = |cwnd_full| Facts {
        own: Own { tx_ring: 9, tx_coalesce_us: 1_000, ..full().own },
        main: Shares { cwnd_full, held: 1.0 - cwnd_full, ..full().main },
        buffer: Memory { queueing: 1.0, ..full().buffer },
        ..empty()
    };
    check("tx_ring", &ring(0.0), &ring(1.0));
    let own = |backlogged| Facts { own: Own { backlogged, ..ring(1.0).own }, ..ring(1.0) };
    check("tx_ring", &own(1.0), &own(0.5));

    let queue = |retransmitted| Facts {
        own: full().own,
        loss: Losses { retransmitted, ..Losses::default() },
        ..ring(0.0)
    };
    check("tx_ring", &queue(0), &queue(40));
}

#[test]
fn loss_without_sack_costs_recovery() {
    let without =
        |recovery| Facts { sack: false, whole: Shares { recovery, ..full().whole }, ..full() };
    check("sack_off", &without(0.3), &without(0.1));
    let with = Facts { sack: true, ..without(0.3) };
    check("sack_off", &without(0.3), &with);
}

#[test]
fn windows_that_are_full_are_buffers_and_those_that_move_are_readers() {
    let window = |rwnd| with_room(Shares { rwnd, window_full: rwnd, ..Shares::default() });
    check("rwnd_auto", &window(0.9), &window(0.1));
    let constant = Window { first: 8e6, ..full().window };
    check("rwnd_fixed", &Facts { window: constant, ..window(0.9) }, &window(0.9));
    let unscaled =
        Window { largest: 65_535.0, median: 65_535.0, low: 65_535.0, high: 65_535.0, ..constant };
    let unscaled = Facts { window: unscaled, wscale: false, ..window(0.9) };
    check("wscale_off", &unscaled, &Facts { wscale: true, ..unscaled.clone() });

    // A window that is full only because a queue holds its data is no cause.
    let queued = Facts { rtt_us: 60_000.0, rtt_p95_us: 70_000.0, ..window(0.9) };
    check("rwnd_auto", &window(0.9), &queued);

    // A window of few steps, or a receiver that joins packets, may hide unread data.
    let coarse = Facts { window_step: 1e6, ..window(0.9) };
    let joins =
        Facts { acks: Acks { segments: 20.0, ..full().acks }, rtt_us: 26_000.0, ..window(0.9) };
    for unsure in [coarse, joins] {
        assert!(points(&unsure) < 0.8 && points(&window(0.9)) >= 0.8, "{:?}", verdicts(&unsure));
    }

    // An RTT that is longer by one late interrupt is no queue.
    let late = Facts { acks: Acks { segments: 60.0, ..full().acks }, ..queued.clone() };
    check("rwnd_auto", &late, &queued);
}

#[test]
fn windows_that_shrink_close_or_move_are_readers() {
    let window = |own: Window| Facts {
        window: own,
        ..with_room(Shares { rwnd: 0.9, window_full: 0.9, ..Shares::default() })
    };
    let still = window(full().window);
    let shrinks = window(Window { shrunk: 0.4, ..full().window });
    check("app_read", &shrinks, &still);
    assert!(verdicts(&shrinks)[0].twins.contains(&"cpu_receiver"));
    check("app_read", &window(Window { low: 0.0, ..full().window }), &still);

    let moves = |low| window(Window { changes: 0.8, low, ..full().window });
    check("app_read", &moves(7.2e6), &moves(7.95e6));
    // Two steps of the window's scale are rounding.
    let coarse = Facts { window_step: 500_000.0, ..moves(7.2e6) };
    check("app_read", &moves(7.2e6), &coarse);
}

#[test]
fn a_send_buffer_blocks_its_writer() {
    let charged = |sndbuf| with_room(Shares { sndbuf, idle: 0.8, ..Shares::default() });
    check("sndbuf", &charged(0.5), &charged(0.0));
    check("app_write", &charged(0.0), &charged(0.5));
    let idle = charged(0.0);
    let asked = Facts { buffer: Memory { asked: Some(50_000), ..idle.buffer }, ..idle.clone() };
    check(
        "sndbuf",
        &asked,
        &Facts { buffer: Memory { used: 0.1, ..asked.buffer }, ..asked.clone() },
    );
}

#[test]
fn a_slow_program_leaves_everything_open() {
    let idle = |idle| with_room(Shares { idle, ..Shares::default() });
    check("app_write", &idle(0.9), &idle(0.2));
    let own = |answered| verdicts(&Facts { answered, ..idle(0.9) }).remove(0);
    for (share, confidence, twins) in [
        (0.0, Confidence::Sure, &[][..]),
        // An upload that the other host answers once.
        (0.02, Confidence::Sure, &[]),
        (0.5, Confidence::Likely, &["app_window", "turns"]),
    ] {
        assert_eq!((own(share).confidence(), &own(share).twins[..]), (confidence, twins));
    }
}

#[test]
fn parts_of_messages_wait_for_acks_or_a_cork() {
    let held =
        |parts: Parts| Facts { parts, ..with_room(Shares { idle: 0.9, ..Shares::default() }) };
    let nagle = |by_nagle, nagle_s| held(Parts { by_nagle, nagle_s, ..Parts::default() });
    check("nagle", &nagle(0.6, 0.058), &nagle(0.05, 0.058));
    // A stream's part grows or leaves sooner.
    check("nagle", &nagle(0.6, 0.020), &nagle(0.6, 0.010));

    let cork = |by_cork, cork_s| held(Parts { by_cork, cork_s, ..Parts::default() });
    check("nagle", &cork(0.6, 0.19), &cork(0.6, 0.001));
    let setting = |facts: &Facts| verdicts(facts)[0].setting.clone().expect("a setting").name;
    assert_eq!(setting(&nagle(0.6, 0.058)), "TCP_NODELAY");
    assert_eq!(setting(&cork(0.6, 0.19)), "TCP_CORK");
}

#[test]
fn drops_at_home_are_no_retransmissions() {
    let home = |dropped| Facts {
        own: Own { dropped, ..full().own },
        cwnd: Cwnd { early_ssthresh: Some(20.0), ..full().cwnd },
        ..empty()
    };
    check("qdisc", &home(9), &home(0));
    // Drops in a slow start that a full path has forgotten.
    check("qdisc", &home(9), &Facts { own: Own { dropped: 3, ..full().own }, ..full() });
    // A queue elsewhere holds the flow longer than the drops did.
    check("qdisc", &home(9), &Facts { rtt_us: 70_000.0, rtt_p95_us: 80_000.0, ..home(9) });
}

#[test]
fn reordering_is_seen_and_what_was_sent_again_came_twice() {
    let twice = |twice, undone| Facts {
        order: Order { seen: 50, twice, degree: 40, ..full().order },
        loss: Losses { retransmitted: 20, undone, ..Losses::default() },
        ..empty()
    };
    check("reorder", &twice(18, 5), &twice(0, 0));

    // A late repair looks like reordering of a few packets.
    let degree = |degree| Facts {
        order: Order { degree, seen: 50, twice: 0, ..full().order },
        ..twice(0, 1)
    };
    check("reorder", &degree(40), &degree(7));
    let recovers = |recovery| Facts { whole: Shares { recovery, ..full().whole }, ..twice(0, 0) };
    check("reorder", &recovers(0.6), &recovers(0.1));
}

#[test]
fn segments_below_536_bytes_are_small() {
    let small = |mss| Facts { mss, ..full() };
    check("small_mss", &small(150), &small(1_200));
    // A program that rests would not write more into larger segments.
    let rests = Facts { mss: 150, ..with_room(Shares { idle: 0.9, ..Shares::default() }) };
    check("small_mss", &small(150), &rests);
}

#[test]
fn a_slow_start_that_ends_early_grows_on() {
    let early = |growth, mbit| Facts {
        cwnd: Cwnd { early_ssthresh: Some(20.0), growth, ..full().cwnd },
        mbit,
        ..empty()
    };
    check("ss_short", &early(2.0, 40.0), &early(1.0, 94.0));
    let lost = Facts { cwnd: Cwnd { early_ssthresh: None, ..early(2.0, 40.0).cwnd }, ..empty() };
    check("ss_short", &early(2.0, 40.0), &lost);

    // Others that fill the queue end slow start too, but not before it begins.
    let shared = Facts { beside: 0.4, ..early(2.0, 40.0) };
    let set = Facts { cwnd: Cwnd { from_the_first: true, ..shared.cwnd }, ..shared.clone() };
    assert!(points(&shared) < 0.8 && points(&set) >= 0.8);

    // Slow start that went as far as the path carries, and a queue that never overflows.
    let at = |ssthresh| Facts {
        cwnd: Cwnd { early_ssthresh: Some(ssthresh), ..early(2.0, 40.0).cwnd },
        ..early(2.0, 40.0)
    };
    check("ss_short", &at(60.0), &at(160.0));
    let queues = |ssthresh| Facts { rtt_p95_us: 50_000.0, ..at(ssthresh) };
    check("ss_short", &queues(60.0), &queues(100.0));
}

#[test]
fn a_path_that_delivers_nothing_is_not_full() {
    check("none", &full(), &Facts { main_mbit: 0.0, ..full() });
}

#[test]
fn a_window_that_shrinks_shows_a_busy_receiver_wherever_data_waits() {
    let shrunk = |shrunk| Facts { window: Window { shrunk, ..full().window }, ..full() };
    check("cpu_receiver", &shrunk(0.4), &shrunk(0.02));
    // Holes of lost packets fill its buffer too.
    let holes = Facts { main: Shares { recovery: 0.4, ..full().main }, ..shrunk(0.4) };
    check("cpu_receiver", &shrunk(0.4), &holes);

    let polls = |main_mbit| Facts {
        main_mbit,
        acks: Acks { segments: 70.0, ..full().acks },
        cwnd: Cwnd { median: 700.0, in_flight: 700.0, ..full().cwnd },
        ..full()
    };
    check("cpu_receiver", &polls(85.0), &polls(95.4));
}

#[test]
fn losses_without_a_queue_are_chance_or_bursts() {
    let lossy = |cuts: &[(u64, f64, f64)]| Facts { loss: losses(cuts), ..empty() };
    let chance = lossy(&[(1, 1.02, 300.0), (1, 1.0, 150.0), (2, 1.01, 90.0), (1, 1.0, 40.0)]);
    check("loss", &chance, &full());
    let bursts = lossy(&[(90, 1.02, 300.0), (12, 1.0, 180.0)]);
    check("small_buffer", &bursts, &chance);
    let same = lossy(&[(1, 1.1, 24.0), (1, 1.1, 22.0), (2, 1.1, 23.0), (1, 1.1, 24.0)]);
    check("small_buffer", &same, &chance);
    let again = Facts { loss: Losses { again: 30, ..bursts.loss.clone() }, ..bursts.clone() };
    check("policer", &again, &bursts);
}

#[test]
fn a_longer_rtt_at_a_loss_is_no_queue_where_bunches_explain_it() {
    let cuts = [(5, 1.5, 12.0), (7, 1.5, 13.0), (4, 1.5, 12.0)];
    let bunched = |segments| Facts {
        main_mbit: 85.0,
        rtt_us: 28_000.0,
        rtt_p95_us: 30_000.0,
        loss: losses(&cuts),
        cwnd: Cwnd { median: 12.0, in_flight: 12.0, ..full().cwnd },
        acks: Acks { segments, ..full().acks },
        ..full()
    };
    check("small_buffer", &bunched(2.0), &bunched(1.0));
    // A neighbour that gets as much waits in the same queue, and a link at a steady rate never runs empty.
    let shared = Facts { beside: 0.4, rtt_us: 31_000.0, ..bunched(2.0) };
    check("small_buffer", &bunched(2.0), &shared);
    let steady = Facts { main_mbit: 95.0, peak_mbit: 95.5, ..bunched(2.0) };
    check("small_buffer", &bunched(2.0), &steady);
}

#[test]
fn chance_takes_few_segments_of_many_and_at_any_rate() {
    let lossy = |cuts: &[(u64, f64, f64)]| Facts { loss: losses(cuts), ..empty() };
    let large = lossy(&[(4, 1.0, 900.0), (1, 1.0, 500.0)]);
    check("loss", &large, &lossy(&[(4, 1.0, 90.0), (1, 1.0, 50.0)]));

    let epochs: Vec<(u64, f64, f64)> =
        (0..9).map(|n| (5, 1.0, if n % 2 == 0 { 8.0 } else { 20.0 })).collect();
    let at = |spread: f64| {
        let mut facts = lossy(&epochs);
        for (n, cut) in facts.loss.cuts.iter_mut().enumerate() {
            cut.mbit = if n % 2 == 0 { 50.0 } else { 50.0 * (1.0 + spread) };
        }
        facts
    };
    check("loss", &at(1.0), &at(0.05));
}
