//! A whole run in memory, as the sink received it.
//!
//! Limits:
//! - A trace is held in memory until its run ends.

use fullpipe_base::trace::{Counter, Event, FlowSample, Sink, StageInfo, StageSample};

/// Everything that a run recorded, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The stages, by index.
    pub stages: Vec<StageInfo>,
    /// Flow samples; all flows of one moment are neighbours.
    pub flows: Vec<FlowSample>,
    /// Stage samples; all stages of one moment are neighbours.
    pub stage_samples: Vec<StageSample>,
    /// Events.
    pub events: Vec<Event>,
    /// Counters of the operating system, each where it has changed; none of an engine that has none.
    pub counters: Vec<Counter>,
}

impl Sink for Recording {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.stages = stages.to_vec();
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.flows.push(sample.clone());
    }
    fn stage(&mut self, sample: &StageSample) {
        self.stage_samples.push(*sample);
    }
    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }
    fn counter(&mut self, counter: &Counter) {
        self.counters.push(counter.clone());
    }
}
