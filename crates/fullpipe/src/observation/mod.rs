//! Live connections as runs: the trace of an observation, judged from the sockets of this host.

mod joined;
pub(crate) mod meta;

pub use joined::{join, other_end};

pub use fullpipe_observe::live::{
    Followed, Manner, OBSERVER, Party, Seen, Selection, Subject, follow, survey,
};
pub use fullpipe_observe::namespace::Namespace;
pub use fullpipe_observe::process;
pub use fullpipe_observe::sockets::Sockets;
pub use fullpipe_observe::{Unable, live, ss, tcp_info};

use crate::analysis::document::{Document, FORMAT, Run, ScenarioInfo};
use crate::analysis::view::View;
use crate::analysis::{self, RunMeta, headline};
use crate::numbers::seconds;
use crate::trace::recording::Recording;

/// Name of the source of an observation's trace, in place of an engine's.
pub const SOURCE: &str = "live";
/// Flows of one connection.
const FLOWS: usize = 2;
/// Delay of looks, ns, beyond which a trace is coarser than it says: a fifth of the usual time between two.
const LATE: u64 = 20_000_000;

/// An observation: what was followed, and its trace.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The connections, the judged ones first, and their host.
    pub followed: Followed,
    /// Rows of all connections, two flows each.
    pub recording: Recording,
    /// Connections to judge; the others are their neighbours.
    pub judged: usize,
    /// Manner of the observation.
    pub manner: Manner,
}

/// A judged connection.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its place among the connections.
    pub subject: usize,
    /// Facts that the trace does not hold.
    pub meta: RunMeta,
    /// Facts, headline and findings.
    pub run: Run,
    /// The trace, with its flows first.
    pub recording: Recording,
}

impl Observation {
    /// The judged connections, each as a run of its own.
    pub fn runs(&self) -> Vec<Judged> {
        let count = self.judged.min(self.followed.subjects.len());
        (0..count).map(|subject| self.run(subject)).collect()
    }

    /// Reasons to doubt the verdict on the connection at that place.
    pub fn warnings(&self, subject: usize) -> Vec<String> {
        let closed = self.followed.subjects[subject].closed;
        let closed =
            closed.map(|at| format!("the connection closed after {}", seconds(at.as_secs_f64())));
        let late = self.followed.lateness.p99 > LATE;
        let late = late.then(|| "the machine was busy, so some looks were late".to_string());
        closed.into_iter().chain(late).collect()
    }

    /// The connection at that place as a run. Its direction with more data decides the view.
    fn run(&self, subject: usize) -> Judged {
        let recording = self.beginning_with(subject);
        let sends = self.sends(subject);
        let meta = meta::of(self, subject, sends);
        let view = if sends { View::SenderSockets } else { View::ReceiverSockets };
        let run = analysis::run_in(view, &meta, &recording);
        Judged { subject, meta, run, recording }
    }

    /// Whether this host sends more data on a connection than it receives.
    fn sends(&self, subject: usize) -> bool {
        let own = &self.followed.subjects[subject];
        let grown = |of: fn(&Subject) -> [u64; 2]| {
            let [first, last] = of(own);
            last.saturating_sub(first)
        };
        let sent = grown(|own| [own.first.info.bytes_sent, own.last.info.bytes_sent]);
        let received = grown(|own| [own.first.info.bytes_received, own.last.info.bytes_received]);

        // Of an idle connection this host's end shows whether its program has anything to send.
        sent >= received
    }

    /// Numbers of the flows that carry the data of a connection and of those parallel to it, in its own trace.
    ///
    /// Parallel are connections of one process to one host, each with a tenth of its data or more.
    pub fn parallel(&self, subject: usize) -> Vec<u16> {
        let sent = |own: &Subject| {
            let [first, last] = [&own.first, &own.last].map(|look| look.info.bytes_acked);
            last.saturating_sub(first)
        };
        let of = |own: &Subject| {
            let pid = own.process.as_ref().map(|process| process.pid);
            (own.first.there.ip(), pid, own.first.congestion.clone())
        };
        let leading = &self.followed.subjects[subject];
        let is_parallel = |own: &Subject| of(own) == of(leading) && 10 * sent(own) >= sent(leading);
        let places = self.order(subject).into_iter().enumerate();
        let parallel =
            places.filter(|(_, at)| *at == subject || is_parallel(&self.followed.subjects[*at]));
        parallel.map(|(place, _)| (FLOWS * place) as u16).collect()
    }

    /// The order of the connections in which that one is the first.
    fn order(&self, first: usize) -> Vec<usize> {
        let others = (0..self.followed.subjects.len()).filter(|at| *at != first);
        std::iter::once(first).chain(others).collect()
    }

    /// The trace with the flows of that connection first.
    fn beginning_with(&self, first: usize) -> Recording {
        let order = self.order(first);
        let place = |flow: u16| {
            let (subject, half) = (usize::from(flow) / FLOWS, usize::from(flow) % FLOWS);
            let place = order.iter().position(|at| *at == subject).unwrap_or(subject);
            (FLOWS * place + half) as u16
        };
        let mut recording = self.recording.clone();
        recording.flows.iter_mut().for_each(|row| row.flow = place(row.flow));
        recording.events.iter_mut().for_each(|event| event.flow = place(event.flow));
        recording.flows.sort_by_key(|row| (row.time, row.flow));
        recording
    }
}

/// Document of an observation's runs.
pub fn document(title: &str, runs: Vec<Run>) -> Document {
    let scenario = ScenarioInfo { name: SOURCE.into(), title: title.into(), seed: 0 };
    let (missing, comparisons) = (Vec::new(), Vec::new());
    let mut made = Document {
        format: FORMAT,
        scenario,
        headline: None,
        partial: false,
        missing,
        runs,
        comparisons,
    };
    made.headline = Some(headline::of_document(&made));
    made
}
