//! Distance of the simulator from real Linux: the same scenarios on both engines, and bars for their distances.
//!
//! | file | concern |
//! |---|---|
//! | `case.rs` | a run to compare: of the suite, of a user's scenario, or a random one |
//! | `random/` | random scenarios from a seed, and random mounts |
//! | `mounts.rs` | files on mounts: how fast, and what held them back first |
//! | `against.rs` | the kernel that judges |
//! | `table.rs`, `grid.rs` | the kept table of a run, at moments equally far apart |
//! | `both.rs` | a case on an engine |
//! | `distance.rs` | distances between two tables of a case |
//! | `messages.rs` | times of messages on both engines |
//! | `newer.rs` | the scenarios that use newer keys |
//! | `rows.rs` | the suite's kept rows of distances, and which have changed |
//! | `bars.rs` | the largest allowed distances, per congestion control |
//! | `spread.rs` | where chance decides: distributions over seeds |
//! | `draws.rs` | the parts that each engine decides by random numbers of its own |
//! | `terminal/` | all that as text |
//! | `twin.rs` | whether a miss is chance: how far real Linux is from itself |

pub mod against;
pub mod bars;
pub mod both;
pub mod case;
pub mod distance;
pub mod draws;
mod grid;
pub mod messages;
pub mod mounts;
pub mod newer;
pub mod random;
pub mod rows;
pub mod spread;
pub mod table;
pub mod terminal;
pub mod twin;
