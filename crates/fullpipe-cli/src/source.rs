//! Which scenario is meant: a file, or a recipe by its name.

use crate::failure::Failure;
use crate::output::note;
use crate::run_arguments::RunArguments;
use fullpipe::scenario::{self, Outline, Scenario, SetOption, Source};
use std::path::Path;

/// The scenario of `fullpipe COMMAND`: read, checked and resolved, with the options that change it.
pub fn load(command: &str, arguments: &RunArguments) -> Result<Scenario, Failure> {
    let source = asked(command, arguments)?;
    let packets = arguments.packets.as_ref().map(|point| packets(point, arguments));
    let sets = arguments.set.iter().cloned().chain(packets);
    let sets: Vec<SetOption> = sets.map(SetOption).collect();
    scenario::load(&source, &sets, &arguments.variant).map_err(|mut problems| {
        // The keys of `--packets` are last, and are no option of the user's.
        let last = format!("--set #{}", sets.len());
        let own = problems.items.iter_mut().filter(|problem| problem.file == last);
        own.filter(|_| arguments.packets.is_some()).for_each(|own| own.file = "--packets".into());
        Failure::Input(problems.to_string())
    })
}

/// The scenario that was named, or the one that options of a path make.
fn asked(command: &str, arguments: &RunArguments) -> Result<Source, Failure> {
    let path = &arguments.path;
    let Some(named) = &arguments.scenario else { return Ok(path.outline(command)?.source()) };
    path.none_beside(command, &named.display().to_string())?;
    source(named)
}

/// Says which scenario options of a path have made, and how to keep it.
pub fn announce(arguments: &RunArguments) -> Result<(), Failure> {
    if arguments.scenario.is_none() {
        let outline = arguments.path.outline("run")?;
        let (made, options) = (outline.describe(), outline.options());
        let plan = Outline { duration: None, ..outline.clone() }.options();
        note(&format!(
            "scenario: {made}\nkeep it:  fullpipe new my.toml {options}\nsettings: fullpipe plan {plan}"
        ));
    }
    Ok(())
}

/// Prints notes on a scenario for the user before it runs.
pub fn notes(scenario: &Scenario) {
    scenario::notes(scenario).iter().for_each(|text| note(&format!("note: {text}")));
}

/// Keys that `--packets` sets.
fn packets(point: &str, arguments: &RunArguments) -> String {
    let point = match point {
        "" if arguments.pcap.is_some() => arguments.at.name(),
        "" => "sender-qdisc",
        point => point,
    };
    format!("report.packets.at={point}")
}

/// A name without directory and ending is a recipe's. A file of that name counts where there is no such recipe.
pub fn source(named: &Path) -> Result<Source, Failure> {
    Source::named(named).map_err(Failure::Input)
}
