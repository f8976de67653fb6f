//! A path in network namespaces of the kernel that runs the tests.
//!
//! It needs root, and a kernel with veth, tbf and clsact. Where that is not there it says that it is skipped.

use std::net::Ipv4Addr;
use std::thread;

use fullpipe_guest::plan::{Drops, Host, Plan, Qdisc, Router, Way};
use fullpipe_guest::record::{self, Head};

use crate::error::{Context, Error, Result};
use crate::out::Out;
use crate::path::{self, Path};
use crate::probe::{self, Probe};
use crate::uring::Step;
use crate::{layout, sys};

fn plan() -> Plan {
    let (rate, burst, limit) = (1_000_000_000, 20_000, 1 << 20);
    let rate = |overhead| Qdisc::Tbf { rate, burst, ahead_ns: 0, limit, overhead };
    let host = |qdiscs| Host {
        gso_max_segs: Some(1),
        initcwnd: None,
        mtu: None,
        gro_flush_timeout_ns: 0,
        out: Way { qdiscs, ..Way::default() },
        ..Host::default()
    };
    let drops = vec![Drops { flow: 0, segments: vec![1], acks: vec![], mark: false }];
    Plan {
        end_ns: 1,
        sample_ns: 1,
        counters_ns: 1,
        mtu: 1500,
        gso: false,
        seed: 0,
        sysctl: vec![],
        sender: host(vec![rate(0), Qdisc::Pfifo { limit: 77 }]),
        routers: vec![
            Router::default(),
            Router {
                forward: Way { drops, qdiscs: vec![rate(24)], ..Way::default() },
                back: Way::default(),
            },
        ],
        receiver: host(vec![Qdisc::Bfifo { limit: 99_999 }]),
        flows: vec![],
        beside: vec![],
        nfs: vec![],
        datagrams: vec![],
        watched: vec![],
        real_time: false,
    }
}

/// Errors of a kernel that lacks something, or of a container without permissions.
const LACKING: [&str; 5] = [
    "Operation not permitted",
    "Permission denied",
    "Read-only file system",
    "Unknown device type",
    "Specified qdisc kind is unknown",
];

/// In a thread of its own, which ends with the namespaces.
fn with_path(test: fn(Path) -> Result<()>) {
    match thread::spawn(move || path::make(&plan()).map(test)).join().expect("no panic") {
        Ok(done) => done.expect("the path works"),
        Err(why) if LACKING.iter().any(|lack| why.to_string().contains(lack)) => {
            println!("skipped: {why}");
        }
        Err(why) => panic!("{why}"),
    }
}

/// Sends `bytes` bytes, a segment at a time, from end to end.
fn transfer(path: &Path, bytes: usize) -> Result<()> {
    let (sender, receiver) = (&path.namespaces[0], &path.namespaces[path.namespaces.len() - 1]);
    receiver.enter()?;
    let listener = sys::tcp_socket().at(|| "socket")?;
    sys::bind(&listener, Ipv4Addr::UNSPECIFIED, layout::receiver_port(0)).at(|| "bind")?;
    sys::listen(&listener).at(|| "listen")?;
    sender.enter()?;
    let socket = sys::tcp_socket().at(|| "socket")?;
    // A path that leads nowhere is a failure soon.
    let seconds = [5_i64.to_ne_bytes(), [0; 8]].concat();
    sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDTIMEO, &seconds).at(|| "timeout")?;
    let to = layout::right(path.namespaces.len() - 2);
    sys::connect(&socket, to, layout::receiver_port(0)).at(|| "connect")?;
    let accepted = sys::accept(&listener).at(|| "accept")?;
    let sent = sys::send(&socket, &vec![0; bytes]).at(|| "send")?;
    sys::end_writing(&socket).at(|| "shutdown")?;
    assert_eq!(sys::discard(&accepted, bytes + 1).at(|| "recv")?, sent);
    Ok(())
}

#[test]
fn a_segment_of_the_list_is_lost_and_no_other() {
    with_path(|path| {
        // Two segments of 1448 bytes; the second is sent again.
        transfer(&path, 2 * 1448)?;
        let [flow, _, data, dropped, acks, acks_dropped, _] = path.droppers[0].seen()?;
        assert_eq!((flow, dropped, acks_dropped), (0, 1, 0));
        // A stalled machine may make TCP send one more.
        assert!(data >= 3, "two segments and one sent again, not {data}");
        assert!(acks >= 1, "the handshake's ACK");
        assert_eq!(path.droppers[0].router, 1);
        Ok(())
    });
}

/// Names of the qdiscs in a record's body, and their handles.
fn kinds(mut body: &[u8]) -> Vec<(String, u32)> {
    let u32_at = |bytes: &[u8], at: usize| {
        u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let mut found = Vec::new();
    while body.len() > 36 {
        let len = u32_at(body, 0) as usize;
        // The first attribute is the kind.
        let kind = body[40..len].split(|byte| *byte == 0).next().unwrap_or_default();
        found.push((String::from_utf8_lossy(kind).into_owned(), u32_at(body, 24)));
        body = &body[len..];
    }
    found
}

#[test]
fn a_probe_answers_for_the_time_of_its_question() {
    with_path(|path| {
        let dir = std::env::temp_dir().join(format!("fullpipe-guest-{}", std::process::id()));
        std::fs::create_dir_all(&dir).at(|| "directory")?;
        let mut out = Out::create(&dir).at(|| "files")?;
        let socket = path.namespaces[0].netlink.socket();
        let chain = [0, 1].map(|number| (record::RIGHT_DEVICE, record::qdisc_handle(number)));
        let probe = Probe::qdiscs(0, socket, &chain)?;
        let ask = || match probe.ask() {
            Step::Send(socket, bytes) => sys::send(socket, bytes).at(|| "asking"),
            Step::Tick(_) | Step::Text(_) => Err(Error::new("a probe", "sends nothing")),
        };
        ask()?;
        transfer(&path, 14_480)?;
        ask()?;
        probe.read(&[1, 2], &mut probe::arrivals(), &mut out)?;
        out.flush().at(|| "records")?;
        let bytes = std::fs::read(dir.join(record::FILE)).at(|| "records")?;
        std::fs::remove_dir_all(&dir).at(|| "directory")?;
        let first = Head::from_bytes(&bytes).expect("a head");
        let end = Head::SIZE + first.len as usize;
        let second = Head::from_bytes(&bytes[end..]).expect("a second head");
        assert_eq!((first.time_ns, second.time_ns), (1, 2));
        let body =
            |at: usize, head: Head| &bytes[at + Head::SIZE..at + Head::SIZE + head.len as usize];
        let expected = [
            ("tbf".to_string(), record::qdisc_handle(0)),
            ("pfifo".to_string(), record::qdisc_handle(1)),
        ];
        assert_eq!(kinds(body(0, first)), expected);
        assert_eq!(kinds(body(end, second)), expected);
        assert_ne!(
            body(0, first),
            body(end, second),
            "what was sent is counted by the second alone"
        );
        Ok(())
    });
}
