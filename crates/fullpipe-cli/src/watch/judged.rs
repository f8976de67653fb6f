//! The looks that are kept as an observation, judged as `fullpipe diagnose` does.

use crate::diagnose::text;
use fullpipe::analysis::document::Run;
use fullpipe::base::units::Time;
use fullpipe::observation::live::{Board, Cookie, Host};
use fullpipe::observation::{self, Judged, Manner, Namespace, Observation, Unable};
use fullpipe::report::terminal::Style;
use fullpipe::trace::recording::Recording;
use std::net::IpAddr;
use std::time::Duration;

/// Time that a verdict is about.
const SPAN: Time = Time::secs(10);
/// Least time that has a verdict.
const SHORTEST: Time = Time::ms(500);

/// The host of the connections: its settings are those of a namespace.
#[derive(Debug, Default)]
pub struct Hosts {
    /// The namespace; none where it is the caller's.
    pub namespace: Option<Namespace>,
    /// Time between two looks.
    pub every: Duration,
}

impl Hosts {
    /// Settings, with the device towards an address.
    pub fn towards(&self, peer: IpAddr) -> Host {
        let look = || -> Result<Host, Unable> { Ok(Host::here(peer)) };
        let seen = self.namespace.as_ref().map_or_else(look, |own| own.during(look));
        seen.unwrap_or_default()
    }

    /// The trace of connections since a moment, the first ones of which are judged.
    pub fn observation(
        &self,
        board: &Board,
        chosen: &[Cookie],
        judged: usize,
        from: Time,
    ) -> Observation {
        let first = chosen.iter().find_map(|own| board.get(own));
        let host = first.map_or_else(Host::default, |own| self.towards(own.first.there.ip()));
        let mut recording = Recording::default();
        let followed = board.observed(chosen, from, host, &mut recording);
        let lasts = Duration::from_nanos(followed.lasted.0);
        let manner = Manner { every: self.every, lasts };
        Observation { followed, recording, judged, manner }
    }
}

/// Verdict on the last seconds of a connection; empty where they are too few.
pub fn verdict(board: &Board, chosen: Cookie, now: Time, hosts: &Hosts, width: usize) -> String {
    let Some(entry) = board.get(&chosen) else { return String::new() };
    let since = Time(now.0.saturating_sub(SPAN.0));
    let first = entry.looks().map(|own| own.time).find(|time| *time >= since);
    let Some(from) = first.filter(|from| entry.last().time >= *from + SHORTEST) else {
        return String::new();
    };
    let observation = hosts.observation(board, &[chosen], 1, from);
    let judged = observation.runs();
    let runs: Vec<Run> = judged.iter().map(|own: &Judged| own.run.clone()).collect();
    let document = observation::document("", runs);
    let style = Style { width, color: false };
    text::text(&document, &observation, &judged, style)
}
