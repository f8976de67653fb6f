//! Scenarios: TOML files, checked and resolved into complete descriptions of runs.
//!
//! [`load`] does everything: it parses, applies variants, sweep points and `--set` options, checks,
//! and fills in defaults. It returns a [`Scenario`] with one [`Plan`] per run, or all problems it
//! found. It hides TOML, units, defaults and the expansion of products; nothing here knows engines.

mod again;
mod app;
mod application;
mod behaviour;
mod competes;
pub mod congestion;
mod copies;
mod datagrams;
pub mod engine;
mod expect;
mod expect_scope;
mod format;
mod host;
pub mod kernel;
mod known_keys;
mod load;
pub mod memory;
pub mod metric;
mod neighbours;
mod nfs;
pub mod notes;
pub mod outline;
mod packets;
mod path;
mod places;
mod plan;
pub mod point;
pub mod profile;
mod programs;
pub mod published;
mod qdisc;
mod recipes;
pub mod reference;
mod repeat;
mod reply;
mod reporting;
mod resolve;
mod resolved;
pub mod response;
mod show;
pub mod slow_start;
mod source;
mod space;
mod system;
mod tolerance;
mod version;
mod versus;
mod ways;
pub mod without;
mod write;
mod written;

pub use again::{After, Loop};
pub use competes::Competes;
pub use copies::are_copies;
pub use expect_scope::Asked;
pub use format::diagnostic::{CODES, Diagnostic, Diagnostics};
pub use format::quantity;
pub use format::{real_sysctl, sysctl};
/// Types of the simulator that elements and hosts of a resolved scenario hold.
pub use fullpipe_sim::config;
pub use known_keys::{keys, near_keys, near_names};
pub use load::load;
pub use nfs::{LongerCalls, NFS_2008, READ_AHEAD, TIMEO, tenths};
pub use notes::notes;
pub use outline::{OutOfRange, Outline};
pub use path::*;
pub use places::Places;
pub use plan::{Expect, Plan, Scenario, Target, Tolerance, point_name, unquoted};
pub use profile::{profile_of, profile_starts, shown};
pub use recipes::{Recipe, recipe, recipes};
pub use repeat::Repeat;
pub use resolved::*;
pub use source::{Beside, SetOption, Source};
pub use space::{Point, Space};
pub use system::shown as shown_system;
pub use version::{OLDEST, Version};
pub use versus::{Compared, Side, Versus};
pub use write::toml;
