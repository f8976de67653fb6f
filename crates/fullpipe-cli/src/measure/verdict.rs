//! Verdict on a test, from an observation of its own sockets while it runs: that of `fullpipe diagnose`.

use crate::diagnose::{self, keep, text};
use crate::failure::Failure;
use fullpipe::analysis::document::{Document, Run};
use fullpipe::base::trace::Control;
use fullpipe::base::units::Time;
use fullpipe::observation::{
    self, Judged, Manner, Observation, Seen, Sockets, Unable, follow, live,
};
use fullpipe::report::terminal::Style;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use fullpipe::trace::recording::Recording;
use fullpipe_measure::outcome::Stream;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(100);
/// Longest observation.
const LONGEST: Duration = Duration::from_secs(2 * 86_400);
/// Shortest observation that has a verdict.
const SHORTEST: Time = Time::ms(500);

/// An observation that goes on.
pub struct Observing {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Observation, String>>,
}

/// Ends an observation when it is told to.
struct Until(Arc<AtomicBool>);

impl Control for Until {
    fn go_on(&mut self, _: Time) -> bool {
        !self.0.load(SeqCst)
    }
}

impl Observing {
    /// Begins to look at these streams, in the caller's network namespace; `always_writes`: no rate was asked for.
    pub fn begin(streams: &[Stream], always_writes: bool) -> Observing {
        let stop = Arc::<AtomicBool>::default();
        let (streams, until) = (streams.to_vec(), Until(stop.clone()));
        let thread = thread::spawn(move || observe(&streams, always_writes, until));
        Observing { stop, thread }
    }

    /// The last counted moment is over.
    pub fn end(&self) {
        self.stop.store(true, SeqCst);
    }

    /// The verdict, or the reason why there is none.
    pub fn verdict(self) -> Result<Verdict, String> {
        self.end();
        let observed = self.thread.join().map_err(|_| "the observation has failed".to_string())?;
        let observation = observed?;
        if observation.followed.lasted < SHORTEST {
            return Err("the test was too short for a verdict".into());
        }
        let judged = observation.runs();
        let runs: Vec<Run> = judged.iter().map(|own| own.run.clone()).collect();
        let title = diagnose::title(&observation);
        let document = observation::document(&title, runs);
        Ok(Verdict { observation, judged, document })
    }
}

/// Follows the sockets of the streams.
fn observe(
    streams: &[Stream],
    always_writes: bool,
    mut until: Until,
) -> Result<Observation, String> {
    let failed = |why: Unable| why.to_string();
    let mut sockets = Sockets::open().map_err(failed)?;
    let all = sockets.all().map_err(failed)?;
    let chosen = streams.iter().filter_map(|stream| {
        let own = all.iter().find(|own| own.here == stream.here && own.there == stream.there)?;
        Some(Seen { own: own.clone(), fits: true, rate: 0.0, sends: stream.sends, process: None })
    });
    let chosen: Vec<Seen> = chosen.collect();
    if chosen.is_empty() {
        return Err("streams of TCP alone have one".into());
    }
    let judged = chosen.len();
    let manner = Manner { every: EVERY, lasts: LONGEST, always_writes };
    let mut recording = Recording::default();
    let followed = follow(&mut sockets, chosen, judged, manner, &mut recording, &mut until);
    let followed = followed.map_err(failed)?;
    let followed = followed.map_err(|live::Gone| "the streams closed at once".to_string())?;
    Ok(Observation { followed, recording, judged, manner })
}

/// A verdict on the streams.
pub struct Verdict {
    observation: Observation,
    judged: Vec<Judged>,
    document: Document,
}

impl Verdict {
    /// Text: the answer, and what stands behind it.
    pub fn text(&self, style: Style) -> [String; 2] {
        let reasons = text::reasons(&self.observation, &self.judged, style);
        [text::first(&self.document, style), reasons]
    }

    /// Headline, and the findings of each stream.
    pub fn json(&self, streams: &[Stream]) -> Value {
        let runs = self.judged.iter().map(|own| {
            let first = &self.observation.followed.subjects[own.subject].first;
            let is = |stream: &&Stream| stream.here == first.here && stream.there == first.there;
            json!({
                "socket": streams.iter().find(is).map(|own| own.id),
                "view": own.run.view,
                "headline": own.run.headline,
                "findings": own.run.findings,
            })
        });
        json!({ "headline": self.document.headline, "streams": runs.collect::<Vec<_>>() })
    }

    /// Keeps document, trace and report.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn keep(&self, place: &Place, provenance: Provenance) -> Result<PathBuf, Failure> {
        keep(place, &self.document, &self.judged, provenance)
    }
}
