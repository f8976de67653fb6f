//! Twins of connections: a scenario made of what sockets or captures show, and a run that says how well it acts like them.
//!
//! A twin that does not act like its connection gives no advice: [`Twin::stands`] says whether it does.

mod derive;
mod figures;
mod known;
mod seen;
mod sketch;
#[cfg(test)]
mod tests;

pub use figures::{BOUND, Compared};
pub use known::{Origin, Value};
pub use seen::{Seen, Settings};

use crate::advice::trial::{Bench, Stopped};
use crate::base::units::{Rate, Time};
use crate::engine::Failed;
use crate::scenario::{Scenario, Source, load, notes};
use crate::threads::each;
use derive::Holder;
use figures::{Figures, compared, figures, middle};
use known::Known;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sketch::Sketch;

/// Interval of the run's samples: that of looks.
const SAMPLE: Time = Time::ms(100);
/// Runs in which a buffer is fitted to what it holds.
const FITS: usize = 5;
/// Sizes of a send buffer that are tried, over the real one's, which is the first.
const SIZES: [f64; 10] = [1.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.15, 1.3, 1.5, 1.75];
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
    let first = one(seen, rate, bench)?;
    let other = seen.alike().filter(|_| !first.stands);
    let Some(other) = other else { return Ok(first) };

    // Packets alone do not tell both causes apart. The twin that acts like the connection does.
    let mut second = one(&other, rate, bench)?;
    if !second.stands {
        return Ok(first);
    }
    let [seen, found] = [&seen.group, &other.group].map(|group| named(group));
    let note = format!(
        "packets show the {seen} and the {found} alike; the twin of the {found} acts like the connection, that of the \
         {seen} does not"
    );
    second.notes.insert(0, note);
    Ok(second)
}

/// Words for a group of causes.
fn named(group: &str) -> &str {
    if group == "source" { "sending program" } else { group }
}

/// The twin of a connection for its first cause.
fn one(seen: &Seen, rate: Option<Rate>, bench: &Bench) -> Result<Twin, Stopped> {
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

/// Figures of the twin, of which one value is fitted to what was seen: a buffer to the data that it holds, chance losses to
/// the rate that they leave.
///
/// Memory of an skb differs between drivers. A buffer of equal memory holds more data on one host than on another.
fn fitted(seen: &Seen, sketch: &mut Sketch, bench: &Bench) -> Result<Figures, Stopped> {
    let holder = derive::holder(seen);
    if holder == Holder::SendBuffer {
        return with_send_buffer(seen, sketch, bench);
    }

    // A value that changes nothing cannot be fitted, so the nearest of all runs counts.
    let mut nearest: Option<(Sketch, Figures)> = None;
    for _ in 0..FITS {
        let own = run(seen, sketch, bench)?;
        let is_nearer = |best: &(Sketch, Figures)| {
            figures::distance(&seen.figures, &own) < figures::distance(&seen.figures, &best.1)
        };
        if nearest.as_ref().is_none_or(is_nearer) {
            nearest = Some((sketch.clone(), own));
        }
        let goes_on = match holder {
            Holder::Window | Holder::Reader => {
                derive::fit_window(seen, &mut sketch.receive, own.window)
            }
            _ => derive::fit_loss(seen, sketch, own.mbit),
        };
        if !goes_on {
            break;
        }
    }
    let (best, figures) = nearest.unwrap_or((sketch.clone(), Figures::default()));
    *sketch = best;
    Ok(figures)
}

/// Figures of the twin with the send buffer that acts most like the real one.
///
/// A buffer holds whole skbs, so its content does not follow its size. Sizes around the real one are tried.
fn with_send_buffer(seen: &Seen, sketch: &mut Sketch, bench: &Bench) -> Result<Figures, Stopped> {
    let Some(real) = sketch.send.bound() else { return run(seen, sketch, bench) };
    let sized = |card: &Known<Rate>, factor: f64| {
        let mut own = Sketch { card: card.clone(), ..sketch.clone() };
        if factor != 1.0 {
            let why = format!("{real} bytes of this host act like these of the twin");
            own.send.set_bound((real as f64 * factor).round() as u64, why);
        }
        own
    };
    let cards = derive::cards(seen);
    let sketches: Vec<Sketch> =
        cards.iter().flat_map(|card| SIZES.map(|factor| sized(card, factor))).collect();
    let all = each(sketches.len(), bench.jobs, |at| run(seen, &sketches[at], bench))?;
    let distances: Vec<f64> = all.iter().map(|own| figures::distance(&seen.figures, own)).collect();

    // The real size is the first. It stays where it acts like the connection: sizes beside it may act alike.
    let nearest = distances.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    let at = nearest.filter(|_| distances[0] > BOUND).map_or(0, |own| own.0);
    *sketch = sketches[at].clone();
    Ok(all[at])
}

/// Figures of a run of the twin, at the looks of the observation.
fn run(seen: &Seen, sketch: &Sketch, bench: &Bench) -> Result<Figures, Stopped> {
    let scenario = loaded(&sketch.text()).map_err(refused)?;
    let mut plan = scenario.plans()[0].clone();
    plan.resolved.report.sample = SAMPLE;
    let before = derive::before(seen);
    let span = seen.span.map(|time| before + time);
    let seeds = if sketch.loss.is_some() { SEEDS } else { 1 };
    bench.watch.step("the twin of the connection", seeds as usize, plan.resolved.duration);
    let mut all = Vec::new();
    for seed in 0..seeds {
        plan.resolved.seed = 1 + seed;

        // What packets show differs from what sockets say, so like is compared with like.
        let recording = match seen.captured_at.as_ref() {
            None => bench.recorded(&plan.resolved)?,
            Some(at) => bench.captured(&scenario, &plan, at)?.recording,
        };
        all.push(figures(&recording, |_| true, span).unwrap_or_default());
    }
    Ok(middle(&all))
}
