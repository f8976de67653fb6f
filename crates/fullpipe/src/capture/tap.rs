//! A sink in front of another one that takes stages and packets out for a tap.

use fullpipe_base::trace::{
    Counter, Event, FlowSample, Packet, Point, Sink, StageInfo, StageSample,
};

/// A tap: receiver of stages and packets.
pub(super) trait Tap {
    /// Where packets are to be seen.
    fn point(&self) -> Point;
    /// The stages of the run.
    fn stages(&mut self, stages: &[StageInfo]);
    /// A packet passes the point.
    fn packet(&mut self, packet: &Packet);
}

/// Passes stages and packets to `tap`, and everything to `sink`.
pub(super) struct Tapped<'a, T> {
    pub(super) tap: &'a mut T,
    pub(super) sink: &'a mut dyn Sink,
}

impl<T: Tap> Sink for Tapped<'_, T> {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.tap.stages(stages);
        self.sink.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.sink.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.sink.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.sink.event(event);
    }
    fn counter(&mut self, counter: &Counter) {
        self.sink.counter(counter);
    }
    fn point(&self) -> Option<Point> {
        Some(self.tap.point())
    }
    fn packet(&mut self, packet: &Packet) {
        self.tap.packet(packet);
        self.sink.packet(packet);
    }
}
