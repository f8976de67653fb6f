//! States that both ends send as one byte (src/iperf_api.h).

/// A state of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The server has accepted all streams.
    TestStart,
    /// Data flows from now on.
    TestRunning,
    /// The client ends the test.
    TestEnd,
    /// The server asks for the parameters.
    ParamExchange,
    /// The server waits for the streams.
    CreateStreams,
    /// The server was stopped.
    ServerTerminate,
    /// The client was stopped.
    ClientTerminate,
    /// The server asks for the client's results, and sends its own behind them.
    ExchangeResults,
    /// The server has sent its results.
    DisplayResults,
    /// The client is done and closes.
    IperfDone,
    /// The server is busy with another test.
    AccessDenied,
    /// The server fails; two numbers follow.
    ServerError,
}

impl State {
    /// All states that are sent.
    pub const ALL: [State; 12] = [
        State::TestStart,
        State::TestRunning,
        State::TestEnd,
        State::ParamExchange,
        State::CreateStreams,
        State::ServerTerminate,
        State::ClientTerminate,
        State::ExchangeResults,
        State::DisplayResults,
        State::IperfDone,
        State::AccessDenied,
        State::ServerError,
    ];

    /// Byte on the wire, a signed number.
    pub fn byte(self) -> u8 {
        let number: i8 = match self {
            State::TestStart => 1,
            State::TestRunning => 2,
            State::TestEnd => 4,
            State::ParamExchange => 9,
            State::CreateStreams => 10,
            State::ServerTerminate => 11,
            State::ClientTerminate => 12,
            State::ExchangeResults => 13,
            State::DisplayResults => 14,
            State::IperfDone => 16,
            State::AccessDenied => -1,
            State::ServerError => -2,
        };
        number.to_ne_bytes()[0]
    }

    /// The state with that byte.
    pub fn of(byte: u8) -> Option<State> {
        State::ALL.into_iter().find(|own| own.byte() == byte)
    }
}

/// Number of the stream at that place: 2 is never used (iperf_add_stream).
pub fn stream_id(place: usize) -> u32 {
    let id = u32::try_from(place + 1).unwrap_or(u32::MAX);
    if id > 1 { id + 1 } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_bytes_of_a_recorded_test() {
        // The server's side of `iperf3 -t 2 -P 2` of 3.12.
        let recorded = [0x09, 0x0a, 0x01, 0x02, 0x0d, 0x0e];
        let states = recorded.map(|byte| State::of(byte).expect("a state"));
        use State::*;
        let expected =
            [ParamExchange, CreateStreams, TestStart, TestRunning, ExchangeResults, DisplayResults];
        assert_eq!(states, expected);
        assert_eq!([State::of(0xff), State::of(0xfe)], [Some(AccessDenied), Some(ServerError)]);
        assert_eq!([0, 3, 5, 15, 17, b'S'].map(State::of), [None; 6]);
    }

    #[test]
    fn streams_are_numbered_without_2() {
        assert_eq!([0, 1, 2, 3].map(stream_id), [1, 3, 4, 5]);
    }
}
