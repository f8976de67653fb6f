//! Speed of a file where one thing limits it: laws by hand.

use super::{KIB, MIB, START, Setup, host};
use fullpipe_sim::rpc::{RpcClient, Slots, Taking};
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::{Rate, Time};

/// Additional time of a file of twice the size, ms: beginning and end take the same.
fn second_half(setup: Setup) -> f64 {
    let twice = setup.clone().bytes(2 * setup.client.bytes).run().lasted();
    (twice - setup.run().lasted()).0 as f64 / 1e6
}

/// Whether these differ by 1 % at most.
fn near(got: f64, by_hand: f64) -> bool {
    (got / by_hand - 1.0).abs() < 0.01
}

/// 10 Gb/s x 31.4 ms. A call of 64 KiB has 46 packets with 1514 bytes each, less one that is not full: 55 us. Its slot
/// is free after another 31.4 ms and these. 128 calls more take 128 / slots such rounds.
#[test]
fn slots() {
    for slots in [1, 2, 4, 8] {
        let setup = Setup { rate: Rate::gbit(10), ..Setup::new() };
        let took = second_half(setup.record(64 * KIB).bytes(8 * MIB).slots(slots));
        let by_hand = 128.0 / f64::from(slots) * 31.455;
        assert!(near(took, by_hand), "{slots} slots: {took} ms, by hand {by_hand} ms");
    }
}

/// Slots of four connections together in a session, or separately.
#[test]
fn slots_of_connections() {
    for (slots, together) in
        [(Slots::Session(8), 8.0), (Slots::PerConnection(2), 8.0), (Slots::PerConnection(1), 4.0)]
    {
        let setup = Setup { rate: Rate::gbit(10), connections: 4, ..Setup::new() };
        let setup = setup.record(64 * KIB).bytes(16 * MIB);
        let took = second_half(Setup { client: RpcClient { slots, ..setup.client }, ..setup });
        let by_hand = 256.0 / together * 31.455;
        assert!(near(took, by_hand), "{slots:?}: {took} ms, by hand {by_hand} ms");
    }
}

/// Reading: the window is slots or what is read ahead, whichever is less. Of windows as large as a READ two are out.
#[test]
fn reading() {
    for (slots, window, out) in [(4, 64, 4.0), (16, 1, 2.0), (3, 16, 3.0)] {
        let setup = Setup { rate: Rate::gbit(10), ..Setup::new() }.record(64 * KIB);
        let took = second_half(setup.reading(window).bytes(8 * MIB).slots(slots));
        let by_hand = 128.0 / out * 31.455;
        assert!(near(took, by_hand), "{slots}, {window}: {took} ms, by hand {by_hand} ms");
    }
}

/// 200 us of round trip: threads that need 10 ms for a call do 100 calls/s each. Each of them is busy for that time alone.
#[test]
fn threads() {
    for threads in [1, 2, 5] {
        let setup = Setup { delay: Time::us(100), ..Setup::new() };
        let setup = setup.record(4 * KIB).bytes(400 * KIB).threads(threads, Time::ms(10));
        let took = second_half(setup.clone());
        let by_hand = 100.0 / f64::from(threads) * 10.0;
        assert!((took - by_hand).abs() < 0.01, "{threads}: {took} ms, by hand {by_hand} ms");
        let run = setup.run();
        assert_eq!(run.counter("rpc.server.threads_ns"), 100 * Time::ms(10).0, "{threads}");
        let waits = run.counter("rpc.server.waits_for_threads_ns") as f64 / 1e6;
        let whole = run.lasted().0 as f64 / 1e6;
        assert!(waits > whole - 25.0 && waits < whole, "{threads}: {waits} of {whole} ms");
    }
}

/// An export that syncs: each call takes so much longer, and so does the last one.
#[test]
fn service_time_adds_to_the_round_trip() {
    let setup = Setup { rate: Rate::gbit(10), ..Setup::new() };
    let setup = setup.record(64 * KIB).bytes(8 * MIB).slots(4);
    let took = second_half(setup.clone().threads(8, Time::ms(20)));
    let by_hand = 32.0 * (31.455 + 20.0);
    assert!(near(took, by_hand), "{took} ms, by hand {by_hand} ms");
    let mut commits = setup.clone();
    commits.server.commit = Time::ms(20);
    assert_eq!(commits.run().lasted() - setup.run().lasted(), Time::ms(20));
}

/// Each call after all takes a round trip, of a program that writes as of one that reads.
#[test]
fn calls_after_all() {
    let setup = Setup::new().bytes(4 * MIB);
    for setup in [setup.clone(), setup.reading(4)] {
        let took = |count: usize| {
            let after = vec![[100, 100]; count];
            let client = RpcClient { after, ..setup.client.clone() };
            Setup { client, ..setup.clone() }.run().lasted().0 as f64 / 1e6
        };
        let [none, one, two] = [0, 1, 2].map(took);
        assert!((31.4..31.6).contains(&(one - none)), "{} ms", one - none);
        assert!((31.4..31.6).contains(&(two - one)), "{} ms", two - one);
    }
}

/// Calls before the first one are answered one after the other. Then the application starts and continues as one
/// without them. Its own calls take turns over the connections as if the earlier ones did not exist.
#[test]
fn calls_before_all() {
    for setup in [Setup::new().bytes(4 * MIB), Setup::new().bytes(4 * MIB).reading(4)] {
        let setup = Setup { connections: 2, ..setup };
        let mounts = |count: usize| {
            let client = RpcClient { before: vec![[100, 100]; count], ..setup.client.clone() };
            Setup { client, ..setup.clone() }.run()
        };
        let began = |run: &super::Run| {
            let began = run.record.events().filter(|event| event.kind == EventKind::Began);
            began.map(|event| (event.flow, event.time)).collect::<Vec<_>>()
        };
        let (none, some) = (mounts(0), mounts(7));
        assert_eq!(began(&none), [(0, START)]);
        let [(flow, at)] = began(&some)[..] else { panic!("{:?}", began(&some)) };
        let trips = (at - START).0 as f64 / 31.4e6;
        assert!(flow == 0 && (7.0..7.01).contains(&trips), "{trips} round trips");
        let apart = some.lasted().0 as f64 - (at - START).0 as f64 - none.lasted().0 as f64;
        assert!(apart.abs() < 31.4e6 * 0.05, "{apart} ns");
        let sent = |run: &super::Run, flow| run.last(flow).bytes_delivered;
        let before = [(0, 7 * 100), (2, 0)].map(|(flow, more)| sent(&none, flow) + more);
        assert_eq!([0, 2].map(|flow| sent(&some, flow)), before);
    }
}

/// A record that the server's socket does not hold never becomes whole; taken as it comes it passes.
#[test]
fn a_record_larger_than_the_window() {
    let setup = Setup { server_rcvbuf: Some(100 * KIB), end: Time::secs(5), ..Setup::new() };
    let mut setup = setup.bytes(4 * MIB);
    let done =
        |setup: &Setup| setup.run().record.events().any(|event| event.kind == EventKind::Finished);
    assert!(done(&setup));
    setup.server.taking = Taking::WholeRecords;
    assert!(!done(&setup));
    assert!(done(&setup.record(32 * KIB)));
}

/// Behaviour of the kernel of 2008. The socket of 3 x (1 MiB + 4 KiB), doubled, fills the line where calls are taken as
/// they arrive. Where calls have to be complete it reaches less.
#[test]
fn whole_records_narrow_the_window() {
    let buffer = 3_158_016;
    let mut setup = Setup::new();
    setup.hosts[1] = host(16 * MIB, 16 * MIB);
    setup.hosts[1].sysctl.rmem_max = buffer;
    setup.server_rcvbuf = Some(buffer);
    let free = setup.run().kib_per_s();
    setup.server.taking = Taking::WholeRecords;
    let gated = setup.run().kib_per_s();
    assert!(gated < 0.95 * free, "{gated} of {free} KiB/s");
}
