//! Calls of a sink, recorded, compared and shown.

use fullpipe_sim::trace::{Control, Counter, Event, FlowSample, Sink, StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::fmt::Write;

/// One call of a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`Sink::stages`]
    Stages(Vec<StageInfo>),
    /// [`Sink::flow`]
    Flow(Box<FlowSample>),
    /// [`Sink::stage`]
    Stage(StageSample),
    /// [`Sink::event`]
    Event(Event),
    /// [`Sink::counter`]
    Counter(Counter),
}

/// All calls, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record(pub Vec<Call>);

impl Sink for Record {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.0.push(Call::Stages(stages.to_vec()));
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.0.push(Call::Flow(Box::new(sample.clone())));
    }
    fn stage(&mut self, sample: &StageSample) {
        self.0.push(Call::Stage(*sample));
    }
    fn event(&mut self, event: &Event) {
        self.0.push(Call::Event(*event));
    }
    fn counter(&mut self, counter: &Counter) {
        self.0.push(Call::Counter(counter.clone()));
    }
}

/// A control that lets a run go to its end.
pub struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

impl Record {
    /// The stages that were announced.
    pub fn announced(&self) -> &[StageInfo] {
        match self.0.first() {
            Some(Call::Stages(stages)) => stages,
            _ => panic!("the stages come first"),
        }
    }

    /// Samples of flows.
    pub fn flows(&self) -> impl Iterator<Item = &FlowSample> {
        self.0.iter().filter_map(|c| if let Call::Flow(f) = c { Some(&**f) } else { None })
    }

    /// Samples of stages.
    pub fn samples(&self) -> impl Iterator<Item = &StageSample> {
        self.0.iter().filter_map(|c| if let Call::Stage(s) = c { Some(s) } else { None })
    }

    /// Events.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.0.iter().filter_map(|c| if let Call::Event(e) = c { Some(e) } else { None })
    }

    /// Counters.
    pub fn counters(&self) -> impl Iterator<Item = &Counter> {
        self.0.iter().filter_map(|c| if let Call::Counter(c) = c { Some(c) } else { None })
    }

    /// The first call in which `self` and `other` differ, as a table with the calls before it; none if they are equal.
    pub fn difference(&self, names: [&str; 2], other: &Record) -> Option<String> {
        let longest = self.0.len().max(other.0.len());
        let at = (0..longest).find(|&i| self.0.get(i) != other.0.get(i))?;
        let mut text = String::from("events before:\n");
        let before = self.0[..at].iter().filter_map(|call| match call {
            Call::Event(event) => Some(event),
            _ => None,
        });
        let before: Vec<_> = before.collect();
        for event in &before[before.len().saturating_sub(12)..] {
            let Event { time, flow, kind, value } = event;
            writeln!(text, "  {time:>16} flow {flow} {} {value}", kind.name()).unwrap();
        }
        text += "events after:\n";
        for (name, calls) in names.into_iter().zip([&self.0, &other.0]) {
            let after = calls[at.min(calls.len())..].iter();
            for call in after.filter(|c| matches!(c, Call::Event(_))).take(4) {
                writeln!(text, "  {name}: {call:?}").unwrap();
            }
        }
        if let Some(Call::Stage(sample)) = self.0.get(at) {
            let name = &self.announced()[usize::from(sample.stage)].name;
            writeln!(text, "stage: {name}").unwrap();
        }
        writeln!(text, "call {at}:  {:<44} {}", names[0], names[1]).unwrap();
        side_by_side(&mut text, self.0.get(at), other.0.get(at));
        Some(text)
    }
}

fn side_by_side(text: &mut String, left: Option<&Call>, right: Option<&Call>) {
    let show = |call: Option<&Call>| call.map_or("nothing".into(), |c| format!("{c:#?}"));
    let (left, right) = (show(left), show(right));
    let (mut a, mut b) = (left.lines(), right.lines());
    loop {
        let (l, r) = (a.next(), b.next());
        if l.is_none() && r.is_none() {
            return;
        }
        let (l, r) = (l.unwrap_or(""), r.unwrap_or(""));
        let mark = if l == r { ' ' } else { '*' };
        writeln!(text, "{mark} {l:<50} {r}").unwrap();
    }
}
