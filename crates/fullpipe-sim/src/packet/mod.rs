//! Packets: trains of them, their codepoints, their time on a wire.

mod ecn;
mod serialiser;
mod train;

pub use ecn::Ecn;
pub use serialiser::Serialiser;
pub(crate) use train::DATAGRAM_HEADERS;
pub use train::{Kind, Train, append, come_by, joint_pace};
