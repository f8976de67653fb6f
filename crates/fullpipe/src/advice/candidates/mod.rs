//! Changes that may help a case: visible faults undone, buffers by arithmetic, and a pace just below the path.
//!
//! [`cure`] is all of them at once, the beginning of the method. [`remedies`] are those for the first limit of a run.

pub mod black_hole;
pub(super) mod buffers;
mod datagrams;
mod exchange;
mod faults;
mod flows;
mod hosts;
mod mounts;
mod other_systems;
mod pace;
mod remedies;

pub use buffers::{Least, for_equal_flows, least, memory, most, scaled};
pub use mounts::{MOST_CONNECTIONS, THREADS};
pub use other_systems::fitted;
pub use pace::changes as paces;
pub use remedies::{MOST_TRIED, remedies};

use super::Case;
use super::change::{Change, Scope};
use super::edit::Edit;

/// The whole arithmetic cure, in the order in which changes act: changes that undo a fault are in front of changes that
/// set a value.
pub fn cure(case: &Case) -> Vec<Change> {
    // A run, not arithmetic, shows the needs of datagrams.
    if case.datagrams.is_some() {
        return Vec::new();
    }
    let parts = [faults::changes(case), buffers::changes(case), pace::changes(case)];
    parts.into_iter().flatten().collect()
}

/// Lists of changes of which each lets full packets pass a path that swallows them, the lightest first.
pub fn alternatives(case: &Case) -> Vec<Vec<Change>> {
    black_hole::black_hole(case)
}

/// Lists of changes of which one is enough: each may stand in the place of the one that is advised.
pub fn in_place(case: &Case) -> Vec<Vec<Change>> {
    [alternatives(case), exchange::ways_out(case)].concat()
}

/// Lists of changes that shorten the queue of a full path, each to be tried alone.
pub fn shorter(case: &Case) -> Vec<Vec<Change>> {
    let (paces, caps) = (pace::changes(case), buffers::caps(case));
    let both = [paces.clone(), caps.clone()].concat();
    vec![paces, caps, both, remedies::short_queue(case)]
}

/// Lists of changes that give each flow its part of a full path, each to be tried alone.
pub fn fairer(case: &Case) -> Vec<Vec<Change>> {
    let caps = [buffers::caps(case), buffers::send_caps(case)];
    let others = [cure(case), pace::changes(case), flows::alike(case), remedies::short_queue(case)];
    [others.as_slice(), &caps].concat()
}

/// Changes, with equal changes of programs on several flows joined into one.
pub fn together(case: &Case, changes: impl IntoIterator<Item = Change>) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    for change in changes {
        // Equal but for the flow: one change names them all.
        match all.iter_mut().find(|own| {
            own.scope == Scope::Application
                && Change { whose: own.whose.clone(), edits: own.edits.clone(), ..change.clone() }
                    == **own
        }) {
            Some(own) => {
                own.edits.extend(change.edits);
                let flows = own.edits.iter().filter_map(Edit::named);
                own.whose = flows::counted(case, &flows.collect::<Vec<_>>());
            }
            None => all.push(change),
        }
    }
    all
}
