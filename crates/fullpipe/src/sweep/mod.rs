//! Many runs of one scenario: the kept record of each, and its place.
//!
//! A sweep is a set of independent runs, which [`Space`](crate::scenario::Space) numbers. Each process that makes some
//! of them appends a line per run to a file of its own ([`store`]) in the sweep's directory. A [`manifest`] there says
//! what the sweep is. A line ([`record`]) is whole or is not counted: killed runs are made again, recorded ones are
//! not. So runs may be shared among processes and machines, and their files be put together by [`merge`].

pub mod apart;
mod ask;
pub mod cells;
pub mod compare;
pub mod competition;
pub mod csv;
pub mod estimate;
pub mod job;
pub mod manifest;
pub mod merge;
pub mod output;
pub mod record;
pub mod sample;
pub mod store;
pub mod surface;
mod tally;
pub mod terminal;
pub mod unjudged;
pub mod versus;
mod work;

pub use ask::{Ask, Share, ask};
pub use job::Job;
pub use manifest::Manifest;
pub use merge::Merged;
pub use record::{Place, Record};
pub use sample::Sample;
pub use store::{Shard, Store};
pub use unjudged::Unjudged;
pub use work::make;
