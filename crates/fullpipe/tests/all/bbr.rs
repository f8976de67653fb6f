//! BBR compared with that of real Linux 6.12.
//!
//! `tests/golden/bbr` has two scenarios, and of each of their variants what `fullpipe run --engine linux` wrote to
//! `flows.parquet` while the application wrote, on Linux 6.12.117 with HZ 1000. Of `startup.toml` it is the first second. Of the
//! runs of `losses.toml` that last 13 s it is every tenth sample.

use crate::made::made;
use fullpipe::scenario::{Scenario, Source, load};
use fullpipe::trace::recording::Recording;
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

fn scenario(name: &str) -> Scenario {
    load(&Source::text(name, &file(name)), &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// The recorded samples of a variant.
fn recorded(variant: &str) -> Vec<Row> {
    let text = file(&format!("{variant}.csv"));
    let row = |line: &str| -> Row {
        let values: Vec<u64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        values.try_into().expect("eight values")
    };
    text.lines().skip(1).map(row).collect()
}

/// The recorded samples up to where chance begins to act: before the first retransmission, which SACKs ask for that the
/// receiver's timers hold back, and before PROBE_BW, whose first phase is drawn.
fn recorded_start(variant: &str) -> Vec<Row> {
    let rows = recorded(variant);
    // ssthresh is one product and three skbs; cwnd is 2.9 products and as much in DRAIN, and 2 in PROBE_BW.
    let probes = |row: &Row| row[SSTHRESH] < INFINITE_SSTHRESH && row[CWND] <= 2 * row[SSTHRESH];
    let end = rows.iter().position(|row| row[RETRANSMITTED] > 0 || probes(row));
    rows[..end.expect("an end")].to_vec()
}

/// Each of these samples is the simulator's too.
fn assert_equal(variant: &str, trace: &Recording, expected: &[Row]) {
    for row in expected {
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
    }
}

/// Each sample of 10 ms is the kernel's: cwnd, ssthresh, what is in flight, sent and acknowledged, and the smoothed RTT.
#[test]
fn startup_and_drain_are_those_of_linux() {
    let scenario = scenario("startup.toml");
    let (mut compared, mut drained) = (0, 0);
    for plan in scenario.plans() {
        let variant = plan.name().to_string();
        let expected = recorded_start(&variant);
        let trace = made(&scenario, plan).1;
        assert_equal(&variant, &trace, &expected);
        compared += expected.len();
        drained += expected.iter().filter(|row| row[SSTHRESH] < INFINITE_SSTHRESH).count();
    }
    // The deep queue drains in more than a tenth of a second.
    assert!(compared > 150 && drained > 10, "{compared} samples, {drained} of DRAIN");
}

/// Where both draw the same phases of PROBE_BW, they are equal to the end. The runs have losses, timeouts, lost tails, a small
/// window, an application that pauses, PROBE_RTT, and a policed start.
#[test]
fn after_losses_bbr_is_that_of_linux() {
    let scenario = scenario("losses.toml");
    let (mut compared, mut probing) = (0, 0);
    for plan in scenario.plans() {
        let variant = plan.name().to_string();
        let expected = recorded(&variant);
        let last = expected.last().expect("a sample");
        assert!(last[RETRANSMITTED] > 0, "{variant}: nothing was sent again");

        let trace = made(&scenario, plan).1;
        assert_equal(&variant, &trace, &expected);
        compared += expected.len();
        probing += expected.iter().filter(|row| row[0] > 10_000_000 && row[CWND] == 4).count();
    }
    assert!(compared > 1000 && probing > 0, "{compared} samples, {probing} of PROBE_RTT");
}
