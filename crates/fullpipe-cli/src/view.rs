//! Verdicts of an earlier result again, from another view.

use crate::failure::Failure;
use fullpipe::analysis::document::Run;
use fullpipe::analysis::view::View;
use fullpipe::analysis::{self, Made, RunMeta, headline};
use fullpipe::results::rundir::RunDir;
use fullpipe::scenario::{Source, load};

/// Gives the runs of a result the headlines and findings of a view, from their saved traces.
///
/// # Errors
/// A trace or a scenario of the result is missing or damaged; the message names its folder.
pub fn judge_again(results: &mut RunDir, view: View) -> Result<(), Failure> {
    // Runs that have the view's verdicts already need no traces.
    let are_there = results.document.runs.iter().all(|run| match &run.view {
        Some(name) => name == view.name(),
        None => view == View::Model,
    });
    if are_there {
        return Ok(());
    }
    for index in 0..results.document.runs.len() {
        let judged = judged(results, index, view)?;
        let run = &mut results.document.runs[index];
        (run.headline, run.findings, run.view) = (judged.headline, judged.findings, judged.view);
    }

    // The document's headline sums up the runs' headlines.
    results.document.headline = Some(headline::of_document(&results.document));
    Ok(())
}

/// A run of a result, analysed again.
fn judged(results: &RunDir, index: usize, view: View) -> Result<Run, Failure> {
    let run = &results.document.runs[index];
    let folder = results.folder(index).unwrap_or_default();
    let wrong = |why: String| Failure::Input(format!("{}: {why}", folder.display()));
    let text = results.resolved(index).map_err(|e| Failure::Input(e.to_string()))?;
    let recording = results.recording(index).map_err(|e| Failure::Input(e.to_string()))?;

    // A resolved scenario holds one run.
    let scenario = load(&Source::text("scenario.resolved.toml", &text), &[], &[]);
    let scenario = scenario.map_err(|e| wrong(format!("the scenario is damaged: {e}")))?;
    let plan = scenario.plans().first().ok_or_else(|| wrong("the scenario has no run".into()))?;
    let made = Made {
        engine: run.engine.clone(),
        kernel: None,
        substituted: run.substituted.clone(),
        partial: run.partial,
    };
    let meta = RunMeta::from_plan(&scenario, plan, made);

    // The file does not know the variant's name and settings.
    let meta = RunMeta { variant: run.variant.clone(), set: run.set.clone(), ..meta };
    Ok(analysis::run_in(view, &meta, &recording))
}
