//! Twins of live connections: a scenario made of what sockets show, and a run that says how well it acts like them.
//!
//! A twin that does not act like its connection gives no advice: [`Twin::stands`] says whether it does.

mod derive;
mod figures;
mod known;
mod seen;
mod sketch;

pub use figures::{BOUND, Compared};
pub use known::{Origin, Value};
pub use seen::{Seen, Settings};

use crate::advice::trial::{Bench, Stopped};
use crate::base::units::{Rate, Time};
use crate::engine::Failed;
use crate::numbers::short;
use crate::scenario::{Scenario, Source, load, notes};
use derive::Holder;
use figures::{Figures, compared, figures, middle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sketch::{Buffer, Sketch};

/// Interval of the run's samples: that of looks.
const SAMPLE: Time = Time::ms(100);
/// Runs in which a buffer is fitted to what it holds.
const FITS: usize = 5;
/// Difference at which a buffer holds what was seen.
const CLOSE: f64 = 0.03;
/// Seeds of a twin that loses packets by chance.
const SEEDS: u64 = 5;
/// Name of the twin's file.
pub const FILE: &str = "twin.toml";

/// A twin, and how well it acts like the connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Twin {
    /// Both ends of the connection.
    pub connection: String,
    /// Engine of its runs.
    pub engine: String,
    /// Figures beside each other.
    pub compared: Vec<Compared>,
    /// Whether each figure is near enough, so that advice may rest on it.
    pub stands: bool,
    /// Whether the rate of the path is assumed.
    pub assumes_rate: bool,
    /// Notes on the profiles that stand for the kernels.
    pub notes: Vec<String>,
    /// Values of the scenario, each with its origin.
    pub values: Vec<Value>,
    /// The scenario file.
    pub scenario: String,
}

impl Twin {
    /// The twin's scenario.
    ///
    /// # Errors
    /// The file has no meaning; the text says why.
    pub fn load(&self) -> Result<Scenario, String> {
        loaded(&self.scenario)
    }
}

fn loaded(text: &str) -> Result<Scenario, String> {
    load(&Source::text(FILE, text), &[], &[]).map_err(|wrong| wrong.to_string())
}

/// Makes the twin of a connection. The rate of the path is the user's, where it is known.
///
/// # Errors
/// A run has no outcome.
pub fn of(seen: &Seen, rate: Option<Rate>, bench: &Bench) -> Result<Twin, Stopped> {
    let mut sketch = derive::sketch(seen, rate);
    let figures = fitted(seen, &mut sketch, bench)?;
    let scenario = loaded(&sketch.text()).map_err(refused)?;
    let compared = compared(&seen.figures, &figures);
    Ok(Twin {
        connection: seen.connection.clone(),
        engine: bench.engine.name().into(),
        stands: compared.iter().all(|own| !own.is_off),
        compared,
        assumes_rate: sketch.rate.origin == Origin::Assumed,
        notes: notes(&scenario),
        values: sketch.values(),
        scenario: sketch.text(),
    })
}

fn refused(why: String) -> Stopped {
    Stopped::Failed(Failed::Scenario(why))
}

/// Figures of the twin, whose buffer is fitted to the data that the real one holds.
///
/// Memory of an skb differs between drivers. A buffer of equal memory holds more data on one host than on another.
fn fitted(seen: &Seen, sketch: &mut Sketch, bench: &Bench) -> Result<Figures, Stopped> {
    let holder = derive::holder(seen);
    let real = sketch.send.bound();
    for _ in 1..FITS {
        let own = run(seen, sketch, bench)?;
        let (target, got, buffer): (f64, f64, &mut Buffer) = match holder {
            Holder::SendBuffer => (seen.figures.held, own.held, &mut sketch.send),
            Holder::Window => (seen.figures.window, own.window, &mut sketch.receive),
            _ => return Ok(own),
        };
        let ratio = target / got.max(1.0);
        let Some(bound) = buffer.bound().filter(|_| (ratio - 1.0).abs() > CLOSE) else {
            return Ok(own);
        };
        let kb = short(target / 1e3);
        let why = match (holder, real) {
            (Holder::SendBuffer, Some(real)) => format!(
                "{real} bytes of this host hold {kb} kB of data, and so do these bytes of the twin's kernel"
            ),
            _ => format!("memory with which the twin's kernel offers the window seen, {kb} kB"),
        };
        buffer.set_bound((bound as f64 * ratio).round() as u64, why);
    }
    run(seen, sketch, bench)
}

/// Figures of a run of the twin, at the looks of the observation.
fn run(seen: &Seen, sketch: &Sketch, bench: &Bench) -> Result<Figures, Stopped> {
    let scenario = loaded(&sketch.text()).map_err(refused)?;
    let mut resolved = scenario.plans()[0].resolved.clone();
    resolved.report.sample = SAMPLE;
    let before = derive::before(seen);
    let span = seen.span.map(|time| before + time);
    let seeds = if sketch.loss.is_some() { SEEDS } else { 1 };
    bench.watch.step("the twin of the connection", seeds as usize, resolved.duration);
    let mut all = Vec::new();
    for seed in 0..seeds {
        resolved.seed = 1 + seed;
        let recording = bench.recorded(&resolved)?;
        all.push(figures(&recording, |_| true, span).unwrap_or_default());
    }
    Ok(middle(&all))
}
