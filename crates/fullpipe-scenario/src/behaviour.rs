//! Rows of a kernel's profile that a host overrides: only rows that the profile then reads.

use super::format::context::Context;
use super::format::keys::At;
use super::format::special::Behaviour;
use fullpipe_sim::tcp::behaviour::{behaviour, refusals};
use fullpipe_sim::tcp::profile::find;
use std::collections::BTreeMap;

/// The overridden rows by name; reports rows that the profile of `kernel` does not read.
pub fn overridden(
    written: &Option<At<Behaviour>>,
    kernel: &str,
    cx: &mut Context,
) -> BTreeMap<String, String> {
    let Some(At { value: Behaviour(written), .. }) = written else { return BTreeMap::new() };
    let rows: BTreeMap<String, String> =
        written.iter().map(|(name, at)| (name.clone(), at.value.clone())).collect();
    // Only a real kernel: it takes none at all, and says so.
    let Some(known) = find(kernel) else { return rows };
    let mut profile = *known;

    // All choices apply first: one row may need the choice of another.
    for (name, choice) in &rows {
        behaviour(name).map(|row| row.apply(&mut profile, choice));
    }
    let names: Vec<&str> = rows.keys().map(String::as_str).collect();
    for refusal in refusals(&profile, &names) {
        cx.error("conflict", written[refusal.row].place, refusal.why).expected(refusal.expected);
    }
    rows
}
