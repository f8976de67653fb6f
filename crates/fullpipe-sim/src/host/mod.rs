//! Stages of a host, one file each, and the two ways that join them: `transmit` (qdisc, transmit
//! ring) and `receive` (receive ring, backlog), behind which is `gro`.

pub mod receive;
pub(crate) mod stage;
pub mod transmit;
