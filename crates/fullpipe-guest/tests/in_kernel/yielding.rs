//! Whether lp yields. It takes a one-way delay for the difference of two timestamps, each of a host's own clock.

use fullpipe_guest::plan::Flow;
use fullpipe_guest::record::SENDER;

use super::plans::{SECOND, plan};
use super::{BYTES_ACKED, of_kind, records, u64_at};

/// Bytes of a flow of this algorithm and of reno's, which share 30 s of 10 Mb/s; none without a kernel.
fn shares(congestion: &str, timestamps: &str) -> Option<[u64; 2]> {
    let mut plan = plan(10_000_000, 60_000);
    plan.end_ns = 30 * SECOND;
    let name = "net/ipv4/tcp_timestamps".to_string();
    plan.sender.sysctl.push((name.clone(), timestamps.into()));
    plan.receiver.sysctl.push((name, timestamps.into()));
    let model = plan.flows[0].clone();
    let flow = |congestion: &str, start_ns| {
        let congestion = congestion.to_string();
        Flow {
            congestion,
            start_ns,
            rcvbuf: Some(4_000_000),
            sndbuf: Some(4_000_000),
            ..model.clone()
        }
    };
    plan.flows = vec![flow(congestion, 0), flow("reno", SECOND / 2)];
    let records = records(&plan)?;
    let acked = |flow: u16| {
        let samples = of_kind(&records, SENDER).filter(|sample| sample.head.index == flow);
        u64_at(&samples.last().expect("samples").body, BYTES_ACKED)
    };
    Some([0, 1].map(acked))
}

/// Without timestamps lp has no delay to go by.
#[test]
fn lp_yields_to_reno_where_timestamps_have_no_offsets() {
    const NONE: &str = "0";
    const WITHOUT_OFFSETS: &str = "2";
    let Some([lp, reno]) = shares("lp", WITHOUT_OFFSETS) else { return };
    assert!(lp * 2 < reno && lp + reno > 33_000_000, "{lp} beside {reno}");
    let [first, second] = shares("reno", WITHOUT_OFFSETS).expect("a kernel");
    assert!(first * 4 > second * 3, "{first} beside {second}");
    assert_eq!(shares("lp", NONE), shares("reno", NONE));
}

/// Linux gives timestamps random offsets. With offsets the difference of two timestamps is any number of 32 bits, and
/// lp's average is eight times the difference (tcp_lp_rtt_sample). For most offsets the average overflows, and lp never
/// sees a delay above its threshold.
#[test]
fn lp_is_reno_where_timestamps_have_offsets() {
    const WITH_OFFSETS: &str = "1";
    let Some(lp) = shares("lp", WITH_OFFSETS) else { return };
    assert_eq!(Some(lp), shares("reno", WITH_OFFSETS));
}
