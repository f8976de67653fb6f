//! Columns that a source may lack. A column that is absent is not zero: rules that need it do not judge.

/// A group of columns of a sender's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// RTT over time.
    Rtt,
    /// Packets in flight over time.
    InFlight,
    /// Bytes that wait to be sent, over time.
    Unsent,
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
    pub const ALL: [Column; 9] = [
        Column::Rtt,
        Column::InFlight,
        Column::Unsent,
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
    /// Facts that captured packets show; none where the source is no capture.
    pub wire: Option<Wire>,
}

/// Facts that captured packets show, and sockets do not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wire {
    /// Standard deviation of the most packets in flight of each round trip of the main part, over their mean.
    pub flight_spread: f64,
    /// Median of that figure at the end of the main part over that at its beginning.
    pub flight_growth: f64,
    /// Round trips of the main part.
    pub rounds: usize,
    /// Fewest packets in flight of a round trip over its most: the median of the main part (0 to 1).
    pub flight_dips: f64,
    /// Share of bursts that begin right behind an ACK, beyond chance (0 to 1); none where the capture is far from the
    /// sender, or ACKs are too dense to say.
    pub clocked: Option<f64>,
    /// Share of packets with data that hold less than one full segment (0 to 1).
    pub partial: f64,
    /// Share of pauses before which the data did not fill its last segment, so that the socket was empty (0 to 1); none of
    /// few pauses.
    pub emptied: Option<f64>,
    /// Payload between two such pauses, mean, bytes: what the program writes at once. None without such pauses.
    pub write: Option<f64>,
    /// Rate of payload at which the data between two pauses arrives, median, Mb/s; none without long bursts.
    pub train_mbit: Option<f64>,
    /// Whether both directions of the handshake were captured, so that windows are known.
    pub knows_windows: bool,
}

impl Pasted {
    /// Whether one of these columns is absent.
    pub fn lacks(&self, columns: &[Column]) -> bool {
        columns.iter().any(|own| self.hidden.contains(own))
    }
}
