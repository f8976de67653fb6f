//! Columns that a source may lack. A column that is absent is not zero: rules that need it do not judge.

/// A group of columns of a sender's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// RTT over time.
    Rtt,
    /// Packets in flight and bytes that wait to be sent, over time.
    InFlight,
    /// Window of the receiver over time.
    Window,
    /// Times that Linux counts: busy, rwnd_limited, sndbuf_limited.
    Clocks,
    /// ACKs received, and packets delivered.
    Acks,
    /// ssthresh, congestion state, timeouts, options, reordering.
    State,
    /// Memory of the socket.
    Memory,
    /// Moments: parts of messages that wait, and single epochs of loss.
    Moments,
}

impl Column {
    /// All columns.
    pub const ALL: [Column; 8] = [
        Column::Rtt,
        Column::InFlight,
        Column::Window,
        Column::Clocks,
        Column::Acks,
        Column::State,
        Column::Memory,
        Column::Moments,
    ];
}

/// Facts that a text says about a flow beside its trace, and columns that it lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pasted {
    /// Columns that are absent.
    pub hidden: Vec<Column>,
    /// The trace is one look at totals.
    pub one_look: bool,
    /// The trace has counters of the host, and no connection.
    pub no_socket: bool,
    /// The text shows a rate and nothing else.
    pub rate_only: bool,
    /// The sending program always has more to write.
    pub always_writes: bool,
    /// Rate that the program was asked for, Mb/s, and the option that asks.
    pub asked: Option<(f64, String)>,
    /// Share of time that the receiving process works (0 to 1).
    pub peer_cpu: Option<f64>,
}

impl Pasted {
    /// Whether one of these columns is absent.
    pub fn lacks(&self, columns: &[Column]) -> bool {
        columns.iter().any(|own| self.hidden.contains(own))
    }
}
