//! Whole tests between this client and this server.

use crate::{Follower, serve, wanted};
use fullpipe_measure::account::rate;
use fullpipe_measure::client;
use fullpipe_measure::outcome::{Ended, Outcome};
use fullpipe_measure::parameters::{Parameters, Protocol};
use fullpipe_measure::server::Served;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

/// Outcomes at both ends of a test with changed parameters: client, server.
fn both(change: impl FnOnce(&mut Parameters)) -> [Outcome; 2] {
    let follower = Follower::default();
    let (port, server) = serve(&follower);
    let mut wanted = wanted(port);
    change(&mut wanted.parameters);
    let client = client::run(&wanted, &mut Follower::default()).expect("a test");
    let Served::Test(server) = server.join().expect("a thread") else { panic!("no test") };
    assert_eq!([&client.ended, &server.ended], [&Ended::Whole, &Ended::Whole]);
    [client, *server]
}

#[test]
fn a_rate_is_kept_and_both_ends_know_all() {
    for reverse in [false, true] {
        let [client, server] = both(|own| own.reverse = reverse);
        for own in [&client, &server] {
            let [sent, received] = own.both(0).map(|own| own.expect("results").clone());
            let mbit = rate(sent.bytes, sent.seconds) / 1e6;
            assert!((70.0..82.0).contains(&mbit), "{mbit} Mb/s sent, reverse {reverse}");
            assert!(sent.retransmits.is_some() && received.retransmits.is_none());
            let missing = sent.bytes.saturating_sub(received.bytes);
            assert!(missing <= sent.bytes / 5, "{sent:?} {received:?}");
        }
        assert_eq!(client.own, server.other.expect("the client's"));
        assert_eq!(client.other, Some(server.own));
        assert_eq!(client.streams[0].here, server.streams[0].there);
        let rows = client.account.rows();
        let sum: u64 = rows.iter().map(|row| row.bytes).sum();
        assert_eq!(sum, client.own.streams[0].bytes, "intervals add up");
        assert!((4..=5).contains(&rows.len()), "{}", rows.len());
    }
}

#[test]
fn bytes_arrive_to_the_last_one() {
    let [client, server] = both(|own| (own.num, own.time, own.len) = (3_000_001, 0, 1000));
    let [sent, received] = client.both(0).map(|own| own.expect("results").bytes);
    assert_eq!([sent, received], [3_000_001; 2]);
    assert_eq!(server.own.streams[0].bytes, 3_000_001);
}

#[test]
fn the_omitted_second_is_in_no_total() {
    let [client, server] = both(|own| own.omit = 1);
    for own in [client, server] {
        let seconds = own.account.lasted().as_secs_f64();
        assert!((0.9..1.5).contains(&seconds), "{seconds}");
        let rows = own.account.rows();
        let omitted: u64 = rows.iter().filter(|row| row.is_omitted).map(|row| row.bytes).sum();
        let counted = own.own.streams[0].bytes;
        assert!(omitted > 5_000_000 && counted < 13_000_000, "{omitted} {counted}");
    }
}

#[test]
fn streams_of_both_directions_have_their_numbers_and_ends() {
    let [client, server] = both(|own| {
        (own.parallel, own.bidirectional, own.bandwidth) = (2, true, Some(8_000_000));
    });
    let ids: Vec<u32> = client.streams.iter().map(|own| own.id).collect();
    assert_eq!(ids, [1, 3, 4, 5]);
    for (own, other) in client.streams.iter().zip(&server.streams) {
        assert_eq!((own.here, own.there, own.sends), (other.there, other.here, !other.sends));
    }
    for place in 0..4 {
        let [sent, received] = client.both(place).map(|own| own.expect("results").bytes);
        assert!(sent > 500_000 && received > 500_000, "{sent} {received}");
    }
}

#[test]
fn a_window_bounds_both_buffers_of_both_ends_and_of_no_later_test() {
    let [client, server] = both(|own| own.window = Some(50_000));
    assert_eq!([client.buffers, server.buffers], [[100_000; 2]; 2]);
    let mut server = fullpipe_measure::server::Server::bind(0, None).expect("a server");
    let port = server.port();
    let served = thread::spawn(move || {
        let own = [(); 2].map(|()| server.serve(&mut Follower::default()).expect("an answer"));
        own.map(|own| if let Served::Test(own) = own { own.buffers } else { [0; 2] })
    });
    let mut own = wanted(port);
    own.parameters.window = Some(50_000);
    client::run(&own, &mut Follower::default()).expect("a test");
    own.parameters.window = None;
    // The server listens anew in between.
    let again = (0..50).find_map(|_| {
        thread::sleep(Duration::from_millis(20));
        client::run(&own, &mut Follower::default()).ok()
    });
    assert!(again.is_some());
    let [with, without] = served.join().expect("a thread");
    assert_eq!(with, [100_000; 2]);
    assert_ne!(without[1], 100_000);
}

#[test]
fn others_are_turned_away_meanwhile() {
    let follower = Follower::default();
    let (port, server) = serve(&follower);
    let first = thread::spawn(move || client::run(&wanted(port), &mut Follower::default()));
    follower.wait();
    let wrong = client::run(&wanted(port), &mut Follower::default()).expect_err("busy");
    assert!(wrong.to_string().contains("is busy with another test"), "{wrong}");
    assert_eq!(first.join().expect("a thread").expect("a test").ended, Ended::Whole);
    assert!(matches!(server.join().expect("a thread"), Served::Test(_)));
    assert_eq!(follower.refused.load(SeqCst), 1);
}

#[test]
fn either_end_may_stop_and_the_other_one_knows() {
    for stops_server in [false, true] {
        let [follower, own] = [Follower::default(), Follower::default()];
        let (port, server) = serve(&follower);
        let mut watch = own.clone();
        let client = thread::spawn(move || client::run(&wanted(port), &mut watch).expect("a test"));
        own.wait();
        let begun = Instant::now();
        let stop = if stops_server { &follower.stop } else { &own.stop };
        stop.store(true, SeqCst);
        let client = client.join().expect("a thread");
        let Served::Test(server) = server.join().expect("a thread") else { panic!("no test") };
        assert!(begun.elapsed() < Duration::from_secs(5));
        let expected = match stops_server {
            false => [Ended::Stopped, Ended::ByPeer],
            true => [Ended::ByPeer, Ended::Stopped],
        };
        assert_eq!([client.ended, server.ended], expected);
    }
}

#[test]
fn datagrams_are_counted_at_both_ends_in_each_direction() {
    for (reverse, wide, bidirectional) in
        [(false, false, false), (true, true, false), (false, true, true)]
    {
        let [client, server] = both(|own| {
            (own.protocol, own.len, own.reverse) = (Protocol::Udp, 0, reverse);
            (own.parallel, own.bidirectional, own.wide_counters) = (2, bidirectional, wide);
            own.bandwidth = Some(8_000_000);
        });
        let len = u64::from(client.parameters.len);
        assert!(len > 1000, "the size of the path: {len}");
        for place in 0..client.streams.len() {
            let [sent, received] = client.both(place).map(|own| own.expect("results").clone());
            assert_eq!(sent.bytes, sent.packets * len);
            let mbit = rate(sent.bytes, sent.seconds) / 1e6;
            assert!((7.0..9.0).contains(&mbit), "{mbit} Mb/s");
            let arrived = received.packets - received.lost;
            assert_eq!(received.bytes, arrived * len, "{received:?}");
            assert!(
                arrived * 2 > sent.packets && arrived <= sent.packets + 20,
                "{sent:?} {received:?}"
            );
            assert!(received.jitter < 0.1 && sent.retransmits.is_none());
        }
        assert_eq!(server.own, client.other.expect("the server's"));
    }
}
