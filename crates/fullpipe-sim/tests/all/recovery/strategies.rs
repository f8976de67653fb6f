//! Every choice that profiles of today's kernels make and read has a conversation. It is of such a kernel, with this
//! choice on one side of its flip and another choice on the other side.

use super::case::Case;
use super::{files, tested_elsewhere};
use fullpipe_sim::tcp::behaviour::BEHAVIOURS;
use fullpipe_sim::tcp::profile::{PROFILES, Profile, find};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;

/// Kernels of which every choice is shown.
const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// A row and what is chosen there.
type Choice = (&'static str, &'static str);

/// Choices of the profiles in rows that they read.
fn chosen() -> BTreeSet<Choice> {
    let profiles = KERNELS.map(|name| find(name).expect("it is known"));
    let of = |profile: &'static Profile| {
        let read = BEHAVIOURS.iter().filter(|row| row.unmet(profile).is_none());
        read.map(|row| (row.name, row.of(profile)))
    };
    profiles.into_iter().flat_map(of).collect()
}

/// The profile of a conversation's kernel, with what its head sets.
fn profile_of(case: &Case) -> Profile {
    let seen = Cell::new(PROFILES[0]);
    case.run_changed(|profile| {
        seen.set(profile);
        profile
    });
    seen.get()
}

/// The choices of both sides of a conversation's flip; none if it flips no row, or changes nothing.
fn shown(case: &Case, base: &Profile) -> Vec<Choice> {
    let row = BEHAVIOURS.iter().find(|row| row.name == case.flip.name && case.changes());
    let Some(row) = row else { return Vec::new() };
    let mut flipped = *base;
    assert!(row.apply(&mut flipped, &case.flip.value), "{:?}", case.flip);
    vec![(row.name, row.of(base)), (row.name, row.of(&flipped))]
}

/// All that conversations of these kernels show.
fn shown_by(kernels: &[&str]) -> BTreeSet<Choice> {
    let cases = files().into_iter().map(|file| {
        let text = fs::read_to_string(&file).expect("a readable file");
        Case::parse(&text)
    });
    let with_profile = cases.map(|case| (profile_of(&case), case));
    let of_kernels = with_profile.filter(|(profile, _)| kernels.contains(&profile.name));
    of_kernels.flat_map(|(profile, case)| shown(&case, &profile)).collect()
}

#[test]
fn every_choice_of_todays_kernels_is_shown() {
    let (chosen, shown) = (chosen(), shown_by(&KERNELS));
    let elsewhere: BTreeSet<&str> = tested_elsewhere().map(|row| row.name).collect();

    let missing: Vec<_> = chosen
        .iter()
        .filter(|choice| !shown.contains(*choice) && !elsewhere.contains(choice.0))
        .collect();
    assert!(missing.is_empty(), "no conversation shows {missing:#?}");

    let needless: Vec<_> = shown.iter().filter(|choice| elsewhere.contains(choice.0)).collect();
    assert!(needless.is_empty(), "a conversation shows it, so `tests` is needless: {needless:?}");
}

/// A choice that no kernel version makes is there for a conversation, or for a test that the row names.
#[test]
fn no_choice_is_idle() {
    let names = PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>();
    let shown = shown_by(&names);
    let rows = BEHAVIOURS.iter().filter(|row| row.tests.is_empty());
    let all = rows.flat_map(|row| (row.choices)().into_iter().map(move |c| (row, c)));
    let idle: Vec<_> = all
        .filter(|(row, choice)| PROFILES.iter().all(|profile| row.of(profile) != *choice))
        .map(|(row, choice)| (row.name, choice))
        .filter(|choice| !shown.contains(choice))
        .collect();
    assert!(idle.is_empty(), "no kernel makes these choices, and no conversation: {idle:?}");
}

/// The tests that stand for conversations are there.
#[test]
fn tests_elsewhere_exist() {
    for row in tested_elsewhere() {
        for named in row.tests {
            let (file, test) = named.split_once(": ").expect("a file and a test");
            let path = format!("{}/tests/all/{file}", env!("CARGO_MANIFEST_DIR"));
            let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
            let test = format!("#[test]\nfn {test}()");
            assert!(text.contains(&test), "{}: {file} has no {test}", row.name);
        }
    }
}
