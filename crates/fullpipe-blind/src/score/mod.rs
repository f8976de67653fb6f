//! Scoring: each case is run, its headline is compared with its label.

mod markdown;
pub mod recorded;
mod summary;
pub mod verdict;
mod wilson;

pub use markdown::{markdown, sums};
pub use summary::{Share, Summary, summary};

use crate::causes::{CANNOT_TELL, TOO_SHORT, group};
use crate::generate::Case;
use fullpipe::analysis::view::View;
use fullpipe::analysis::{self, RunMeta};
use fullpipe::base::trace::{Control, Sink};
use fullpipe::base::units::Time;
use fullpipe::captured;
use fullpipe::engine::{Engine, Failed};
use fullpipe::experiment::{Allowed, Chosen, objections};
use fullpipe::scenario::{Source, load};
use fullpipe::trace::recording::Recording;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use verdict::Says;

/// A verdict with its label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Name of the case.
    pub name: String,
    /// Code of the label's cause.
    pub cause: String,
    /// Group of the label's cause.
    pub group: String,
    /// True where a setting of a host cures it.
    pub setting: bool,
    /// Gain without the cause.
    pub gain: f64,
    /// Codes that the verdict names, the first one first.
    pub says: Vec<String>,
    /// "sure", "likely" or "cannot tell"; absent where the verdict does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<String>,
    /// Points for the cause: 1, 1/n for n twins that include the right one, or 0.
    pub points: f64,
    /// Points for the group, likewise.
    pub group_points: f64,
    /// Headline.
    pub text: String,
    /// Rule, grade and limit behind the headline, for readers who look for the reason.
    pub because: String,
    /// Reason why the engine did not run the case; such a case is not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_run: Option<String>,
}

/// Control that stops a run after a signal.
struct UntilStopped;

impl Control for UntilStopped {
    fn go_on(&mut self, _now: Time) -> bool {
        !crate::work::stopped()
    }
}

impl captured::Watch for UntilStopped {
    fn read(&mut self, _packets: u64, _reading: u32) -> bool {
        !crate::work::stopped()
    }
}

/// Runs a case and judges the verdict of a view.
///
/// # Errors
/// The case is no scenario, the machine failed, or a signal arrived.
pub fn score(
    case: &Case,
    engine: &'static dyn Engine,
    allowed: Allowed,
    view: View,
) -> Result<Scored, String> {
    let place = |why: String| format!("{}: {why}", case.name);
    let source = Source::text(&format!("{}.toml", case.name), &case.text);
    let scenario = load(&source, &[], &[]).map_err(|wrong| wrong.to_string())?;
    let plan = &scenario.plans()[0];

    // An engine that cannot run a case has no verdict, which is no failure of the score.
    let wrong = objections(engine, scenario.plans(), allowed);
    if let Some(why) = wrong.into_iter().next().or(engine.check(&plan.resolved).err()) {
        return Ok(not_run(case, why));
    }

    if let Some(at) = captured::run::point(view) {
        let run = |sink: &mut dyn Sink| engine.run(&plan.resolved, sink, &mut UntilStopped);
        return match captured::run::judged(&scenario, plan, &at, run, &mut UntilStopped) {
            _ if crate::work::stopped() => Err(place(crate::work::STOPPED.into())),
            Ok(own) => {
                let headline = serde_json::to_value(&own.run.headline);
                Ok(judged(case, &headline.map_err(|why| place(why.to_string()))?))
            }
            Err(Failed::Scenario(why)) => Ok(not_run(case, why)),
            Err(Failed::Machine(why)) => Err(place(why)),
        };
    }
    let mut recording = Recording::default();
    let outcome = match engine.run(&plan.resolved, &mut recording, &mut UntilStopped) {
        Ok(outcome) => outcome,
        Err(Failed::Scenario(why)) => return Ok(not_run(case, why)),
        Err(Failed::Machine(why)) => return Err(place(why)),
    };
    if !outcome.complete {
        return Err(place(crate::work::STOPPED.into()));
    }
    let made = Chosen { engine }.made(&plan.resolved, false);
    let run = analysis::run_in(view, &RunMeta::from_plan(&scenario, plan, made), &recording);
    let document = analysis::document(&scenario, &[engine.name()], vec![run]);
    let document = serde_json::to_value(&document).map_err(|why| place(why.to_string()))?;
    Ok(judged(case, document.get("headline").unwrap_or(&Value::Null)))
}

/// A headline with the label of its case.
pub fn judged(case: &Case, headline: &Value) -> Scored {
    let Says { codes, confidence } = verdict::says(headline);
    let text = |key: &str| headline.get(key).and_then(Value::as_str).unwrap_or("-");
    let share = headline.get("limit_share").and_then(Value::as_f64).unwrap_or(0.0);
    let (points, group_points) = points(&case.label.cause, &codes);
    Scored {
        name: case.name.clone(),
        cause: case.label.cause.clone(),
        group: case.label.group.clone(),
        setting: case.label.setting,
        gain: case.label.gain,
        says: codes,
        confidence,
        points,
        group_points,
        text: text("text").into(),
        because: format!(
            "rule {}, grade {}, limit {} {share:.2}",
            text("rule"),
            text("grade"),
            text("limit")
        ),
        not_run: None,
    }
}

/// Points of the named codes, for the cause and for its group. "Cannot tell" is right of cases that are too short.
fn points(cause: &str, codes: &[String]) -> (f64, f64) {
    let codes = codes.iter().map(|code| match (code.as_str(), cause) {
        (CANNOT_TELL, TOO_SHORT) => TOO_SHORT,
        (code, _) => code,
    });
    let codes: Vec<&str> = codes.collect();
    let share = |right: usize| right as f64 / codes.len().max(1) as f64;
    let causes = codes.iter().filter(|code| **code == cause).count().min(1);
    let groups = codes.iter().filter(|code| group(code) == group(cause)).count();
    (share(causes), share(groups))
}

fn not_run(case: &Case, why: String) -> Scored {
    Scored { not_run: Some(why), ..judged(case, &Value::Null) }
}
