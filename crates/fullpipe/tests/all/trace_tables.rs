//! Tables as files: a written table is read back; a damaged one is refused.

use crate::analysis_synthetic::*;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::{Names, Row};
use fullpipe::trace::{csv, table};
use fullpipe_sim::trace::{EventKind, FlowSample, Limit};
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

const FILES: [&str; 3] = ["flows.parquet", "stages.parquet", "events.parquet"];

fn small() -> Recording {
    let step = Step { segments: 3, limit: Limit::SenderCpu, busy_ms: 50 };
    let mut recording = steps(Time::ms(50), &[step; 30]);
    recording.events.push(event(Time::ms(60), EventKind::FirstData, MSS));
    recording
}

fn bytes_of(directory: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| fs::read(directory.join(name)).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn parquet_gives_back_what_was_written(recording in any_recording()) {
        let directory = tempdir().unwrap();
        table::write_all(directory.path(), &recording, &["a".into(), "b".into()]).unwrap();
        prop_assert_eq!(table::read_all(directory.path()).unwrap(), recording);
    }
}

#[test]
fn parquet_keeps_more_rows_than_a_row_group_holds() {
    let step = Step { segments: 1, limit: Limit::Idle, busy_ms: 0 };
    let recording = steps(Time::ZERO, &vec![step; 300_000]);
    let directory = tempdir().unwrap();
    table::write_all(directory.path(), &recording, &[]).unwrap();
    assert!(table::read_all(directory.path()).unwrap() == recording);
}

#[test]
fn equal_recordings_make_equal_files() {
    let (one, two) = (tempdir().unwrap(), tempdir().unwrap());
    table::write_all(one.path(), &small(), &["bulk".into()]).unwrap();
    table::write_all(two.path(), &small(), &["bulk".into()]).unwrap();
    assert!(bytes_of(one.path()) == bytes_of(two.path()));
}

#[test]
fn a_missing_table_is_named() {
    let directory = tempdir().unwrap();
    table::write_all(directory.path(), &small(), &[]).unwrap();
    fs::remove_file(directory.path().join("stages.parquet")).unwrap();
    let error = table::read_all(directory.path()).unwrap_err();
    assert!(error.path.ends_with("stages.parquet"), "{error}");
    assert!(error.what.starts_with("cannot read"), "{error}");
}

#[test]
fn one_table_is_not_taken_for_another() {
    let directory = tempdir().unwrap();
    table::write_all(directory.path(), &small(), &[]).unwrap();
    let path = |name| directory.path().join(name);
    fs::copy(path("events.parquet"), path("flows.parquet")).unwrap();
    let error = table::read_all(directory.path()).unwrap_err();
    assert_eq!(error.what, "damaged: not the table of flows");
}

/// Files that were cut off or in which bytes were changed must be refused or read as they were, and
/// never panic.
#[test]
fn damaged_tables_are_refused_without_a_panic() {
    let (good, bad) = (tempdir().unwrap(), tempdir().unwrap());
    table::write_all(good.path(), &small(), &["bulk".into()]).unwrap();
    let mut random = 1_u64;
    let mut next = move |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let mut wrong = 0;
    for round in 0..1500 {
        for (name, mut bytes) in FILES.iter().zip(bytes_of(good.path())) {
            if round % 10 == 0 {
                bytes.truncate(next(bytes.len()));
            }
            for _ in 0..(round % 4 + 1) {
                // The metadata at the end decide most: half of the changes go there.
                let at = if next(2) == 0 {
                    next(bytes.len().max(1))
                } else {
                    bytes.len().saturating_sub(1 + next(900))
                };
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if next(2) == 0 { next(256) as u8 } else { *byte ^ (1 << next(8)) };
                }
            }
            fs::write(bad.path().join(name), bytes).unwrap();
        }
        // A table that is not refused was not changed: a byte got its old value.
        wrong += usize::from(table::read_all(bad.path()).is_ok_and(|read| read != small()));
    }
    assert_eq!(wrong, 0, "damaged tables were read as if they were whole");
}

/// Columns that show more of a flow's two sockets.
const SOCKET_COLUMNS: usize = 38;

/// Tables of earlier runs lack these columns.
#[test]
fn columns_of_sockets_are_later_ones() {
    let columns = FlowSample::columns();
    let (others, sockets) = columns.split_at(columns.len() - SOCKET_COLUMNS);
    assert_eq!(
        (&*others[others.len() - 1].name, &*sockets[0].name),
        ("limit_small_queues_ns", "min_rtt_us")
    );
    assert!(sockets.iter().all(|column| FlowSample::is_later(&column.name)));
    assert!(!FlowSample::is_later("cwnd") && !FlowSample::is_later("unsent"));
}

#[test]
fn csv_has_the_columns_of_the_schema() {
    let sample = FlowSample { time: Time::ms(7), cwnd: 12, ..small().flows[0].clone() };
    let names = ["with, comma".to_string()];
    let names = Names { flows: &names, stages: &[] };
    let mut out = Vec::new();
    csv::write_table(&mut out, &[sample], &names).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("time_ns,flow,flow_name,bytes_delivered,"));
    assert!(lines[0].contains(",limit_idle_ns,limit_cwnd_slow_start_ns,limit_cwnd_avoidance_ns,limit_cwnd_recovery_ns,limit_receive_window_ns,limit_send_buffer_ns,limit_application_ns,limit_sender_cpu_ns,limit_qdisc_ns,limit_nagle_ns,limit_pacing_ns,limit_rpc_slots_ns,limit_page_cache_ns,limit_server_threads_ns,limit_record_gate_ns,limit_small_queues_ns,min_rtt_us,"));
    assert!(lines[0].ends_with(",total_rto,rcv_rtt_us,rcv_space,rcv_ooopack,rcv_wnd,rcvbuf,rmem_alloc,unread,rcv_mss,advmss,rcv_ssthresh,bytes_received"));
    assert!(lines[1].starts_with("7000000,0,\"with, comma\",3000,3,"));
    let sockets = ",0".repeat(SOCKET_COLUMNS);
    assert!(
        lines[1].ends_with(&(",0,0,0,0,0,0,0,100000000,0,0,0,0,0,0,0,0".to_string() + &sockets))
    );
}
