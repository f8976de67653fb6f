//! Comparison with real NFS: NFSv3 of Linux 6.12 in virtual time, 1 Gb/s, RTT 31.4 ms, MTU 1500. `dd bs=1M conv=fsync`
//! wrote 500 MB to a tmpfs export. Nothing of the simulator was fitted to these figures.

use super::{KIB, MIB, Run, Setup, host};
use fullpipe_base::limits::about;
use fullpipe_sim::trace::Limit;
use fullpipe_sim::units::{Rate, Time};

/// Bytes that dd writes.
const FILE: u64 = 500 * MIB;
/// Largest relative difference of a row from the real kernel.
const BAR: f64 = 0.05;

struct Row {
    name: &'static str,
    setup: Setup,
    /// KiB/s of the real kernel.
    real: f64,
    /// Limit of the transfer, unless the line limited it.
    limit: Option<Limit>,
}

fn rows() -> Vec<Row> {
    let plain = Setup::new().bytes(FILE);
    let with = |rmem: [u64; 2], wmem| Setup {
        hosts: [host(rmem[0], wmem), host(rmem[1], wmem)],
        ..plain.clone()
    };
    let defaults = with([6 * MIB, 6 * MIB], 4 * MIB);
    let small = with([6 * MIB, 3_158_016], 4 * MIB);
    let four = |setup: &Setup| Setup { connections: 4, ..setup.clone() };
    let short = plain.clone().record(64 * KIB);
    let row = |name, setup, real, limit| Row { name, setup, real, limit };
    vec![
        row("maxima 16 MiB", plain.clone(), 109_647.0, None),
        row("maxima 64 MiB", with([64 * MIB, 64 * MIB], 64 * MIB), 109_636.0, None),
        row("defaults", defaults.clone(), 83_835.0, Some(Limit::SendBuffer)),
        row("defaults, nconnect 4", four(&defaults), 111_122.0, None),
        row("tcp_rmem 3158016", small.clone(), 60_144.0, Some(Limit::ReceiveWindow)),
        row("the same, nconnect 4", four(&small), 111_143.0, None),
        row("2 slots", plain.clone().slots(2), 50_467.0, Some(Limit::RpcSlots)),
        row("4 slots", plain.clone().slots(4), 97_912.0, Some(Limit::RpcSlots)),
        row("16 slots", plain.slots(16), 109_647.0, None),
        row("wsize 64 KiB, 64 slots", short.clone(), 109_408.0, None),
        row("wsize 64 KiB, 16 slots", short.slots(16), 32_151.0, Some(Limit::RpcSlots)),
    ]
}

/// The limit with the largest share of the calls' time, but for the time without a file.
fn most(run: &Run) -> (usize, f64) {
    let limits = run.last(0).limits.into_iter().enumerate();
    let limits = limits.filter(|(limit, _)| *limit != Limit::Idle as usize);
    let (limit, ns) = limits.max_by_key(|(_, ns)| *ns).expect("there are limits");
    (limit, 100.0 * ns as f64 / run.lasted().0 as f64)
}

#[test]
fn beside_real_nfs() {
    for Row { name, setup, real, limit } in rows() {
        let run = setup.run();
        let apart = run.kib_per_s() / real - 1.0;
        let (most, share) = most(&run);
        println!(
            "{name:24} {real:9.0} KiB/s, here {:9.0}, {:+.1} %, {} {share:.0} %",
            run.kib_per_s(),
            100.0 * apart,
            about(most).name
        );
        assert!(apart.abs() < BAR, "{name}: {apart}");
        assert!(limit.is_none_or(|limit| limit as usize == most), "{name}: {}", about(most).name);
        assert_eq!(run.retransmitted(), 0, "{name}");
    }
}

/// Several connections are not alike: their slow starts end with windows of different size. If all calls are made at
/// once, each connection has a fourth of them. The slowest has some left when the others are done.
///
/// The real kernel makes calls as others are answered (fs.nfs.nfs_congestion_kb, 32 MiB with 1 GiB of memory). A
/// connection with fewer waiting calls gets the next one. So the bound costs nothing, whatever it is.
#[test]
fn connections_share_what_is_written_back() {
    for Row { name, setup, real, .. } in rows() {
        if setup.connections == 1 {
            continue;
        }
        for ahead in [16, 32, 128] {
            let apart = setup.clone().written_back(Some(ahead)).run().kib_per_s() / real - 1.0;
            println!("{name:24} {ahead} calls at a time {:+.1} %", 100.0 * apart);
            assert!(apart.abs() < 0.01, "{name}, {ahead}: {apart}");
        }
    }
}

/// READs of 256 KiB read 20 MiB, two at a time, over three connections that take turns. At 357.7 Mb/s and RTT 84.7 ms,
/// real NFSv4.2 takes 17.3 s. Each reply finds its connection idle, and cwnd is halved for each of its skbs. If it were
/// halved once for each RTO, the file would take a fourth of this time.
#[test]
fn connections_that_take_turns_begin_anew() {
    let setup = Setup {
        rate: Rate(357_732_000),
        delay: Time::us(42_359),
        end: Time::secs(40),
        connections: 3,
        ..Setup::new()
    };
    let run = setup.record(256 * KIB).bytes(20 * MIB).reading(1).slots(3).run();
    let took = run.lasted().as_secs_f64();
    assert!((took / 17.253 - 1.0).abs() < BAR, "{took} s");
}
