//! Counterfactuals of a run: each [`Relief`] takes one possible limit away, and a run measures the gain of that relief
//! alone.
//!
//! [`reliefs`] makes the reliefs that a scenario can take, as data: keys to set, as after `--set`. [`trials`] pairs each run of
//! a scenario with its reliefs, [`make`] runs them, and [`Relieved`] ranks the gains. A gain is judged in acknowledged and read
//! bytes over the flows' own time. For transfers of a fixed size that is the inverse of their time.
//!
//! Limits:
//! - The first flow of the main way is judged, with its copies. All other flows compete with them.
//! - Reliefs of a host change `hosts.sender` and `hosts.receiver`, not extra hosts.
//! - A competitor that another key names starts in the last microsecond instead of never.
//! - The rates of varying links and trace links stay as they are.
//! - Losses by chance fall elsewhere in each run: without a bound on the window, gains of a few tenths may be chance.
//! - Caps do not add: a second limit behind the first one shows only when the first one is gone.

mod acked;
pub mod answer;
mod calls;
mod document;
mod page;
mod reliefs;
mod trial;

pub use acked::Measured;
pub use document::{Relieved, Run, Tried};
pub use page::page;
use reliefs::ALONE;
pub use reliefs::{BOTH, Relief, reliefs};
pub use trial::{Outcome, Trial, Watch, make, measure, trials};

/// A gain below 2 % is none.
pub const GAIN: f64 = 1.02;
