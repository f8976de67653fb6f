//! Properties of the answer to any bytes taken as a scenario. The tests feed it wrong and mutated scenarios, the fuzzer
//! (fuzz/) random ones.

use fullpipe::scenario::{Beside, CODES, Diagnostic, Scenario, SetOption, Source, load};

/// Name of the bytes.
const NAME: &str = "any.toml";

macro_rules! beside {
    ($($name:literal in $folder:literal),*) => {
        &[$(($name, include_str!(concat!("../../../../../scenarios/", $folder, $name)))),*]
    };
}

/// The files that scenarios of this repository name, so that mutations of these are read on.
const FILES: &[(&str, &str)] = beside!(
    "data/cellular.trace" in "path/",
    "data/wireless.csv" in "path/",
    "data/fink-2007.toml" in "published/"
);

/// Flows of all runs together that are written and read again; more are taken as equal.
const MOST_FLOWS: usize = 200;

/// Loads the bytes with options. There is no panic; a problem has its place in the text; a valid scenario can be
/// written as one that means the same.
pub fn check(bytes: &[u8], sets: &[SetOption]) {
    let source = Source::from_bytes(NAME, bytes, Beside::BuiltIn(FILES));
    match source.and_then(|source| load(&source, sets, &[])) {
        Ok(scenario) => means_the_same(&scenario),
        Err(problems) => {
            assert!(!problems.items.is_empty() && !problems.to_string().is_empty());
            let text = String::from_utf8_lossy(bytes);
            problems.items.iter().for_each(|problem| has_a_place(problem, &text));
        }
    }
}

fn has_a_place(problem: &Diagnostic, text: &str) {
    assert!(CODES.iter().any(|(code, _)| *code == problem.code), "{problem:?}");
    let known = |name: &str| FILES.iter().any(|(file, _)| *file == name);
    if problem.file != NAME {
        assert!(problem.file.starts_with("--set #") || known(&problem.file), "{problem:?}");
        return;
    }
    let line = problem.line.checked_sub(1).and_then(|number| text.split('\n').nth(number));
    let line = line.unwrap_or_else(|| panic!("a line that is not there: {problem:?}"));
    assert_eq!(problem.source, line.trim_end_matches('\r'), "{problem:?}");
    let (column, chars) = (problem.column, line.chars().count());
    assert!((1..=chars + 1).contains(&column), "a column that is not there: {problem:?}");
    assert!((1..=(chars + 1 - column).max(1)).contains(&problem.width), "{problem:?}");
}

fn means_the_same(scenario: &Scenario) {
    let mut flows = 0;
    for plan in scenario.plans() {
        flows += plan.resolved.flow.len();
        if flows > MOST_FLOWS {
            return;
        }
        let text = plan.resolved.to_toml();
        let again = load(&Source::text("again.toml", &text), &[], &[]);
        let again = again.unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(again.plans().len(), 1, "{text}");
        assert_eq!(again.plans()[0].resolved, plan.resolved, "{text}");
    }
}
