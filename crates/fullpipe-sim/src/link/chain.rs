//! The chain of elements that packets pass between the hosts.
//!
//! Each element is a state machine fed with trains in order of time. An element has one input, so it may work on a
//! whole train at once: later input cannot change the train's fate.

use super::Element;
use crate::packet::Train;
use crate::stage::{Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::vec::Vec;

/// A link element: takes trains, gives trains, counts.
pub trait Stage {
    /// Takes a train and appends what leaves to `out`, in order of time.
    fn push(&mut self, train: &Train, out: &mut Vec<Train>);
    /// Shortest time that any packet takes.
    fn least_delay(&self) -> Time {
        Time::ZERO
    }
    /// The earliest time at which a held packet can leave, whatever else arrives.
    fn holds_until(&self) -> Time {
        self.wake_time().unwrap_or(Time::NEVER)
    }
    /// Time at which the element acts without input.
    fn wake_time(&self) -> Option<Time> {
        None
    }
    /// A router's messages about dropped packets, in order of time. They go back from here.
    fn messages(&mut self) -> Option<&mut Vec<Train>> {
        None
    }
    /// Releases packets that are due at `now` without input.
    fn wake(&mut self, _now: Time, _out: &mut Vec<Train>) {}
    /// Calls `each` for every train that the element still holds.
    fn held(&self, _each: &mut dyn FnMut(&Train)) {}
    /// The packets that the element dropped.
    fn drops(&mut self) -> &mut Drops;
    /// Description of the element; the path fills in `index` and `direction`.
    fn info(&self) -> StageInfo;
    /// Counters at `now`; `now` does not go back.
    fn sample(&mut self, now: Time) -> StageSample;
}

/// The elements in one direction.
pub struct Chain {
    stages: Vec<alloc::boxed::Box<dyn Stage>>,
    buffers: Vec<Vec<Train>>,
    /// The element in front of which packets are watched.
    watched: Option<usize>,
    seen: Vec<Train>,
    /// Time at which the first element acts; none: new input may have changed it.
    wake: Option<Time>,
    /// Places of the elements that send messages back.
    routers: Vec<usize>,
}

impl Chain {
    /// Builds the elements of one direction; `samples` are the trace's.
    pub fn new(elements: &[Element], seed: u64, samples: Samples) -> Chain {
        let stages: Vec<_> = elements.iter().map(|e| e.build(seed, samples)).collect();
        let buffers = (0..=stages.len()).map(|_| Vec::new()).collect();
        let routers = (0..elements.len())
            .filter(|at| matches!(&elements[*at], Element::Mtu(own) if own.icmp))
            .collect();
        Chain { stages, buffers, watched: None, seen: Vec::new(), wake: None, routers }
    }

    /// Elements that send messages back.
    pub fn routers(&self) -> usize {
        self.routers.len()
    }

    /// Calls `each` for the messages since the last call, with the number of their router.
    pub fn take_messages(&mut self, mut each: impl FnMut(usize, Train)) {
        for (number, &at) in self.routers.iter().enumerate() {
            let messages = self.stages[at].messages();
            messages.into_iter().flat_map(|sent| sent.drain(..)).for_each(|own| each(number, own));
        }
    }

    /// Sends a train in at the first element; what arrives at the end is appended to `arrivals`.
    pub fn push(&mut self, train: &Train, arrivals: &mut Vec<Train>) {
        self.wake = None;
        self.buffers[0].push(*train);
        self.run_from(0, arrivals);
    }

    /// Shortest time that any packet takes.
    pub fn least_delay(&self) -> Time {
        self.stages.iter().fold(Time::ZERO, |sum, stage| sum + stage.least_delay())
    }

    /// The earliest time at which a packet that an element holds for a timer can arrive, whatever is sent.
    pub fn holds_until(&self) -> Time {
        self.stages.iter().map(|stage| stage.holds_until()).min().unwrap_or(Time::NEVER)
    }

    /// Time at which the first element acts without input.
    pub fn wake_time(&mut self) -> Time {
        let stages = &self.stages;
        *self.wake.get_or_insert_with(|| {
            stages.iter().filter_map(|s| s.wake_time()).min().unwrap_or(Time::NEVER)
        })
    }

    /// Wakes the elements that are due at `now`.
    pub fn wake(&mut self, now: Time, arrivals: &mut Vec<Train>) {
        self.wake = None;
        for i in 0..self.stages.len() {
            if self.stages[i].wake_time().is_some_and(|t| t <= now) {
                let mut out = core::mem::take(&mut self.buffers[i + 1]);
                self.stages[i].wake(now, &mut out);
                self.buffers[i + 1] = out;
                self.run_from(i + 1, arrivals);
            }
        }
    }

    fn run_from(&mut self, from: usize, arrivals: &mut Vec<Train>) {
        // The output of an element is the input of the next one.
        let mut buffers = &mut self.buffers[from..];
        for (i, stage) in self.stages.iter_mut().enumerate().skip(from) {
            let [input, out, ..] = &mut *buffers else { break };

            // A capture at an element sees packets before the element decides on them.
            if self.watched == Some(i) {
                self.seen.extend_from_slice(input);
            }
            for train in &*input {
                stage.push(train, out);
            }
            input.clear();
            buffers = &mut buffers[1..];
        }
        arrivals.append(&mut buffers[0]);
    }

    /// Calls `each` for every train that an element still holds.
    pub fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.stages.iter().for_each(|stage| stage.held(each));
    }

    /// Starts to record packets that arrive at element `at` and packets that any element drops.
    pub fn watch(&mut self, at: Option<usize>) {
        self.watched = at;
        self.stages_mut().for_each(|stage| stage.drops().name());
    }

    /// Packets that arrived at the watched element since the last call.
    pub fn seen(&mut self) -> impl Iterator<Item = Train> {
        self.seen.drain(..)
    }

    /// Packets dropped since the last call, with the element's place.
    pub fn dropped(&mut self) -> impl Iterator<Item = (usize, Train)> {
        let stages = self.stages.iter_mut().enumerate();
        stages.flat_map(|(place, stage)| stage.drops().take().map(move |train| (place, train)))
    }

    /// The elements, for description and sampling.
    pub fn stages_mut(&mut self) -> impl Iterator<Item = &mut (dyn Stage + 'static)> {
        self.stages.iter_mut().map(|s| &mut **s)
    }
}
