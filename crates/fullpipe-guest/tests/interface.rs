//! The formats between engine and guest keep their form.

use fullpipe_guest::plan::{
    After, Apart, Beside, Chance, Change, Drops, Flow, Host, Loss, Netem, Nfs, NfsVersion,
    Overtake, Plan, Police, Qdisc, Reader, Router, Spread, Watch, Way, Wire,
};
use fullpipe_guest::record::{self, Head};

fn qdiscs() -> Vec<Qdisc> {
    let chance = Chance { probability: 0.25, correlation: 0.5 };
    let netem = |loss| {
        Qdisc::Netem(Netem {
            delay_ns: 40_000_000,
            spread: Some(Spread { width_ns: 1, normal: true, keep_order: false }),
            wire: Some(Wire { rate: 1_000_000_000, overhead: 24 }),
            limit: 1000,
            loss,
            duplicate: Some(chance),
            overtake: Some(Overtake { chance, gap: 3 }),
            seed: u64::MAX,
        })
    };
    vec![
        Qdisc::Tbf {
            rate: 100_000_000_000,
            burst: 9014,
            ahead_ns: 20,
            limit: 50_000_000,
            overhead: -14,
        },
        Qdisc::Htb { rate: 100_000_000_000, overhead: -14 },
        Qdisc::Ets,
        Qdisc::Pfifo { limit: 1000 },
        Qdisc::Bfifo { limit: 1 },
        netem(Loss::None),
        netem(Loss::Random { probability: 1e-7 }),
        netem(Loss::GilbertElliott { p: 1e-4, r: 0.3, bad: 1.0, good: 0.0 }),
        Qdisc::Fq { limit: 10_000, flow_limit: 100, initial_quantum: None, max_rate: None },
        Qdisc::Fq {
            limit: 10_000,
            flow_limit: 100,
            initial_quantum: Some(45_420),
            max_rate: Some(1_250_000),
        },
        Qdisc::FqCodel { limit: 10_240, target_us: 5000, interval_us: 100_000, ecn: true },
        Qdisc::Codel { limit: 1000, target_us: 5000, interval_us: 100_000, ecn: false },
        Qdisc::Red {
            limit: 1_000_000,
            min: 50_000,
            max: 150_000,
            weight_log: 9,
            probability: 0.02,
            packet_ns: 12_000,
            ecn: true,
        },
        Qdisc::Pie { limit: 1000, target_us: 15_000, update_us: 15_000, ecn: false },
        Qdisc::Cake {
            rate: Some(100_000_000),
            rtt_us: 100_000,
            overhead: 24,
            memory: None,
            ack_filter: false,
        },
    ]
}

fn plan() -> Plan {
    let drops = vec![Drops { flow: 0, segments: vec![3000, 3001], acks: vec![7], mark: false }];
    let apart = vec![Apart { flow: 1, qdisc: Qdisc::Pfifo { limit: 7 } }];
    let change = Change { at_ns: 9, number: 0, qdisc: Qdisc::Pfifo { limit: 8 } };
    let police = Some(Police { rate: 1_000_000, burst: 3000, overhead: 14, largest: Some(15) });
    let changes = vec![change];
    let (qdiscs_of_router, mtu, mss_clamp) = (vec![], None, Some(1360));
    let forward = Way { drops, police, apart, qdiscs: qdiscs_of_router, changes, mtu, mss_clamp };
    let host = Host {
        sysctl: vec![("net/ipv4/tcp_rmem".into(), "4096 131072 6291456".into())],
        gso_max_segs: Some(1),
        initcwnd: Some(2),
        mtu: Some(9000),
        gro_flush_timeout_ns: 20_000,
        out: Way { qdiscs: qdiscs(), ..Way::default() },
    };
    Plan {
        end_ns: 10_000_000_000,
        sample_ns: 1_000_000,
        counters_ns: 10_000_000,
        mtu: 9000,
        gso: false,
        real_time: false,
        seed: 1,
        sysctl: vec![("net/core/rmem_max".into(), "2147483647".into())],
        sender: host.clone(),
        routers: vec![Router { forward, back: Way::default() }],
        receiver: Host { gso_max_segs: None, ..host },
        flows: vec![Flow {
            backward: false,
            answers: None,
            quickack: None,
            congestion: "cubic".into(),
            sndbuf: Some(1 << 20),
            rcvbuf: None,
            sender_options: Vec::new(),
            receiver_options: Vec::new(),
            start_ns: 5,
            after: Some(After { flow: 3, pause_ns: 4, until_ns: Some(9) }),
            is_followed: true,
            bytes: Some(u64::MAX),
            duration_ns: None,
            write: 131_072,
            rate: None,
            messages: None,
            reader: Some(Reader { rate: 1_000_000_000_000_000, read: 65_536 }),
            plain: true,
        }],
        beside: vec![Beside { name: "near".into(), host: Host::default() }],
        datagrams: vec![],
        nfs: vec![Nfs {
            beside: Some(0),
            version: NfsVersion::V4_2,
            reads: true,
            files: 2,
            file: u64::MAX,
            record: 1,
            rsize: 2,
            wsize: 3,
            slots: Some(4),
            threads: 5,
            connections: 6,
            sync: true,
            timeo: Some(70),
            retrans: Some(71),
            readahead_kib: Some(7),
            start_ns: 8,
            congestion: "cubic".into(),
        }],
        watched: vec![Watch { namespace: 1, device: 3, handle: 1 << 16 }],
    }
}

#[test]
fn a_plan_comes_back_from_its_text() {
    let text = serde_json::to_string(&plan()).expect("a text");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan());
}

#[test]
fn a_qdisc_has_its_kind_beside_its_values() {
    let text = r#"{"kind":"netem","delay_ns":80000000,"spread":null,"limit":1000,
        "loss":{"kind":"gilbert_elliott","p":0.0001,"r":0.3,"bad":1,"good":0},
        "duplicate":{"probability":0.1,"correlation":0},"overtake":null,"seed":7}"#;
    let expected = Qdisc::Netem(Netem {
        delay_ns: 80_000_000,
        limit: 1000,
        loss: Loss::GilbertElliott { p: 1e-4, r: 0.3, bad: 1.0, good: 0.0 },
        duplicate: Some(Chance { probability: 0.1, correlation: 0.0 }),
        seed: 7,
        ..Netem::default()
    });
    assert_eq!(serde_json::from_str::<Qdisc>(text).expect("netem"), expected);
}

#[test]
fn a_head_has_sixteen_bytes() {
    let head = Head { kind: record::QDISCS, index: 0x102, len: 0x0304_0506, time_ns: 1 << 40 | 9 };
    let bytes = head.to_bytes();
    if cfg!(target_endian = "little") {
        assert_eq!(bytes, [3, 0, 2, 1, 6, 5, 4, 3, 9, 0, 0, 0, 0, 1, 0, 0]);
    }
    assert_eq!(Head::from_bytes(&bytes), Some(head));
    assert_eq!(Head::from_bytes(&bytes[..15]), None);
}
