//! Flows and events.

use super::hold;
use crate::record::{Call, Record};
use fullpipe_sim::config::Config;
use fullpipe_sim::trace::{Event, EventKind, FlowSample};
use fullpipe_sim::units::Time;

fn histories<'a>(config: &Config, record: &'a Record) -> Vec<Vec<&'a FlowSample>> {
    let of = |flow: usize| record.flows().filter(move |s| usize::from(s.flow) == flow);
    (0..config.flows.len()).map(|flow| of(flow).collect()).collect()
}

/// Bytes are read after they were sent, and acknowledged after they arrived, each once. So read and acknowledged bytes
/// never exceed those written, and all of a finished flow's bytes are read.
pub fn delivery(config: &Config, record: &Record) -> Result<(), String> {
    for (flow, samples) in config.flows.iter().zip(histories(config, record)) {
        for pair in samples.windows(2) {
            let (before, now) = (pair[0], pair[1]);
            hold!(before.bytes_delivered <= now.bytes_delivered, "{now:?}");
            hold!(before.segments_delivered <= now.segments_delivered, "{now:?}");
            hold!(before.bytes_acked <= now.bytes_acked, "{now:?}");
        }
        for now in samples {
            let most = flow.bytes.unwrap_or(u64::MAX);
            let mss = u64::from(config.mtu);
            hold!(now.bytes_delivered <= most && now.bytes_acked + now.unsent <= most, "{now:?}");
            hold!(now.bytes_delivered <= now.segments_sent * mss, "{now:?}");
            hold!(now.segments_delivered <= now.segments_sent, "{now:?}");
            // In segments the bound need not hold: lost data may be sent again in parts, as the window has room.
            hold!(now.bytes_delivered <= now.bytes_sent - now.bytes_retransmitted, "{now:?}");
            // A FIN alone, and the same once more, are in flight, but no segments of data.
            hold!(u64::from(now.in_flight) <= now.segments_sent + 2, "{now:?}");
            hold!(now.cwnd >= 1 && now.ca_state <= 4, "{now:?}");
        }
    }
    record.events().filter(|e| e.kind == EventKind::Finished).try_for_each(|event| {
        let bytes = config.flows[usize::from(event.flow)].bytes;
        hold!(bytes == Some(event.value), "{event:?} of {bytes:?}");
        Ok(())
    })
}

/// The times booked on limits are the time that has passed.
pub fn limits(record: &Record) -> Result<(), String> {
    for sample in record.flows() {
        let booked: u64 = sample.limits.iter().sum();
        hold!(booked == sample.time.0, "{booked} of {sample:?}");
    }
    Ok(())
}

/// Events lie between the samples around them. A flow's life has its order. Samples come at their interval and at the
/// end.
pub fn times(config: &Config, record: &Record) -> Result<(), String> {
    let mut next_sample = config.sample.min(config.end);
    let mut last_event = Time::ZERO;
    for call in &record.0[1..] {
        match call {
            Call::Event(event) => {
                hold!(event.time >= last_event && event.time <= next_sample, "{event:?}");
                last_event = event.time;
            }
            Call::Flow(sample) => hold!(sample.time == next_sample, "{sample:?}"),
            Call::Stage(sample) => {
                hold!(sample.time == next_sample, "{sample:?}");
                if usize::from(sample.stage) == record.announced().len() - 1 {
                    last_event = next_sample;
                    next_sample = (next_sample + config.sample).min(config.end);
                }
            }
            Call::Counter(_) => {}
            Call::Stages(_) => return Err("stages are announced once".into()),
        }
    }
    let last = record.samples().last().map(|s| s.time);
    hold!(last == Some(config.end), "{last:?}");
    (0..config.flows.len()).try_for_each(|flow| life(record, flow))
}

/// Connection, first data, end: each once, in this order.
fn life(record: &Record, flow: usize) -> Result<(), String> {
    let order =
        [EventKind::Established, EventKind::Accepted, EventKind::FirstData, EventKind::Finished];
    let of_flow = record.events().filter(|e| usize::from(e.flow) == flow);
    let found: Vec<&Event> = of_flow.filter(|e| order.contains(&e.kind)).collect();
    let kinds: Vec<_> = found.iter().map(|e| e.kind).collect();
    hold!(kinds[..] == order[..kinds.len()], "{found:?}");
    Ok(())
}
