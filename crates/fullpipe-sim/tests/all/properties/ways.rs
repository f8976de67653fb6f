//! Passage from stage to stage.

use super::hold;
use crate::record::Record;
use fullpipe_sim::config::{Config, Host, ReceivePath};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Packets that have left a stage have entered the next one at every sample, or were dropped by it. Between qdisc and
/// ring an skb becomes segments.
pub fn connect(config: &Config, record: &Record) -> Result<(), String> {
    let announced = record.announced();
    let samples: Vec<_> = record.samples().copied().collect();
    for at_one_time in samples.chunks(announced.len()) {
        let stages: Vec<_> = announced.iter().zip(at_one_time).collect();
        for (direction, from, to) in [
            ("forward", &config.sender, &config.receiver),
            ("back", &config.receiver, &config.sender),
        ] {
            let way = stages.iter().filter(|(s, _)| s.direction == direction).copied();
            let others = ["application", "send_buffer", "receive_buffer", "udp_socket", "cpu"];
            let way: Vec<_> = way.filter(|(s, _)| !others.contains(&s.kind)).collect();
            for pair in way.windows(2) {
                step(pair[0], pair[1], from, to)?;
            }
        }
    }
    Ok(())
}

type Place<'a> = (&'a StageInfo, &'a StageSample);

fn step(before: Place, after: Place, from: &Host, to: &Host) -> Result<(), String> {
    let ((stage, left), (next, came)) = (before, after);
    let came_in = came.entered + came.dropped;
    let names = format!("{} {left:?}, {} {came:?}", stage.name, next.name);
    // The driver may notice packets on the wire late.
    let late = stage.kind == "tx_ring" && from.tx_coalesce > Time::ZERO;
    match next.kind {
        _ if late => hold!((left.left..=left.entered).contains(&came_in), "{names}"),
        "tx_ring" if from.tso => hold!(left.left <= came_in, "{names}"),
        "backlog" if to.receive_path == ReceivePath::Napi => hold!(came_in == 0, "{names}"),
        _ => hold!(left.left == came_in, "{names}"),
    }
    Ok(())
}
