//! Plans of NFS mounts: tables worked out by hand, files and text, and a check of their promises.

mod promise;

use fullpipe::plan::nfs::files::{files, mount};
use fullpipe::plan::nfs::settings::Settings;
use fullpipe::plan::nfs::{Plan, Question, plan, scenario, text};
use fullpipe::scenario::Version;
use fullpipe::scenario::{NfsVersion, Source, load};
use fullpipe_sim::units::{Framing, Rate, Time};

/// A client of 4.2 on a path with MTU 1500 and a server of 16 GiB.
fn ask(rate: Rate, rtt: Time) -> Question {
    let path = fullpipe::sizing::Question {
        rate,
        rtt,
        mtu: 1500,
        framing: Framing::EthernetWire,
        kernel: Version::new(6, 12, 0),
        timestamps: true,
    };
    Question {
        path,
        loss: 0.0,
        version: NfsVersion::V4_2,
        clients: 1,
        near: 0,
        near_rtt: Time::us(200),
        server_memory: 16 << 30,
        service: Time::ms(1),
        file: scenario::file(&path),
    }
}

fn planned(q: &Question) -> Plan {
    plan(q).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// 1 Gb/s x 31.4 ms are 3,925,000 bytes on the wire, 2,553 packets of 1538. Each has 1448 bytes of payload: 3,696,744
/// bytes. That is 4 requests of 1 MiB (rounded up), and one more while an answer is in flight.
#[test]
fn a_path_asks_for_what_it_holds() {
    let plan = planned(&ask(Rate::gbit(1), Time::us(31_400)));
    let own = plan.settings;
    assert_eq!(plan.under_way_bytes, 2553 * 1448);
    assert_eq!((own.size, own.nconnect, own.slots, own.threads), (1 << 20, 1, 64, 8));
    assert_eq!(own.readahead, 5 << 20);
    // (3696744 + 1448) x 2; 2553 x (1448 + 576) x 3/2
    assert_eq!(own.server.receive, 7_396_384);
    assert_eq!(own.client.send, 7_750_908);
    assert!(plan.bounds.is_empty(), "{:?}", plan.bounds);
}

/// The kernel's own settings are the least: a near mount is left alone, but for nothing.
#[test]
fn what_is_enough_stays() {
    let q = ask(Rate::gbit(1), Time::us(200));
    let plan = planned(&q);
    let readahead = plan.settings.readahead;
    assert_eq!(Settings { readahead: plan.today.readahead, ..plan.settings }, plan.today);
    // An arriving request, and one that is asked for.
    assert_eq!(readahead, 2 << 20);
    assert_eq!(files(&q, &plan).len(), 1, "{:?}", files(&q, &plan));
}

/// Slots of a session: 64 asked for, 30 granted (6.12). 1 Gb/s x 200 ms hold 23 requests; 10 Gb/s hold more than there are slots.
#[test]
fn a_session_has_slots_up_to_a_bound() {
    let long = ask(Rate::gbit(1), Time::ms(200));
    assert_eq!((planned(&long).settings.slots, planned(&long).bounds.len()), (64, 0));
    let longer = ask(Rate::gbit(10), Time::ms(200));
    let plan = planned(&longer);
    assert_eq!((plan.settings.slots, plan.settings.readahead), (64, 31 << 20));
    // 30 MiB in 200 ms
    assert!(
        plan.bounds[0].contains("30 slots") && plan.bounds[0].contains("1,258 Mb/s"),
        "{:?}",
        plan.bounds
    );
    let third = planned(&Question { version: NfsVersion::V3, ..longer });
    assert_eq!((third.settings.slots, third.bounds.len()), (65536, 0));
}

/// 100 Gb/s x 100 ms is more than a window: 1,176,846,000 bytes and so two connections.
#[test]
fn connections_are_for_what_one_window_does_not_hold() {
    let mut q = Question { version: NfsVersion::V3, ..ask(Rate::gbit(100), Time::ms(100)) };
    q.path.mtu = 9000;
    let plan = planned(&q);
    assert_eq!(plan.settings.nconnect, 2);
    assert!(mount(&q, &plan.settings).contains(",nconnect=2 "));
}

/// A server of 1 GiB takes requests of 256 KiB, a 4096th of it, and so needs more of them.
#[test]
fn a_small_server_has_small_requests() {
    let q = Question { server_memory: 1 << 30, ..ask(Rate::gbit(1), Time::us(31_400)) };
    let plan = planned(&q);
    assert_eq!((plan.settings.size, plan.today.size), (256 << 10, 256 << 10));
    assert!(plan.reasons[0].why.contains("max_block_size"));
}

/// 1 Gb/s of requests of 1 MiB are 119 a second; at 100 ms each 12 threads are busy, and one reads.
#[test]
fn threads_follow_the_time_of_the_disk() {
    let slow = Question { service: Time::ms(100), ..ask(Rate::gbit(1), Time::us(31_400)) };
    assert_eq!(planned(&slow).settings.threads, 13);
    // As fast a line of near clients: 24 and two.
    assert_eq!(planned(&Question { near: 3, ..slow }).settings.threads, 26);
}

/// 1 Gb/s x 31.4 ms hold 3,696,744 bytes. One loss in 100,000 packets leaves CUBIC 1.0538 (0.0314 / 1e-5)^0.75 = 442
/// packets, 640 KB, so twelve connections for twice as much. One loss in 10,000 leaves Reno's 1.2 / 0.01 = 120; sixteen
/// such windows carry 708 Mb/s.
#[test]
fn losses_ask_for_connections() {
    let at = |loss| planned(&Question { loss, ..ask(Rate::gbit(1), Time::us(31_400)) });
    assert_eq!((at(1e-5).settings.nconnect, at(1e-5).bounds.len()), (12, 0));
    assert_eq!(at(1e-5).settings.readahead, 2 * at(0.0).settings.readahead);
    let many = at(1e-4);
    assert_eq!(many.settings.nconnect, 16);
    assert!(many.bounds[0].contains("708 Mb/s"), "{:?}", many.bounds);
    assert!(many.reasons[1].why.contains("0.01 %"), "{:?}", many.reasons[1]);
}

#[test]
fn quantities_beyond_the_bounds_are_named() {
    let good = ask(Rate::gbit(1), Time::ms(30));
    let mut old = good;
    old.path.kernel = Version::new(3, 14, 0);
    let mut slow = good;
    slow.path.rate = Rate(0);
    let wrong = [
        (Question { loss: 0.5, ..good }, "loss"),
        (Question { loss: f64::NAN, ..good }, "loss"),
        (Question { clients: 0, ..good }, "number of clients"),
        (Question { near: 1_000_000, ..good }, "near clients"),
        (Question { near_rtt: Time::ZERO, ..good }, "near rtt"),
        (Question { near_rtt: Time::ms(31), ..good }, "the far clients' rtt, 30ms"),
        (Question { server_memory: 1 << 20, ..good }, "32MiB"),
        (Question { service: Time::NEVER, ..good }, "service time"),
        (old, "6.12 alone"),
        (slow, "rate"),
    ];
    for (q, message) in wrong {
        let text = plan(&q).unwrap_err().to_string();
        assert!(text.contains(message), "{text}");
    }
}

/// At the bounds of paths, too, there is a scenario that is read, and text within 80 columns but for commands.
#[test]
fn every_plan_has_a_scenario_and_text() {
    for rate in [Rate(1), Rate::mbit(100), Rate::gbit(10), Rate::gbit(1_000_000)] {
        for rtt in [Time::ns(1), Time::us(31_400), Time::secs(1000)] {
            for version in [NfsVersion::V3, NfsVersion::V4_2] {
                let near_rtt = rtt.min(Time::us(200));
                let q = Question { version, clients: 3, near: 2, near_rtt, ..ask(rate, rtt) };
                let plan = planned(&q);
                for line in text::render(&q, &plan, None).lines() {
                    let command = line.contains("sysctl -p")
                        || line.contains("read_ahead_kb")
                        || line.contains("mount ")
                        || line.contains("at once")
                        || line.contains("before:");
                    assert!(command || line.chars().count() <= 80, "{line}");
                }
                if rate.0 <= 10_000_000_000 && rtt <= Time::secs(1) {
                    let text = scenario::scenario(
                        &q,
                        &[("today", plan.today), ("planned", plan.settings)],
                    );
                    let loaded = load(&Source::text("plan.toml", &text), &[], &[]);
                    assert_eq!(loaded.unwrap_or_else(|wrong| panic!("{wrong}")).plans().len(), 4);
                }
            }
        }
    }
}
