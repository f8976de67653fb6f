//! Peers that say anything, and peers that vanish.

use crate::{Follower, serve, wanted};
use fullpipe_measure::client;
use fullpipe_measure::outcome::Ended;
use fullpipe_measure::server::Served;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Pieces of a control connection: bytes, and now and then a part of the protocol.
fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        Just(vec![9]),
        Just(vec![10]),
        Just(vec![1, 2]),
        Just(vec![4]),
        Just(vec![13]),
        Just(vec![0xfe, 0, 0]),
        Just(fullpipe_measure::inbox::message(&wanted(1).parameters.write())),
        Just(vec![0, 0, 0, 2, b'{', b'}']),
        Just(vec![0xff, 0xff, 0xff, 0xff]),
    ];
    prop::collection::vec(piece, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_server_survives_any_client(pieces in pieces(), has_cookie: bool) {
        let begun = Instant::now();
        let (port, server) = serve(&Follower::default());
        let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("open");
        if has_cookie {
            let _ = socket.write_all(&[b'a'; 37]);
        }
        pieces.iter().for_each(|piece| _ = socket.write_all(piece));
        let _ = socket.shutdown(Shutdown::Write);
        let served = server.join().expect("no panic");
        prop_assert!(matches!(served, Served::Nothing(_)), "{served:?}");
        prop_assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_client_survives_any_server(pieces in pieces()) {
        let begun = Instant::now();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("a client");
            pieces.iter().for_each(|piece| _ = socket.write_all(piece));
            let _ = socket.shutdown(Shutdown::Write);
            let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
            let _ = socket.read_to_end(&mut Vec::new());
            drop(listener);
        });
        let outcome = client::run(&wanted(port), &mut Follower::default());
        prop_assert!(outcome.is_err() || outcome.is_ok_and(|own| own.ended != Ended::Whole));
        prop_assert!(begun.elapsed() < Duration::from_secs(20));
        server.join().expect("a server");
    }
}

#[test]
fn what_is_no_server_is_named_with_its_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a client");
        socket.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").expect("written");
        let _ = socket.read(&mut [0; 100]);
        thread::sleep(Duration::from_millis(300));
    });
    let wrong = client::run(&wanted(port), &mut Follower::default()).expect_err("no server");
    let text = wrong.to_string();
    assert!(text.contains("is no iperf3 server: it answers \"SSH-2.0-"), "{text}");
    server.join().expect("a server");
    let wrong = client::run(&wanted(port), &mut Follower::default()).expect_err("no server");
    assert!(wrong.to_string().contains("refuses the connection: no server listens"), "{wrong}");
}

#[test]
fn a_vanished_peer_leaves_what_there_is() {
    // The proxy stands for a peer that is killed: it closes all of its connections.
    let (port, server) = serve(&Follower::default());
    let proxy = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let own = proxy.local_addr().expect("an address").port();
    let relay = thread::spawn(move || {
        let pairs: Vec<[TcpStream; 2]> = (0..2)
            .map(|_| {
                let near = proxy.accept().expect("a client").0;
                let far = TcpStream::connect(("127.0.0.1", port)).expect("the server");
                for [mut from, mut to] in [[&near, &far], [&far, &near]]
                    .map(|pair| pair.map(|own| own.try_clone().expect("a socket")))
                {
                    thread::spawn(move || std::io::copy(&mut from, &mut to));
                }
                [near, far]
            })
            .collect();
        thread::sleep(Duration::from_millis(700));
        pairs.iter().flatten().for_each(|own| _ = own.shutdown(Shutdown::Both));
    });
    let begun = Instant::now();
    let mut wanted = wanted(own);
    wanted.parameters.time = 60;
    let client = client::run(&wanted, &mut Follower::default()).expect("a test");
    let Served::Test(server) = server.join().expect("a thread") else { panic!("no test") };
    relay.join().expect("a relay");
    assert!(begun.elapsed() < Duration::from_secs(20));
    for outcome in [&client, &server] {
        let Ended::Broken(why) = &outcome.ended else { panic!("{:?}", outcome.ended) };
        assert!(why.contains("lost") || why.contains("broke"), "{why}");
        assert!(outcome.own.streams[0].bytes > 1_000_000, "{:?}", outcome.own);
    }
}
