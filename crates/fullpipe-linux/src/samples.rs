//! Joins records into samples: a sample is passed on when all records of its time have arrived.

use super::counters::Names;
use super::emulator::{Emulator, Sampled};
use super::flows::{sending_end, socket};
use super::topology::{Counters, List, Seen, Watched};
use fullpipe_base::trace::{Counter, Event, EventKind, Sink, StageSample, Turns};
use fullpipe_base::units::Time;
use fullpipe_guest::record::{self, Head};
use fullpipe_guest::refusal::Refusal;
use fullpipe_observe::flow::{FlowState, SendingEnd};
use fullpipe_observe::qdisc::{Counted, Qdisc};
use fullpipe_observe::tcp_info::{TcpInfo, number};
use fullpipe_scenario::Resolved;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Samples that are being put together, with the state between them.
pub(super) struct Samples {
    stages: Vec<Watched>,
    /// Namespaces with qdiscs that are recorded at each sample.
    namespaces: BTreeSet<u16>,
    flows: Vec<FlowState>,
    /// Flows that have samples now.
    turns: Turns,
    mss: u32,
    interval: u64,
    end: u64,
    /// The next sample, and the records that have arrived for it and later ones.
    next: u64,
    waiting: BTreeMap<u64, Pending>,
    counted: HashMap<Counters, Counted>,
    /// Busy time of each stage up to the last sample, ns; the sample's time is `sampled_at`.
    busy: Vec<u64>,
    sampled_at: Time,
    /// Whether the guest has reported its end; its error.
    pub(super) done: bool,
    pub(super) failed: Option<String>,
    /// Value that the kernel refuses.
    pub(super) refused: Option<Refusal>,
    /// Data segments sent.
    pub(super) segments: u64,
    /// Counters of lists of losses.
    lists: HashMap<List, Counted>,
    counter_names: Names,
    /// The congestion control that was asked for, of each flow.
    congestion: Vec<String>,
    /// The path of the engine `host`.
    pub(super) emulator: Option<Emulator>,
    /// Stages of that path, by the time of their sample, ns.
    emulated: BTreeMap<u64, Sampled>,
}

/// Records of a sample that have arrived.
#[derive(Default)]
struct Pending {
    flows: Vec<(Side, u16, TcpInfo)>,
    qdiscs: Vec<(Counters, Counted)>,
    namespaces: BTreeSet<u16>,
    events: Vec<Event>,
    counters: Vec<Counter>,
}

enum Side {
    Sender,
    Receiver,
}

impl Samples {
    /// Samples of the flows and stages of `run`; `sink` gets the stages.
    pub(super) fn of_run(stages: Vec<Watched>, run: &Resolved, sink: &mut dyn Sink) -> Samples {
        let infos: Vec<_> = stages.iter().map(|stage| stage.info.clone()).collect();
        sink.stages(&infos);
        let ends: Vec<_> = run.flow.iter().map(|flow| sending_end(flow, run)).collect();
        let (interval, end) = (run.report.sample.0, run.duration.0);
        let congestion = run.flow.iter().map(|flow| flow.congestion.name.clone()).collect();
        let samples = Samples::new(stages, &ends, run.turns(), run.mss(), interval, end);
        Samples { congestion, ..samples }
    }

    pub(super) fn new(
        stages: Vec<Watched>,
        ends: &[SendingEnd],
        turns: Turns,
        mss: u32,
        interval: u64,
        end: u64,
    ) -> Samples {
        let namespaces = stages.iter().flat_map(|stage| stage.seen.namespaces()).collect();
        Samples {
            busy: vec![0; stages.len()],
            sampled_at: Time::ZERO,
            stages,
            namespaces,
            flows: ends.iter().map(|end| FlowState::new(*end)).collect(),
            turns,
            mss,
            interval,
            end,
            next: interval.min(end),
            waiting: BTreeMap::new(),
            counted: HashMap::new(),
            done: false,
            failed: None,
            refused: None,
            segments: 0,
            lists: HashMap::new(),
            counter_names: Names::default(),
            congestion: Vec::new(),
            emulator: None,
            emulated: BTreeMap::new(),
        }
    }

    /// Takes a record.
    pub(super) fn take(&mut self, head: Head, body: &[u8]) {
        let time = head.time_ns;
        match head.kind {
            record::SENDER => self.at(time).flows.push((Side::Sender, head.index, socket(body))),
            record::RECEIVER => {
                self.at(time).flows.push((Side::Receiver, head.index, socket(body)));
            }
            record::QDISCS => {
                let found = Qdisc::read_all(body).map(|own| {
                    let (device, handle) = (own.device, own.handle);
                    (Counters { namespace: head.index, device, handle }, own.counted)
                });
                let pending = self.at(time);
                pending.qdiscs.extend(found);
                pending.namespaces.insert(head.index);
            }
            record::EVENT => self.event(head, body),
            record::NAMES => self.counter_names.name(head.index, &text(body)),
            record::COUNTERS => {
                let counters = self.counter_names.read(head, body);
                self.at(time).counters.extend(counters);
            }
            record::DROPPED => {
                let (list, met) = met(head.index, body);
                self.lists.insert(list, met);
            }
            record::FAILED => self.failed = Some(text(body)),
            record::REFUSED => self.refused = serde_json::from_str(&text(body)).ok(),
            record::DONE => self.done = true,
            _ => {}
        }
    }

    /// Parts of the sample at `time`, or of the first later one that has not been passed on.
    fn at(&mut self, time: u64) -> &mut Pending {
        let sample = time.next_multiple_of(self.interval).max(self.next).min(self.end);
        self.waiting.entry(sample).or_default()
    }

    fn event(&mut self, head: Head, body: &[u8]) {
        let kind = match word(body, 0) {
            record::ESTABLISHED => {
                if let Some(flow) = self.flows.get_mut(usize::from(head.index)) {
                    flow.connected(word(body, 16));
                }
                self.check_congestion(head.index, body.get(24..).unwrap_or_default());
                EventKind::Established
            }
            record::ACCEPTED => EventKind::Accepted,
            record::FINISHED => EventKind::Finished,
            record::ABORTED => EventKind::Aborted,
            record::ANSWERED => EventKind::Answered,
            record::MESSAGE_READ => EventKind::MessageRead,
            record::BEGAN => EventKind::Began,
            _ => return,
        };
        let event =
            Event { time: Time(head.time_ns), flow: head.index, kind, value: word(body, 8) };
        self.at(head.time_ns).events.push(event);
    }

    /// The run fails if a flow's socket has another congestion control than was asked for.
    fn check_congestion(&mut self, flow: u16, name: &[u8]) {
        let Some(asked) = self.congestion.get(usize::from(flow)) else { return };
        let has = text(name);
        if has != *asked {
            self.failed = Some(format!("flow {flow} has congestion control {has:?}, not {asked}"));
        }
    }

    /// Passes the complete samples on to the sink, with `all` also those that never will be; returns the time of the
    /// last one.
    pub(super) fn emit(&mut self, sink: &mut dyn Sink, all: bool) -> Option<Time> {
        if let Some(emulator) = &mut self.emulator {
            self.emulated.extend(emulator.samples().map(|own| (own.time, own)));
            // The guest ends with the run, a moment before the last sample of the path.
            if all && self.next <= self.end && !self.emulated.contains_key(&self.end) {
                let last = emulator.last_samples(self.end);
                self.emulated.extend(last.into_iter().map(|own| (own.time, own)));
            }
            self.failed = self.failed.take().or(emulator.failure());
        }
        let mut last = None;
        while self.next <= self.end && (self.is_whole() || all && !self.waiting.is_empty()) {
            let pending = self.waiting.remove(&self.next).unwrap_or_default();
            last = Some(Time(self.next));
            self.emit_one(pending, sink);
            if self.next == self.end {
                self.next = u64::MAX;
                break;
            }
            self.next = (self.next + self.interval).min(self.end);
        }
        last
    }

    /// Whether the next sample is complete. The last sample waits for the records of the guest's end.
    fn is_whole(&self) -> bool {
        if self.next == self.end && !self.done {
            return false;
        }
        if self.emulator.is_some() && !self.emulated.contains_key(&self.next) {
            return false;
        }
        self.waiting
            .get(&self.next)
            .is_some_and(|pending| self.namespaces.is_subset(&pending.namespaces))
    }

    fn emit_one(&mut self, pending: Pending, sink: &mut dyn Sink) {
        let time = Time(self.next);
        let mut events = pending.events;
        for (side, flow, info) in pending.flows {
            let Some(state) = self.flows.get_mut(usize::from(flow)) else { continue };
            match side {
                Side::Sender => state.sender = info.after(&state.sender),
                Side::Receiver => state.receiver = info.after(&state.receiver),
            }
        }
        for event in events.iter().filter(|event| event.kind == EventKind::Aborted) {
            let flow = self.flows.get_mut(usize::from(event.flow));
            flow.into_iter().for_each(FlowState::abort);
        }
        for event in events.iter().filter(|event| event.kind == EventKind::Began) {
            self.turns.event(event);
            let flow = self.flows.get_mut(usize::from(event.flow));
            flow.into_iter().for_each(|flow| flow.begin(event.time));
        }
        let (mss, turns) = (self.mss, &self.turns);
        let sampled = self.flows.iter_mut().enumerate().filter(|(i, _)| turns.has_sample(*i));
        let sampled = sampled.map(|(i, flow)| flow.sample(time, i as u16, mss));
        let (samples, changes): (Vec<_>, Vec<_>) = sampled.unzip();
        for sample in &samples {
            let is_read = sample.bytes_delivered >= sample.bytes_acked;
            self.turns.taken(usize::from(sample.flow), is_read);
        }
        events.extend(changes.into_iter().flatten());

        // Changes of state become events as well, so all are brought in order of time.
        events.sort_by_key(|event| event.time);
        events.iter().for_each(|event| sink.event(event));
        self.segments = self.flows.iter().map(|flow| flow.sender.data_segs_out).sum();
        samples.iter().for_each(|sample| sink.flow(sample));

        // A qdisc without a record keeps the counters that it had.
        self.counted.extend(pending.qdiscs);
        let emulated = self.emulated.remove(&self.next).unwrap_or_default();
        emulated.stages.iter().for_each(|stage| sink.stage(stage));
        for index in 0..self.stages.len() {
            if self.stages[index].seen == Seen::Emulator {
                continue;
            }
            let (entered, counted) = self.counted(self.stages[index].seen);
            let busy_ns = self.works(index, time, counted);
            let sample = stage_sample(time, index as u16, entered, counted);
            sink.stage(&StageSample { busy_ns, ..sample });
        }
        self.sampled_at = time;
        pending.counters.iter().for_each(|counter| sink.counter(counter));
        emulated.counters.iter().for_each(|counter| sink.counter(counter));
    }

    /// Busy time of a stage up to `time`, ns. Packets that a qdisc has counted may be on the wire still.
    fn works(&mut self, stage: usize, time: Time, counted: Counted) -> u64 {
        let serial = self.stages[stage].serial;
        let takes = serial.map_or(0, |serial| serial.busy_ns(counted.bytes, counted.packets));
        let most = self.busy[stage] + time.saturating_sub(self.sampled_at).as_ns();
        self.busy[stage] = takes.min(most);
        self.busy[stage]
    }

    /// Units that entered a stage, and its counters.
    fn counted(&self, seen: Seen) -> (u64, Counted) {
        let at = |at| self.counted.get(&at).copied().unwrap_or_default();
        let counted = match seen {
            // More packets leave a duplicating netem than enter it, so another qdisc counts arrivals.
            Seen::Copies { after, before } => return (at(before).packets, at(after)),
            Seen::Qdisc(qdisc) => at(qdisc),
            Seen::Marking { queue, by } => Counted { marks: at(by).marks, ..at(queue) },
            // An ingress qdisc counts packets that its filter drops as passed.
            Seen::Incoming(qdisc) => {
                let all = at(qdisc);
                Counted { packets: all.packets.saturating_sub(all.drops), ..all }
            }
            // A router drops silently; the counters before and behind it show that.
            Seen::Router { before, after } => {
                let (came, left) = (at(before).packets, at(after));
                Counted { drops: came.saturating_sub(left.packets), ..left }
            }
            Seen::List(list) => self.lists.get(&list).copied().unwrap_or_default(),
            Seen::Emulator => Counted::default(),
        };
        (counted.packets + counted.waiting, counted)
    }
}

/// A list of losses or marks on that router, and its counters.
fn met(router: u16, body: &[u8]) -> (List, Counted) {
    let [flow, back, segments, met, acks, met_acks, marks] =
        [0, 1, 2, 3, 4, 5, 6].map(|n| word(body, 8 * n));
    let (came, met) = (segments + acks, met + met_acks);
    let counted = match marks {
        0 => Counted { packets: came.saturating_sub(met), drops: met, ..Counted::default() },
        _ => Counted { packets: came, marks: met, ..Counted::default() },
    };
    (List { router, flow: flow as u16, back: back == 1 }, counted)
}

/// A qdisc's counters; its level is known at samples only, and so is its peak. It is not timed.
fn stage_sample(time: Time, stage: u16, entered: u64, counted: Counted) -> StageSample {
    StageSample {
        time,
        stage,
        waiting: counted.waiting,
        waiting_bytes: counted.waiting_bytes,
        peak: counted.waiting,
        entered,
        left: counted.packets,
        dropped: counted.drops,
        marked: counted.marks,
        ..StageSample::default()
    }
}

pub(super) fn word(body: &[u8], at: usize) -> u64 {
    number(body, at).map_or(0, u64::from_ne_bytes)
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).trim_end_matches('\0').trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::card_stage;
    use crate::realise::Serial;
    use fullpipe_base::path::{Direction, QueueLimit};
    use fullpipe_scenario::{Qdisc, QdiscKind};
    use fullpipe_trace::recording::Recording;

    const MS: u64 = 1_000_000;
    const QUEUE: Qdisc = Qdisc {
        maxrate: None,
        initial_quantum: None,
        kind: QdiscKind::PfifoFast,
        limit: QueueLimit::Packets(1000),
        flow_limit: None,
        codel: None,
        red: None,
        netem: None,
    };

    fn samples(end: u64) -> Samples {
        Samples::new(
            vec![card_stage("sender", Direction::Forward, &QUEUE, 0)],
            &[SendingEnd::default()],
            Turns::new(&[None], &[None]),
            1448,
            MS,
            end,
        )
    }

    fn take(samples: &mut Samples, kind: u16, time_ns: u64, body: &[u8]) {
        samples.take(Head { kind, index: 0, len: body.len() as u32, time_ns }, body);
    }

    #[test]
    fn a_sample_waits_for_its_qdiscs_and_the_last_one_for_the_end() {
        let (mut samples, mut recording) = (samples(2 * MS), Recording::default());
        take(&mut samples, record::SENDER, MS, &[0; 256]);
        assert_eq!(samples.emit(&mut recording, false), None);
        take(&mut samples, record::SENDER, 2 * MS, &[0; 256]);
        take(&mut samples, record::QDISCS, MS, &[]);
        take(&mut samples, record::QDISCS, 2 * MS, &[]);
        assert_eq!(samples.emit(&mut recording, false), Some(Time(MS)));
        take(&mut samples, record::DONE, 2 * MS, &[]);
        assert_eq!(samples.emit(&mut recording, false), Some(Time(2 * MS)));
        assert_eq!((recording.flows.len(), recording.stage_samples.len()), (2, 2));
    }

    /// Packets that leave a queue ahead of the wire do not make the wire idle afterwards.
    #[test]
    fn a_stage_works_no_longer_than_the_time_that_passes() {
        let serial = Some(Serial { rate: 8_000_000, uncounted: 0 });
        let card = Watched { serial, ..card_stage("sender", Direction::Forward, &QUEUE, 0) };
        let mut samples = Samples::new(vec![card], &[], Turns::new(&[], &[]), 1448, MS, 9 * MS);
        let mut works = |ms: u64, bytes: u64| {
            let works = samples.works(0, Time::ms(ms), Counted { bytes, ..Counted::default() });
            samples.sampled_at = Time::ms(ms);
            works / 1000
        };
        assert_eq!([works(1, 1500), works(2, 2000), works(3, 2100)], [1000, 2000, 2100]);
        assert_eq!([works(4, 2100), works(5, 9000)], [2100, 3100]);
    }

    #[test]
    fn another_congestion_control_than_was_asked_for_is_a_failure() {
        let failure = |name: &[u8]| {
            let mut samples = samples(2 * MS);
            samples.congestion = vec!["cubic".into()];
            let body = [&record::ESTABLISHED.to_ne_bytes()[..], &[0; 16], name].concat();
            take(&mut samples, record::EVENT, MS, &body);
            samples.failed
        };
        assert_eq!(failure(b"cubic\0\0\0\0\0\0\0\0\0\0\0"), None);
        let other = failure(b"reno\0\0\0\0\0\0\0\0\0\0\0\0").expect("a failure");
        assert_eq!(other, "flow 0 has congestion control \"reno\", not cubic");
        assert!(failure(b"").is_some(), "a guest that does not say");
    }

    #[test]
    fn events_come_with_the_sample_after_them_in_order_of_time() {
        let (mut samples, mut recording) = (samples(9 * MS), Recording::default());
        let event = |kind: u64, value: u64| [kind.to_ne_bytes(), value.to_ne_bytes()].concat();
        take(&mut samples, record::EVENT, MS + 9, &event(record::ACCEPTED, 0));
        take(&mut samples, record::EVENT, MS + 5, &event(record::ESTABLISHED, 77));
        take(&mut samples, record::QDISCS, MS, &[]);
        take(&mut samples, record::QDISCS, 2 * MS, &[]);
        assert_eq!(samples.emit(&mut recording, false), Some(Time(2 * MS)));
        let seen: Vec<_> =
            recording.events.iter().map(|e| (e.time.0 - MS, e.kind, e.value)).collect();
        assert_eq!(seen, [(5, EventKind::Established, 77), (9, EventKind::Accepted, 0)]);
    }
}
