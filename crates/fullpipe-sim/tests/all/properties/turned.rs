//! A run that is turned round.

use super::hold;
use crate::record::Record;
use fullpipe_sim::config::{Config, Direction};
use fullpipe_sim::trace::{Event, FlowSample, StageSample};

/// A run with the two hosts exchanged.
pub fn round(config: &Config) -> Config {
    let mut turned = config.clone();
    std::mem::swap(&mut turned.sender, &mut turned.receiver);
    std::mem::swap(&mut turned.forward, &mut turned.back);
    for flow in &mut turned.flows {
        flow.direction = match flow.direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
    }
    turned
}

/// Nothing changes but the names of hosts and ways.
pub fn same(record: &Record, turned: &Record) -> Result<(), String> {
    let flows = |record: &Record| record.flows().cloned().collect::<Vec<FlowSample>>();
    let pairs = flows(record).into_iter().zip(flows(turned));
    for (here, there) in pairs {
        hold!(here == there, "{here:#?} {there:#?}");
    }
    hold!(events(record) == events(turned), "events");
    for stage in record.announced() {
        let other = match stage.name.split_once('.') {
            Some(("sender", place)) => format!("receiver.{place}"),
            Some(("receiver", place)) => format!("sender.{place}"),
            _ => stage.name.clone(),
        };
        // Stages of flows that no host has.
        let Some(other) = turned.announced().iter().find(|s| s.name == other) else { continue };
        let samples = |record: &Record, index| {
            let of = record.samples().filter(move |sample| sample.stage == index);
            of.map(|sample| StageSample { stage: 0, ..*sample }).collect::<Vec<_>>()
        };
        let (here, there) = (samples(record, stage.index), samples(turned, other.index));
        hold!(here == there, "{}", stage.name);
    }
    Ok(())
}

/// Hosts that do things at one time do them in their order, which is turned round too.
fn events(record: &Record) -> Vec<(u64, u16, u64, usize)> {
    let key = |event: &Event| (event.time.0, event.flow, event.value, event.kind as usize);
    let mut events: Vec<_> = record.events().map(key).collect();
    events.sort_unstable();
    events
}
