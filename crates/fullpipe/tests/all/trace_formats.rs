//! The reference page equals the declarations.

use fullpipe::results::formats;
use fullpipe::trace::packets::PacketTrain;
use fullpipe::trace::schema::Row;
use fullpipe_sim::trace::{Counter, Event, FlowSample, StageSample};
use std::collections::HashSet;

fn complete<R: Row>() -> Vec<String> {
    for column in R::columns() {
        assert!(!column.meaning.is_empty() && !column.point.is_empty(), "{}", column.name);
        let unit =
            [("_ns", "ns"), ("_us", "us")].into_iter().find(|(end, _)| column.name.ends_with(end));
        if let Some((_, unit)) = unit {
            assert_eq!(column.unit, unit, "{}", column.name);
        }
    }
    R::columns().into_iter().map(|column| column.name).collect()
}

#[test]
fn every_column_is_declared_once_and_described() {
    let (flows, stages) = (complete::<FlowSample>(), complete::<StageSample>());
    let packets = complete::<PacketTrain>();
    for names in [flows, stages, complete::<Event>(), complete::<Counter>(), packets] {
        let distinct: HashSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(names[0], "time_ns");
    }
}

#[test]
fn the_reference_names_every_field_of_the_document() {
    let page = formats::markdown();
    for field in [
        "`throughput_mbit`",
        "`time_to_plateau_s`",
        "`band_low`",
        "`blocked_s`",
        "`snd_wnd_packets`",
    ] {
        assert!(page.contains(field), "{field}");
    }
    assert!(page.contains("| `ssthresh` | integer or null |"));
    assert!(page.contains("| `intervals` | array of Interval |"));
    assert!(page.contains("| `limit_cwnd_slow_start_ns` | u64 | ns |"));
}
