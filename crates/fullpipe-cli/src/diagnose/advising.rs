//! Twin of a diagnosed connection, and advice that is proved on it.

use crate::advise::{Steps, failure, write};
use crate::diagnose_arguments::DiagnoseArguments;
use crate::failure::Failure;
use crate::output::note;
use crate::threads::jobs;
use fullpipe::advice::document::Advice;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::text::{self, Extent};
use fullpipe::advice::trial::Bench;
use fullpipe::advice::{self, Case, Scope};
use fullpipe::captured;
use fullpipe::engine;
use fullpipe::numbers::short;
use fullpipe::observation::{Judged, Observation};
use fullpipe::report::terminal::grid::{Column, lay_out, number, words, wrap};
use fullpipe::twin::{self, BOUND, Compared, FILE, Origin, Seen, Twin};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// A twin and its advice, or the reason why there is none.
#[derive(Debug, Serialize)]
pub struct Advised {
    /// The twin; absent where too little is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    twin: Option<Twin>,
    /// Advice; absent where the twin does not act like the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
    /// Reason why there is no advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_advice: Option<String>,
}

/// The document of a diagnosis with the advice beside it.
#[derive(Serialize)]
pub struct Both<'a, T> {
    /// The document.
    #[serde(flatten)]
    pub document: &'a T,
    /// The advice.
    #[serde(flatten)]
    pub own: &'a Advised,
}

/// Advice on the first judged connection of an observation.
pub fn on_sockets(
    observation: &Observation,
    judged: &[Judged],
    arguments: &DiagnoseArguments,
) -> Result<Advised, Failure> {
    let Some(first) = judged.first() else { return Ok(none("nothing was judged".into())) };
    advised(Seen::of(observation, first), judged.len(), arguments)
}

/// Advice on the first judged connection of a capture.
pub fn on_packets(
    judged: &[captured::Judged],
    arguments: &DiagnoseArguments,
) -> Result<Advised, Failure> {
    let Some(first) = judged.first() else { return Ok(none("nothing was judged".into())) };
    advised(Seen::captured(first), judged.len(), arguments)
}

/// Advice on what was seen of the first of so many connections.
fn advised(
    seen: Result<Seen, String>,
    judged: usize,
    arguments: &DiagnoseArguments,
) -> Result<Advised, Failure> {
    let seen = match seen {
        Ok(seen) => seen,
        Err(why) => return Ok(none(why)),
    };
    if judged > 1 && !arguments.quiet {
        let name = &seen.connection;
        note(&format!("note: advice is for {name}, the busiest of {judged} connections"));
    }
    let steps = Steps::new(arguments.quiet);
    let bench = Bench { engine: engine::engines()[0], jobs: jobs(None), watch: &steps };
    let twin = twin::of(&seen, arguments.rate, &bench).map_err(failure)?;
    let advice = match twin.stands {
        true => Some(proved(&twin, &bench)?),
        false => None,
    };
    steps.finish();
    let no_advice = advice.is_none().then(|| {
        let off: Vec<&str> =
            twin.compared.iter().filter(|own| own.is_off).map(|own| &own.what[..]).collect();
        let rate = match arguments.rate {
            None if twin.assumes_rate => ". Its path has an assumed rate: --rate says the real one",
            _ => "",
        };
        format!(
            "the twin does not act like the connection ({}), so no advice rests on it{rate}",
            off.join("; ")
        )
    });
    Ok(Advised { twin: Some(twin), advice, no_advice })
}

/// No advice, for that reason.
fn none(why: String) -> Advised {
    Advised { twin: None, advice: None, no_advice: Some(why) }
}

/// Advice on the twin.
fn proved(twin: &Twin, bench: &Bench) -> Result<Advice, Failure> {
    let scenario = twin.load().map_err(Failure::Input)?;
    let case = scenario.plans().first().and_then(|plan| Case::new(&scenario, plan));
    let case = case.ok_or_else(|| Failure::Input("the twin has no flow".into()))?;
    let scopes = vec![Scope::Sender, Scope::Receiver, Scope::Application];
    let allowance = Allowance { scopes, goal: Goal::Rate };
    advice::advise(&case, &allowance, bench).map_err(failure)
}

impl Advised {
    /// Text behind the verdict.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        if let Some(twin) = &self.twin {
            shown(&mut out, twin, width);
        }
        match (&self.advice, &self.no_advice) {
            (Some(advice), _) => {
                let extent = Extent { width, explain: false };
                let _ = write!(out, "\n{}", text::render(advice, extent));
            }
            (None, Some(why)) => paragraph(&mut out, "\nno advice: ", why, width),
            (None, None) => {}
        }
        out
    }

    /// Keeps the twin in a run directory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, directory: &Path) -> Result<(), Failure> {
        let Some(twin) = &self.twin else { return Ok(()) };
        write(directory, FILE, &twin.scenario)
    }
}

/// The twin: figures beside each other, and values that nothing shows.
fn shown(out: &mut String, twin: &Twin, width: usize) {
    const COLUMNS: [Column; 4] = [words(""), number("seen", ""), number("twin", ""), words("")];
    let bound = format!("{} %", short(BOUND * 100.0));
    let answer = match twin.stands {
        true => format!("The twin acts like the connection: each figure is within {bound}."),
        false => format!("The twin does not act like the connection within {bound}."),
    };
    paragraph(out, "\n", &answer, width);
    let rows: Vec<Vec<String>> = twin.compared.iter().map(row).collect();
    lay_out(&COLUMNS, &rows, width).iter().for_each(|line| _ = writeln!(out, "{line}"));
    for own in twin.values.iter().filter(|own| own.origin == Origin::Assumed) {
        let value = own.value.as_ref().map_or(String::new(), |own| format!(" = {own}"));
        paragraph(out, "  assumed: ", &format!("{}{value}: {}", own.key, own.why), width);
    }
    twin.notes.iter().for_each(|note| paragraph(out, "  note: ", note, width));
}

fn row(own: &Compared) -> Vec<String> {
    let says = match (own.decides, own.is_off) {
        (false, _) => "does not bound the flow",
        (true, true) => "off",
        (true, false) => "",
    };
    vec![own.what.clone(), short(own.seen), short(own.twin), says.into()]
}

fn paragraph(out: &mut String, start: &str, text: &str, width: usize) {
    let lines = wrap(&format!("{}{text}", start.trim_start_matches('\n')), "      ", width);
    if start.starts_with('\n') {
        out.push('\n');
    }
    for (at, line) in lines.iter().enumerate() {
        let indent = if at == 0 && start.starts_with("  ") { "  " } else { "" };
        let text = if at == 0 { line.trim_start() } else { &line[..] };
        let _ = writeln!(out, "{indent}{text}");
    }
}
