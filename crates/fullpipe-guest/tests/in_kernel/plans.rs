//! Plans to run.

use fullpipe_guest::plan::{Flow, Host, Loss, Netem, Plan, Qdisc, Router, Watch, Way};
use fullpipe_guest::record::{LEFT_DEVICE, RIGHT_DEVICE, qdisc_handle};

/// ns.
pub const MS: u64 = 1_000_000;
/// ns.
pub const SECOND: u64 = 1000 * MS;

fn netem(delay_ns: u64, loss: Loss) -> Qdisc {
    Qdisc::Netem(Netem { delay_ns, limit: 1_000_000, loss, seed: 7, ..Netem::default() })
}

/// Puts random loss behind what is there.
pub fn lose(qdiscs: &mut Vec<Qdisc>, probability: f64) {
    qdiscs.push(netem(0, Loss::Random { probability }));
}

fn host(qdiscs: Vec<Qdisc>) -> Host {
    let wide = |name: &str| (format!("net/ipv4/{name}"), "4096 131072 67108864".to_string());
    let sysctl = vec![wide("tcp_rmem"), wide("tcp_wmem")];
    Host {
        sysctl,
        gso_max_segs: None,
        initcwnd: None,
        mtu: None,
        gro_flush_timeout_ns: 0,
        out: Way { qdiscs, ..Way::default() },
    }
}

fn watch(namespace: u16, device: u32) -> Watch {
    Watch { namespace, device, handle: qdisc_handle(0) }
}

/// A flow without end over a bottleneck of `rate` bits per second and `queue` bytes; 20 ms, MTU 1500, 4 s.
pub fn plan(rate: u64, queue: u32) -> Plan {
    let bottleneck = Qdisc::Tbf { rate, burst: 15_000, ahead_ns: 0, limit: queue, overhead: 0 };
    Plan {
        end_ns: 4 * SECOND,
        sample_ns: 100 * MS,
        counters_ns: MS,
        mtu: 1500,
        gso: false,
        real_time: false,
        seed: 1,
        sysctl: vec![("net/core/netdev_max_backlog".into(), "100000".into())],
        sender: host(vec![]),
        routers: vec![Router {
            forward: Way { qdiscs: vec![bottleneck], ..Way::default() },
            back: Way::default(),
        }],
        receiver: host(vec![netem(20 * MS, Loss::None)]),
        flows: vec![Flow {
            backward: false,
            answers: None,
            quickack: None,
            congestion: "cubic".into(),
            sndbuf: None,
            rcvbuf: None,
            sender_options: Vec::new(),
            receiver_options: Vec::new(),
            start_ns: 0,
            after: None,
            is_followed: false,
            bytes: None,
            duration_ns: None,
            write: 131_072,
            rate: None,
            messages: None,
            reader: None,
            plain: false,
        }],
        beside: vec![],
        nfs: vec![],
        datagrams: vec![],
        watched: vec![watch(1, RIGHT_DEVICE), watch(2, LEFT_DEVICE)],
    }
}
