//! The guest of the engine `linux`, and what it and the engine tell each other: [`plan`] goes in,
//! [`record`] comes out, [`boot`] starts it. [`refusal`] says what of a plan the kernel does not take, [`sockopt`] is
//! a list that both know. Both sides are built from one source, so that there is one version of them.

pub mod boot;
pub mod plan;
pub mod record;
pub mod refusal;
pub mod sockopt;
