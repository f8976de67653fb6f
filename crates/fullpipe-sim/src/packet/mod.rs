//! Packets: trains of them, their codepoints, their time on a wire.

mod serialiser;
mod train;

pub use fullpipe_base::ecn::Ecn;
pub use serialiser::Serialiser;
pub(crate) use train::DATAGRAM_HEADERS;
pub use train::{Kind, Paced, Train, append, come_by};
