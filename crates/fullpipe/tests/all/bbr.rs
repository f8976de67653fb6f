//! BBR's STARTUP and DRAIN compared with real Linux 6.12.
//!
//! `tests/golden/bbr` has a scenario, and of each of its variants what `fullpipe run startup.toml --engine linux` wrote to
//! `flows.parquet` in the first second, on Linux 6.12.117 with HZ 1000.

use crate::made::made;
use fullpipe::scenario::{Source, load};
use std::path::PathBuf;

/// Values of a sample, in the order of the table.
type Row = [u64; 8];

const SSTHRESH: usize = 2;
const CWND: usize = 1;
const RETRANSMITTED: usize = 6;
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

fn file(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/golden/bbr", name].iter().collect();
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The recorded samples up to the first effect of chance. They end before the first retransmission, which follows SACKs
/// that the receiver's timers delay, and before PROBE_BW, which has a random first phase.
fn recorded(variant: &str) -> Vec<Row> {
    let text = file(&format!("{variant}.csv"));
    let row = |line: &str| -> Row {
        let values: Vec<u64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        values.try_into().expect("eight values")
    };
    let rows: Vec<Row> = text.lines().skip(1).map(row).collect();
    // ssthresh is one product and three skbs; cwnd is 2.9 products and as much in DRAIN, and 2 in PROBE_BW.
    let probes = |row: &Row| row[SSTHRESH] < INFINITE_SSTHRESH && row[CWND] <= 2 * row[SSTHRESH];
    let end = rows.iter().position(|row| row[RETRANSMITTED] > 0 || probes(row));
    rows[..end.expect("an end")].to_vec()
}

/// Each sample of 10 ms is the kernel's: cwnd, ssthresh, what is in flight, sent and acknowledged, and the smoothed RTT.
#[test]
fn startup_and_drain_are_those_of_linux() {
    let scenario = load(&Source::text("startup.toml", &file("startup.toml")), &[], &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    let (mut compared, mut drained) = (0, 0);
    for plan in scenario.plans() {
        let variant = plan.name().to_string();
        let expected = recorded(&variant);
        let trace = made(&scenario, plan).1;
        for row in &expected {
            let sample = trace.flows.iter().find(|own| own.time.as_us() == row[0]);
            let own = sample.expect("a sample at that time");
            let found: Row = [
                own.time.as_us(),
                own.cwnd.into(),
                own.ssthresh.into(),
                own.in_flight.into(),
                own.bytes_acked,
                own.segments_sent,
                own.segments_retransmitted,
                own.srtt_us.into(),
            ];
            assert_eq!(&found, row, "{variant}");
            drained += u32::from(own.ssthresh < 0x7fff_ffff);
        }
        compared += expected.len();
    }
    // The deep queue drains in more than a tenth of a second.
    assert!(compared > 150 && drained > 10, "{compared} samples, {drained} of DRAIN");
}
