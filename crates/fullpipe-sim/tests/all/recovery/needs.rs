//! The rows that a profile reads (`tcp/behaviour/needs.rs`) are those with an effect. Flips of all rows in all
//! conversations show this: a row that is not read changes none of them, one that is read changes at least one.

use super::case::Case;
use super::files;
use crate::conversation::host;
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::behaviour::{BEHAVIOURS, Behaviour, behaviour, profile_of, refusals};
use fullpipe_sim::tcp::profile::{AckOrder, PROFILES, Profile};
use std::cell::Cell;
use std::collections::BTreeSet;

/// `profile` with each other choice of `row` that it can be given.
fn flips(row: &Behaviour, profile: &Profile) -> Vec<Profile> {
    let others = (row.choices)().into_iter().filter(|choice| *choice != row.of(profile));
    let flipped = others.map(|choice| {
        let mut flipped = *profile;
        assert!(row.apply(&mut flipped, choice));
        flipped
    });
    let contradicts = |flipped: &Profile| {
        let refusals = refusals(flipped, &[row.name]);
        refusals.iter().any(|_| row.unmet(flipped).is_none())
    };
    flipped.filter(|flipped| !contradicts(flipped)).collect()
}

/// Rows that change a conversation in which ACKs have this order; panics where one does that is not read.
fn found(order: AckOrder) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for file in files() {
        let case = Case::parse(&std::fs::read_to_string(&file).expect("a readable file"));
        let seen = Cell::new(PROFILES[0]);
        let rows = case.run_changed(|profile| {
            seen.set(profile);
            profile
        });
        let base = seen.get();
        if base.ack_order != order {
            continue;
        }
        for row in BEHAVIOURS {
            let differs = |flipped: Profile| case.run_changed(|_| flipped) != rows;
            if !flips(row, &base).into_iter().any(differs) {
                continue;
            }
            let name = row.name;
            assert!(row.unmet(&base).is_none(), "{name} is not read, but changes {file:?}");
            found.insert(name);
        }
    }
    found
}

/// Rows that kernels of this order read, and no conversation of theirs shows.
fn unshown(order: AckOrder) -> Vec<&'static Behaviour> {
    let found = found(order);
    let of_order: Vec<_> = of_order(order).collect();
    let read = BEHAVIOURS.iter().filter(|row| of_order.iter().any(|p| row.unmet(p).is_none()));
    read.filter(|row| !found.contains(row.name) && row.tests.is_empty()).collect()
}

fn of_order(order: AckOrder) -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().filter(move |profile| profile.ack_order == order)
}

/// Older kernels' conversations need not cover changes of newer kernels. The other side of newer kernels' flips shows
/// the older behaviour.
#[test]
fn rows_of_kernels_that_change_cwnd_first() {
    let differs = |row: &&Behaviour| {
        let choices: BTreeSet<_> = of_order(AckOrder::CwndFirst).map(|p| row.of(p)).collect();
        choices.len() > 1
    };
    let rows = unshown(AckOrder::CwndFirst).into_iter().filter(differs);
    let rows: Vec<_> = rows.map(|row| row.name).collect();
    assert_eq!(rows, ["cached_metrics"], "no conversation of an older kernel shows it");
}

#[test]
fn rows_of_kernels_that_change_cwnd_last() {
    let rows: Vec<_> = unshown(AckOrder::CwndLast).iter().map(|row| row.name).collect();
    assert!(rows.is_empty(), "no conversation of a newer kernel shows {rows:?}");
}

fn with(kernel: &str, rows: &[(&str, &str)]) -> Result<Profile, String> {
    let behaviour = rows.iter().map(|&(row, choice)| (row.into(), choice.into())).collect();
    profile_of(&Host { kernel: kernel.into(), behaviour, ..host() })
}

/// An unread row is refused, with the reason and the kernels that read it. Together with the row that it needs it is
/// accepted.
#[test]
fn unread_rows_are_refused() {
    for (kernel, row, choice) in [
        ("6.12", "dsack_undo", "disorder"),
        ("6.1", "frto", "rfc4138-sack"),
        ("6.18", "walks_queue", "true"),
        ("3.14", "prr_bound", "delivered"),
        ("3.14", "halving_step", "any"),
        ("3.14", "data_lost_needs_fack", "false"),
        ("3.14", "sack_marking", "rack"),
        ("6.12", "ack_order", "cwnd-first"),
    ] {
        let why = with(kernel, &[(row, choice)]).expect_err(row);
        assert!(why.starts_with(&format!("behaviour {row}: ")), "{why}");
    }
    let why = with("6.12", &[("dsack_undo", "disorder")]).unwrap_err();
    assert!(why.contains("`ack_order = \"cwnd-first\"`") && why.contains("2.6.20"), "{why}");
    assert!(!why.ends_with("6.12"), "{why}");
    for (kernel, rows) in [
        ("3.14", [("reduction", "rate-halving"), ("halving_step", "any")]),
        ("3.14", [("marks_data_lost", "true"), ("data_lost_needs_fack", "false")]),
        ("3.14", [("ack_order", "cwnd-last"), ("prr_bound", "delivered")]),
        ("6.12", [("ack_order", "cwnd-first"), ("sack_marking", "rfc6675")]),
    ] {
        with(kernel, &rows).unwrap_or_else(|why| panic!("{why}"));
    }
}

/// No profile is given what it must not have, and each row is read by some.
#[test]
fn profiles_are_possible() {
    for profile in PROFILES {
        assert_eq!(refusals(profile, &["sack_marking", "ack_order"]), [], "{}", profile.name);
    }
    for row in BEHAVIOURS {
        assert!(PROFILES.iter().any(|profile| row.unmet(profile).is_none()), "{}", row.name);
        assert!(behaviour(row.name).is_some());
    }
}
