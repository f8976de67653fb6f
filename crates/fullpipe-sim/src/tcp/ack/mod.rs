//! Processing of ACKs by the sender: `input` for kernels before 4.6, `control` for later ones.

pub mod classic;
pub(super) mod modern;
mod partial;
