//! Sizes of buffers by arithmetic, compared with sizes that are found by bisection.

use super::paths::drawn;
use super::{Judged, judged};
use crate::judging::{UNSEEN, worst_of_three};
use fullpipe::advice::candidates::{least, most, scaled};
use fullpipe::advice::method::Goal;
use fullpipe::advice::{Change, Edit};
use serde::{Deserialize, Serialize};

/// Buffer of a random path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sized {
    /// Name of the path.
    pub path: String,
    /// The sysctl.
    pub setting: String,
    /// Least size by arithmetic, bytes.
    pub arithmetic: u64,
    /// Least size with which trials still have the rate, bytes.
    pub bisected: u64,
}

/// Part of the best rate that a size must keep.
const KEEPS: f64 = 0.97;
/// Smallest and largest size that are tried, in parts of the advised one.
///
/// Arithmetic may also ask for too little.
const SMALLEST: f64 = 1.0 / 16.0;
const LARGEST: f64 = 2.0;
/// Largest value of the sysctls of buffers, bytes.
const MOST: f64 = i32::MAX as f64;
/// Steps of a bisection: the last one is 1.4 % wide.
const STEPS: usize = 8;

/// The buffers that advice raises on the path of a number.
///
/// # Errors
/// A trial has no outcome.
pub fn sizes(seed: u64, number: usize) -> Result<Vec<Sized>, String> {
    let (name, text) = drawn(seed, number);
    let judged = judged(&name, &text, Goal::Rate)?;
    let changes = judged.advice.list();
    let mut all = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        // A change that raises no buffer has no size to compare.
        let (Some(least), Some(most)) = (least(&judged.case, change), most(change)) else {
            continue;
        };
        let part = bisected(&name, &judged, &changes, at, most)?;
        let bisected = (most as f64 * part) as u64;
        all.push(Sized {
            path: name.clone(),
            setting: change.setting.clone(),
            arithmetic: least.equal,
            bisected,
        });
    }
    Ok(all)
}

/// Least part of the advised `size` of change `at` that keeps the best rate: the rate of the advised size, or of the largest one.
///
/// All other changes are as advised. The largest size may overflow a queue, and then has less.
fn bisected(
    name: &str,
    judged: &Judged,
    changes: &[Change],
    at: usize,
    size: u64,
) -> Result<f64, String> {
    let largest = LARGEST.min(MOST / size as f64);
    let rate = |part: f64| {
        let mut tried = changes.to_vec();
        tried[at] = scaled(&judged.case, &changes[at], part).ok_or("no buffer is raised")?;
        let edits: Vec<&Edit> = tried.iter().flat_map(|change| &change.edits).collect();
        Ok::<f64, String>(worst_of_three(name, &judged.case, UNSEEN, &[edits])?[0].mbit)
    };
    let advised = rate(1.0)?;
    let best = advised.max(rate(largest)?);

    // If the advised size is enough, the least one is below it, else above it.
    let is_enough = advised >= KEEPS * best;
    let (mut too_small, mut enough) = if is_enough { (SMALLEST, 1.0) } else { (1.0, largest) };
    for _ in 0..STEPS {
        // Sizes are halved by their ratio, because they span powers of ten.
        let part = f64::sqrt(too_small * enough);
        match rate(part)? >= KEEPS * best {
            true => enough = part,
            false => too_small = part,
        }
    }
    Ok(enough)
}
