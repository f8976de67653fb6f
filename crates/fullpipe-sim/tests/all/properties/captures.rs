//! A run that is watched.

use super::hold;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::Config;
use fullpipe_sim::sim;
use fullpipe_sim::trace::{
    Counter, Event, FlowSample, Packet, Point, Sink, StageInfo, StageSample,
};

/// A record with a capture at a point.
pub struct Watched {
    pub record: Record,
    point: Point,
    pub packets: Vec<Packet>,
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
    fn counter(&mut self, counter: &Counter) {
        self.record.counter(counter);
    }
    fn point(&self) -> Option<Point> {
        Some(self.point)
    }
    fn packet(&mut self, packet: &Packet) {
        self.packets.push(packet.clone());
    }
}

/// The run of `config`, watched at a point.
pub fn watched(config: &Config, point: Point) -> Result<Watched, String> {
    let mut watched = Watched { record: Record::default(), point, packets: Vec::new() };
    sim::run(config, &mut watched, &mut ToTheEnd)?;
    Ok(watched)
}

/// Packets that are seen between qdisc and driver of the sender.
pub fn seen_by_driver(config: &Config) -> Result<usize, String> {
    Ok(watched(config, Point::Qdisc(0))?.packets.len())
}

/// Whoever watches changes nothing, and sees packets in order of time, also where the path reorders
/// or duplicates them.
pub fn change_nothing(config: &Config, plain: &Record) -> Result<(), String> {
    let element = (!config.forward.is_empty()).then(|| Point::Element(config.forward.len() - 1));
    let hosts = 0..config.hosts().len();
    let points = hosts.flat_map(|host| [Point::Qdisc(host), Point::Wire(host)]);
    for point in points.chain(element) {
        let watched = watched(config, point)?;
        hold!(watched.record == *plain, "{point:?}");
        hold!(watched.packets.is_sorted_by_key(|packet| packet.time), "{point:?}");
    }
    Ok(())
}

/// The other host in a run that is turned round sees the same packets go and come, whatever their flows' direction.
pub fn turn_with_the_run(config: &Config, turned: &Config) -> Result<(), String> {
    let seen = |config, point, turns| {
        let mut packets = watched(config, point)?.packets;
        for packet in &mut packets {
            packet.forward ^= turns;
            packet.dropped.iter_mut().for_each(|dropped| dropped.stage = 0);
        }
        // Sightings of one time at both hosts are in the hosts' order.
        packets.sort_by_key(|packet| (packet.time, packet.forward));
        Ok::<_, String>(packets)
    };
    let (here, there) =
        (seen(config, Point::Qdisc(0), false)?, seen(turned, Point::Qdisc(1), true)?);
    let differ = here.iter().zip(&there).find(|(a, b)| a != b);
    hold!(differ.is_none() && here.len() == there.len(), "{differ:#?}");
    Ok(())
}
