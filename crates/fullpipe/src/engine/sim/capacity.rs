//! What the trace says of a stage's capacity: none where nothing fixed bounds it.
//!
//! The simulator tells its own numbers: the largest one for a delay without limit, and for the send
//! buffer what the sockets begin with.

use crate::scenario::{Element, Resolved};
use fullpipe_sim::trace::{Event, FlowSample, Packet, Point, Sink, StageInfo, StageSample};

/// Passes everything on to `sink`, with the capacities that `resolved` gives.
pub struct Limited<'a> {
    pub resolved: &'a Resolved,
    pub sink: &'a mut dyn Sink,
}

impl Limited<'_> {
    /// Whether anything fixed bounds the stage.
    fn is_bounded(&self, stage: &StageInfo) -> bool {
        let autotuned = |flow: &crate::scenario::Flow| flow.sndbuf.is_none();
        if stage.kind == "send_buffer" {
            return !self.resolved.flow.iter().any(autotuned);
        }
        let path = &self.resolved.path;
        let unlimited = |element: &Element| {
            element.name() == stage.name
                && matches!(element, Element::Delay(delay) if delay.limit == u32::MAX)
        };
        !path.forward.iter().chain(&path.back).any(unlimited)
    }
}

impl Sink for Limited<'_> {
    fn stages(&mut self, stages: &[StageInfo]) {
        let told = |stage: &StageInfo| {
            let capacity = stage.capacity.filter(|_| self.is_bounded(stage));
            StageInfo { capacity, ..stage.clone() }
        };
        let told: Vec<StageInfo> = stages.iter().map(told).collect();
        self.sink.stages(&told);
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
    fn point(&self) -> Option<Point> {
        self.sink.point()
    }
    fn packet(&mut self, packet: &Packet) {
        self.sink.packet(packet);
    }
}
