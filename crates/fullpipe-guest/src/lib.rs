//! The guest of the engine `linux`, and what it and the engine tell each other: [`plan`] goes in,
//! [`record`] comes out. Both sides are built from one source, so that there is one version of them.

pub mod plan;
pub mod record;
