//! A run that is watched.

use super::hold;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::Config;
use fullpipe_sim::sim;
use fullpipe_sim::trace::{Event, FlowSample, Packet, Point, Sink, StageInfo, StageSample};
use fullpipe_sim::units::Time;

/// Watches a point beside keeping a record.
struct Watched {
    record: Record,
    point: Point,
    times: Vec<Time>,
}

impl Sink for Watched {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.record.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.record.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.record.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.record.event(event);
    }
    fn point(&self) -> Option<Point> {
        Some(self.point)
    }
    fn packet(&mut self, packet: &Packet) {
        self.times.push(packet.time);
    }
}

/// Whoever watches changes nothing, and sees packets in order of time, also where the path reorders
/// or duplicates them.
pub fn change_nothing(config: &Config, plain: &Record) -> Result<(), String> {
    let element = (!config.forward.is_empty()).then(|| Point::Element(config.forward.len() - 1));
    let points = [Point::SenderQdisc, Point::SenderWire, Point::Receiver];
    for point in points.into_iter().chain(element) {
        let mut watched = Watched { record: Record::default(), point, times: Vec::new() };
        sim::run(config, &mut watched, &mut ToTheEnd)?;
        hold!(watched.record == *plain, "{point:?}");
        hold!(watched.times.is_sorted(), "{point:?}");
    }
    Ok(())
}
