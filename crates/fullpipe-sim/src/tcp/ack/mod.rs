//! ACKs as the sender hears them: `input` of kernels before 4.6, `control` of later ones.

pub(super) mod control;
pub mod input;
