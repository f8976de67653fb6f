//! Limits of a file's flows, and the counterfactual: relief of a limit makes the file faster.

use super::{KIB, MIB, Setup};
use fullpipe_sim::rpc::Taking;
use fullpipe_sim::trace::Limit;
use fullpipe_sim::units::{Rate, Time};

/// The flow of the data, and the limit that has most of its time.
fn most(setup: &Setup, flow: u16) -> (Limit, f64) {
    let run = setup.run();
    let all = [
        Limit::Idle,
        Limit::CwndSlowStart,
        Limit::CwndAvoidance,
        Limit::ReceiveWindow,
        Limit::SendBuffer,
        Limit::Application,
        Limit::SenderCpu,
        Limit::RpcSlots,
        Limit::PageCache,
        Limit::ServerThreads,
        Limit::RecordGate,
    ];
    // Time before the start and behind the end is idle, and none of these.
    let shares = all.into_iter().skip(1).map(|limit| (limit, run.share(flow, limit)));
    shares.max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are some")
}

fn is_faster(than: &Setup, relieved: Setup) {
    let [before, after] = [than, &relieved].map(|setup| setup.run().kib_per_s());
    assert!(after > 1.2 * before, "{after} against {before} KiB/s");
}

fn fast() -> Setup {
    Setup { rate: Rate::gbit(10), ..Setup::new() }.record(64 * KIB).bytes(16 * MIB)
}

#[test]
fn slots() {
    let setup = fast().slots(2);
    let (limit, share) = most(&setup, 0);
    assert!(limit == Limit::RpcSlots && share > 95.0, "{limit:?} {share}");
    is_faster(&setup, setup.clone().slots(4));
}

/// The replies have the data.
#[test]
fn slots_of_a_reader() {
    let setup = fast().reading(64).slots(2);
    let (limit, share) = most(&setup, 1);
    assert!(limit == Limit::RpcSlots && share > 95.0, "{limit:?} {share}");
    is_faster(&setup, setup.clone().slots(4));
}

#[test]
fn read_ahead() {
    let setup = fast().reading(1).slots(16);
    let (limit, share) = most(&setup, 1);
    assert!(limit == Limit::PageCache && share > 95.0, "{limit:?} {share}");
    is_faster(&setup, fast().reading(2).slots(16));
}

#[test]
fn written_back_at_a_time() {
    let setup = fast().slots(16).written_back(Some(2));
    let (limit, share) = most(&setup, 0);
    assert!(limit == Limit::PageCache && share > 95.0, "{limit:?} {share}");
    is_faster(&setup, setup.clone().written_back(Some(4)));
}

/// More slots do not help where threads are missing.
#[test]
fn threads() {
    let setup = fast().slots(16).threads(2, Time::ms(40));
    let (limit, share) = most(&setup, 0);
    assert!(limit == Limit::ServerThreads && share > 95.0, "{limit:?} {share}");
    is_faster(&setup, setup.clone().threads(4, Time::ms(40)));
    let [few, many] = [16, 64].map(|slots| setup.clone().slots(slots).run().kib_per_s());
    assert!((many / few - 1.0).abs() < 0.02, "{many} against {few}");
}

/// Calls that threads work on, none of which waits for one, wait for slots.
#[test]
fn service_time() {
    let setup = fast().slots(4).threads(8, Time::ms(40));
    let (limit, share) = most(&setup, 0);
    assert!(limit == Limit::RpcSlots && share > 95.0, "{limit:?} {share}");
    is_faster(&setup, setup.clone().slots(8));
}

#[test]
fn record_gate() {
    let mut setup = Setup { server_rcvbuf: Some(900 * KIB), ..Setup::new() }.record(256 * KIB);
    setup.hosts[1].sysctl.rmem_max = MIB;
    setup.server.taking = Taking::WholeRecords;
    let (limit, share) = most(&setup, 0);
    assert!(limit == Limit::RecordGate && share > 60.0, "{limit:?} {share}");
    let mut relieved = setup.clone();
    relieved.server.taking = Taking::AsItComes;
    assert_eq!(most(&relieved, 0).0, Limit::ReceiveWindow);
    let [before, after] = [&setup, &relieved].map(|setup| setup.run().kib_per_s());
    assert!(after > 1.02 * before, "{after} against {before} KiB/s");
}
