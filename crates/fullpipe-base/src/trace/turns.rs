//! Flows that follow one another: which of them a trace has samples of.
//!
//! A flow that waits for another one has no state, and a closed one has no other state than its last. Without their samples
//! the size of a trace depends on the connections that begin, not on the number that a loop may make.

use super::{Event, EventKind};
use alloc::vec::Vec;

/// Part of a run, by the samples that a flow has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// None: the flow before this one is not over.
    Waits,
    /// All: the flow has begun, or follows no flow.
    Lives,
    /// Samples until the other end has read all, one at least: the next flow has begun.
    Ends,
    /// None: the flow had its last sample.
    Over,
}

/// Parts of all flows of a run, by events of a trace.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Flow that each flow follows, by index.
    before: Vec<Option<usize>>,
    parts: Vec<Part>,
}

impl Turns {
    /// Turns of flows. `answers`: the flow that each flow answers. `after`: the flow that each flow follows. An answer follows the answer of the flow
    /// before its own.
    pub fn new(answers: &[Option<usize>], after: &[Option<usize>]) -> Turns {
        let follows = |flow: usize| after.get(flow).copied().flatten();
        let mut answer_of = alloc::vec![None; answers.len()];
        for (answer, asks) in answers.iter().enumerate() {
            if let Some(of) = asks.and_then(|asks| answer_of.get_mut(asks)) {
                *of = Some(answer);
            }
        }

        // The answer of the flow before may be missing: then nothing ends with this one's beginning.
        let own = |(flow, asks): (usize, &Option<usize>)| match asks {
            Some(asks) => follows(*asks).map(|before| answer_of[before]),
            None => follows(flow).map(Some),
        };
        let all: Vec<Option<Option<usize>>> = answers.iter().enumerate().map(own).collect();
        let part = |own: &Option<_>| if own.is_some() { Part::Waits } else { Part::Lives };
        Turns {
            parts: all.iter().map(part).collect(),
            before: all.into_iter().map(Option::flatten).collect(),
        }
    }

    /// Takes an event: the beginning of a flow ends the flow before it.
    pub fn event(&mut self, event: &Event) {
        let flow = usize::from(event.flow);
        let waits = self.parts.get(flow) == Some(&Part::Waits);
        if event.kind != EventKind::Began || !waits {
            return;
        }
        self.parts[flow] = Part::Lives;
        if let Some(before) = self.before[flow] {
            self.parts[before] = Part::Ends;
        }
    }

    /// Whether a flow has the sample that is due.
    pub fn has_sample(&self, flow: usize) -> bool {
        let part = self.parts.get(flow);
        part.is_none_or(|part| matches!(part, Part::Lives | Part::Ends))
    }

    /// Takes the sample that was due: of a flow that ends it is the last one, if the other end has read all (`is_read`).
    pub fn taken(&mut self, flow: usize, is_read: bool) {
        let Some(part) = self.parts.get_mut(flow) else { return };
        if *part == Part::Ends && is_read {
            *part = Part::Over;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn began(flow: u16) -> Event {
        Event { time: Time::ZERO, flow, kind: EventKind::Began, value: 0 }
    }

    /// Flows of which the next sample has a row.
    fn due(turns: &mut Turns, flows: usize) -> Vec<usize> {
        of(turns, flows, true)
    }

    /// Flows of which the next sample has a row, where all is read, or data waits.
    fn of(turns: &mut Turns, flows: usize, is_read: bool) -> Vec<usize> {
        let due: Vec<usize> = (0..flows).filter(|flow| turns.has_sample(*flow)).collect();
        due.iter().for_each(|flow| turns.taken(*flow, is_read));
        due
    }

    #[test]
    fn a_flow_has_samples_from_its_beginning_to_that_of_the_next_one() {
        let mut turns = Turns::new(&[None; 4], &[None, Some(0), Some(1), None]);
        assert_eq!(due(&mut turns, 4), [0, 3]);
        turns.event(&began(1));
        assert_eq!(due(&mut turns, 4), [0, 1, 3]);
        assert_eq!(due(&mut turns, 4), [1, 3]);
        turns.event(&began(2));
        assert_eq!(due(&mut turns, 4), [1, 2, 3]);
        assert_eq!(due(&mut turns, 4), [2, 3]);
    }

    /// A reader is slower than the connection.
    #[test]
    fn a_flow_has_samples_until_all_is_read() {
        let mut turns = Turns::new(&[None; 2], &[None, Some(0)]);
        turns.event(&began(1));
        assert_eq!(of(&mut turns, 2, false), [0, 1]);
        assert_eq!(of(&mut turns, 2, false), [0, 1]);
        assert_eq!(of(&mut turns, 2, true), [0, 1]);
        assert_eq!(of(&mut turns, 2, true), [1]);
    }

    #[test]
    fn answers_take_turns_with_their_flows() {
        // Flows 0 and 1 ask, 2 and 3 answer them.
        let mut turns = Turns::new(&[None, None, Some(0), Some(1)], &[None, Some(0), None, None]);
        assert_eq!(due(&mut turns, 4), [0, 2]);
        turns.event(&began(1));
        turns.event(&began(3));
        assert_eq!(due(&mut turns, 4), [0, 1, 2, 3]);
        assert_eq!(due(&mut turns, 4), [1, 3]);
    }

    /// A client of calls begins on flows that follow none.
    #[test]
    fn other_beginnings_change_nothing() {
        let mut turns = Turns::new(&[None; 2], &[None; 2]);
        turns.event(&began(0));
        turns.event(&began(7));
        assert_eq!(due(&mut turns, 9), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
