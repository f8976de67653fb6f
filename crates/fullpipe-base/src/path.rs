//! Words of a path: direction of data, unit of decisions, capacity of a queue.

/// The way of a flow's data between the two sides of the path. The host that sends the data also opens the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Data travels from `sender` to `receiver`.
    #[default]
    Forward,
    /// Data travels from `receiver` to `sender`.
    Backward,
}

impl Direction {
    /// Name of the direction, `forward` or `back`, in scenarios and traces.
    pub fn way(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "back",
        }
    }

    /// The opposite direction.
    #[inline]
    pub fn turned(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

/// Unit of a decision of a path element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Each segment by itself.
    #[default]
    Segment,
    /// All segments of an skb, as the sender handed it down: with TSO up to 64 KB, as netem sees them on
    /// the sender's own interface.
    Skb,
}

/// Capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// In bytes, counted as the queue's place counts them.
    Bytes(u64),
    /// In packets.
    Packets(u32),
}
