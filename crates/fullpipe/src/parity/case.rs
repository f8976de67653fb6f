//! A case of a comparison: one run of a scenario, with its name and the command that runs it.

use crate::scenario::{self, Plan, Scenario, SetOption, Source};
use fullpipe_sim::rng::Rng;
use std::path::{Path, PathBuf};

/// A run that both engines can do.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name, unique among the cases of a call: "queue/reno-1bdp", "7/12".
    pub name: String,
    /// Name without the seed, where the case is one of several with other seeds.
    pub of: String,
    /// The run.
    pub plan: Plan,
    /// Its scenario: as it was written where that is one run alone, else with every default written out.
    pub text: String,
    /// Command that runs it, to be followed by ` --engine NAME`.
    pub command: String,
}

impl Case {
    /// A hash of all that the scenario means, every default written out.
    pub fn hash(&self) -> String {
        format!("{:016x}", Rng::new(0, &self.plan.resolved.to_toml()).next_u64())
    }
}

/// A case for each run of a scenario file, with these changes.
///
/// # Errors
/// An error in the file or in the changes, with its place.
pub fn of_file(path: &Path, sets: &[String]) -> Result<Vec<Case>, String> {
    let source = Source::read(path).map_err(|e| e.to_string())?;
    of_source(&source, &path.display().to_string(), sets)
}

/// Cases of a scenario's text, which commands call `shown`; one for each run, with these changes.
///
/// # Errors
/// As [`of_file`].
pub fn of_source(source: &Source, shown: &str, sets: &[String]) -> Result<Vec<Case>, String> {
    let options: Vec<SetOption> = sets.iter().cloned().map(SetOption).collect();
    let scenario = scenario::load(source, &options, &[]).map_err(|e| e.to_string())?;
    Ok(of_scenario(&scenario, shown, sets))
}

/// Cases of a scenario with each seed from 1 to `seeds`.
///
/// # Errors
/// As [`of_file`].
pub fn seeded(
    source: &Source,
    shown: &str,
    sets: &[String],
    seeds: u64,
) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for seed in 1..=seeds {
        let sets = [sets, &[format!("seed={seed}")]].concat();
        let own = of_source(source, shown, &sets)?.into_iter();
        cases.extend(own.map(|case| Case { name: format!("{}, seed {seed}", case.of), ..case }));
    }
    Ok(cases)
}

/// A case for each run of a scenario in the file `shown`.
fn of_scenario(scenario: &Scenario, shown: &str, sets: &[String]) -> Vec<Case> {
    let plans = scenario.plans();
    let named = plans.len() > 1 || plans.iter().any(|plan| plan.variant != "base");
    let mut cases = Vec::new();
    for plan in plans {
        // The command repeats a single run, for whoever looks into a miss.
        let mut command = format!("fullpipe run {}", quoted(shown));
        if named {
            command += &format!(" --variant {}", quoted(&plan.variant));
        }
        let point = plan.sweep.iter().map(|(key, value)| format!("{key}={value}"));
        for set in point.chain(sets.iter().cloned()) {
            command += &format!(" --set {}", quoted(&set));
        }
        let (name, text) = (format!("{}/{}", scenario.name, plan.name()), plan.resolved.to_toml());
        cases.push(Case { of: name.clone(), name, plan: plan.clone(), text, command });
    }
    cases
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c));
    match !word.is_empty() && is_plain {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The cases of a suite: all runs of the scenario files in `folder`, by file and variant. In their commands the
/// folder is called `shown`.
///
/// # Errors
/// The folder cannot be read, has no scenarios, or one of them is wrong.
pub fn suite(folder: &Path, shown: &str) -> Result<Vec<Case>, String> {
    let paths = files(folder, "toml").map_err(|e| format!("{}: {e}", folder.display()))?;
    if paths.is_empty() {
        return Err(format!("{}: there are no scenarios", folder.display()));
    }
    let mut cases = Vec::new();
    for path in paths {
        let source = Source::read(&path).map_err(|e| e.to_string())?;
        let scenario = scenario::load(&source, &[], &[]).map_err(|e| e.to_string())?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        cases.extend(of_scenario(&scenario, &format!("{shown}/{file}"), &[]));
    }
    Ok(cases)
}

/// Where the table of a suite's case is kept.
pub fn kept(folder: &Path, case: &Case) -> PathBuf {
    folder.join("golden").join(format!("{}.csv", case.name))
}

/// All files of a folder that end so, by name.
///
/// # Errors
/// It cannot be read.
pub fn files(folder: &Path, ending: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration = \"1s\"\n[path]\nrate = \"1Gbit\"\n[hosts]\nsender = { kernel = \"6.12\" }\n\
        receiver = { kernel = \"6.12\" }\n[[flow]]\nname = \"bulk\"\nduration = \"1s\"\n";

    fn commands(more: &str, sets: &[String]) -> Vec<(String, String)> {
        let source = Source::text("a b/my.toml", &format!("{TEXT}{more}"));
        let scenario = scenario::load(&source, &[], &[]).expect("a scenario");
        let cases = of_scenario(&scenario, &source.name, sets);
        cases.into_iter().map(|case| (case.name, case.command)).collect()
    }

    #[test]
    fn commands_name_file_variant_and_point() {
        let (name, command) = commands("", &["path.rate=2Gbit".into()]).remove(0);
        assert_eq!(name, "my/base");
        assert_eq!(command, "fullpipe run 'a b/my.toml' --set path.rate=2Gbit");
        let more = "[[variant]]\nname = \"it's\"\n[sweep]\n\"path.mtu\" = [1500, 9000]\n";
        let (name, command) = commands(more, &[]).remove(1);
        assert_eq!(name, "my/it's, path.mtu=9000");
        let expected = "fullpipe run 'a b/my.toml' --variant 'it'\\''s' --set path.mtu=9000";
        assert_eq!(command, expected);
    }
}
