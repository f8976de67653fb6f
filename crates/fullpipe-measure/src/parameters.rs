//! Parameters of a test: what the client asks for (get_parameters and send_parameters of iperf_api.c).

use serde_json::{Map, Value, json};

/// Longest text of parameters, bytes: iperf3 from 3.18 on takes no more.
pub const LONGEST: usize = 8192;
/// Bytes that TCP writes at a time, where nothing else is asked for.
pub const TCP_BLOCK: u32 = 128 << 10;
/// Largest block of TCP, bytes.
pub const LARGEST_BLOCK: u32 = 1 << 20;
/// Least datagram, bytes: room for its header.
pub const LEAST_DATAGRAM: u32 = 16;
/// Largest datagram, bytes.
pub const LARGEST_DATAGRAM: u32 = 65_507;
/// Rate of UDP where nothing else is asked for, bit/s.
pub const UDP_RATE: u64 = 1 << 20;
/// Most parallel streams.
pub const MOST_STREAMS: u32 = 128;
/// Longest test, seconds.
pub const LONGEST_TIME: u32 = 86_400;
/// Longest part that is left out at the beginning, seconds.
pub const LONGEST_OMIT: u32 = 600;
/// Key by which two ends of this program know each other.
pub const OWN_KEY: &str = "fullpipe";

/// Protocol of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

/// Parameters of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Protocol of the data.
    pub protocol: Protocol,
    /// Seconds at the beginning that are not counted.
    pub omit: u32,
    /// Seconds that are counted; 0: until the bytes are through.
    pub time: u32,
    /// Bytes to transfer; 0: any number.
    pub num: u64,
    /// Blocks to transfer; 0: any number.
    pub blockcount: u64,
    /// Streams of each direction.
    pub parallel: u32,
    /// Bytes of a block, or of a datagram; 0: what the path takes in one packet.
    pub len: u32,
    /// Whether the server sends.
    pub reverse: bool,
    /// Whether both ends send.
    pub bidirectional: bool,
    /// Whether Nagle's rule is off.
    pub nodelay: bool,
    /// Size of both socket buffers, bytes.
    pub window: Option<u64>,
    /// Largest segment, bytes.
    pub mss: Option<u32>,
    /// Byte of type of service.
    pub tos: Option<u8>,
    /// Bits per second of each stream.
    pub bandwidth: Option<u64>,
    /// Congestion control.
    pub congestion: Option<String>,
    /// Whether datagrams have numbers of 64 bits.
    pub wide_counters: bool,
    /// Version of the client.
    pub client_version: String,
    /// Whether the client is this program.
    pub is_own: bool,
    /// Parameters that are not built yet, by name.
    pub unbuilt: Vec<String>,
}

/// Parameters that change the transfer and are not built yet.
const UNBUILT: [&str; 8] = [
    "sctp",
    "mptcp",
    "fqrate",
    "burst",
    "flowlabel",
    "authtoken",
    "dont_fragment",
    "get_server_output",
];

impl Parameters {
    /// Reads what a client has sent.
    ///
    /// # Errors
    /// A value is missing or out of its range.
    pub fn read(value: &Value) -> Result<Parameters, String> {
        let Value::Object(all) = value else { return Err("the parameters are no object".into()) };
        let protocol = match (is_set(all, "tcp"), is_set(all, "udp")) {
            (true, _) => Protocol::Tcp,
            (_, true) => Protocol::Udp,
            _ if is_set(all, "sctp") => Protocol::Tcp,
            _ => return Err("the parameters name no protocol".into()),
        };
        let text = |key| all.get(key).and_then(Value::as_str).map(String::from);
        let within = |key: &str, from: u64, to: u64, default: u64| match number(all, key) {
            None => Ok(default),
            Some(own) if (from..=to).contains(&own) => Ok(own),
            Some(own) => Err(format!("{key} is {own}, and {from} to {to} is possible")),
        };
        let largest = if protocol == Protocol::Tcp { LARGEST_BLOCK } else { LARGEST_DATAGRAM };
        let narrow = |own: Result<u64, String>| own.map(|own| own as u32);
        Ok(Parameters {
            protocol,
            omit: narrow(within("omit", 0, LONGEST_OMIT.into(), 0))?,
            time: narrow(within("time", 0, LONGEST_TIME.into(), 10))?,
            num: number(all, "num").unwrap_or(0),
            blockcount: number(all, "blockcount").unwrap_or(0),
            parallel: narrow(within("parallel", 1, MOST_STREAMS.into(), 1))?,
            len: narrow(within("len", 1, largest.into(), TCP_BLOCK.min(largest).into()))?,
            reverse: is_set(all, "reverse"),
            bidirectional: is_set(all, "bidirectional"),
            nodelay: is_set(all, "nodelay"),
            window: number(all, "window").filter(|own| *own > 0),
            mss: number(all, "MSS").filter(|own| *own > 0).map(|own| own.min(65_535) as u32),
            tos: number(all, "TOS").map(|own| own.min(255) as u8),
            bandwidth: number(all, "bandwidth").filter(|own| *own > 0),
            congestion: text("congestion"),
            wide_counters: is_set(all, "udp_counters_64bit"),
            client_version: text("client_version").unwrap_or_default(),
            is_own: all.contains_key(OWN_KEY),
            unbuilt: UNBUILT.into_iter().filter(|key| is_set(all, key)).map(String::from).collect(),
        })
    }

    /// The message to a server. Types matter: flags are `true`, numbers are numbers.
    pub fn write(&self) -> Value {
        let mut all = Map::new();
        let mut set = |key: &str, value: Value| _ = all.insert(key.into(), value);
        let protocol = if self.protocol == Protocol::Tcp { "tcp" } else { "udp" };
        set(protocol, json!(true));
        set("omit", json!(self.omit));
        set("time", json!(self.time));
        set("num", json!(self.num));
        set("blockcount", json!(self.blockcount));
        set("parallel", json!(self.parallel));
        set("len", json!(self.len));
        let flags = [
            ("reverse", self.reverse),
            ("bidirectional", self.bidirectional),
            ("nodelay", self.nodelay),
        ];
        flags.into_iter().filter(|(_, is)| *is).for_each(|(key, _)| set(key, json!(true)));
        let numbers = [
            ("window", self.window),
            ("MSS", self.mss.map(u64::from)),
            ("TOS", self.tos.map(u64::from)),
            ("bandwidth", self.bandwidth),
            ("udp_counters_64bit", self.wide_counters.then_some(1)),
        ];
        numbers.into_iter().for_each(|(key, own)| own.iter().for_each(|own| set(key, json!(own))));
        self.congestion.iter().for_each(|own| set("congestion", json!(own)));
        set("pacing_timer", json!(1000));
        set("client_version", json!(self.client_version));
        if self.is_own {
            set(OWN_KEY, json!(1));
        }
        Value::Object(all)
    }

    /// Streams of both directions.
    pub fn streams(&self) -> usize {
        let directions = if self.bidirectional { 2 } else { 1 };
        self.parallel as usize * directions
    }

    /// Whether the client sends on the stream at that place: of two directions its own come first.
    pub fn client_sends(&self, place: usize) -> bool {
        match self.bidirectional {
            true => place < self.parallel as usize,
            false => !self.reverse,
        }
    }
}

/// Whether a flag is there, as `true` or as a number.
fn is_set(all: &Map<String, Value>, key: &str) -> bool {
    match all.get(key) {
        Some(Value::Bool(own)) => *own,
        Some(Value::Number(own)) => own.as_f64().is_some_and(|own| own != 0.0),
        Some(Value::String(own)) => !own.is_empty(),
        _ => false,
    }
}

/// A number that is not negative.
pub(crate) fn number(all: &Map<String, Value>, key: &str) -> Option<u64> {
    let own = all.get(key)?;
    own.as_u64().or_else(|| own.as_f64().filter(|own| *own >= 0.0).map(|own| own as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As iperf3 3.12 sent it.
    const RECORDED: &str = r#"{"tcp":true,"omit":0,"time":2,"num":0,"blockcount":0,"parallel":2,"len":131072,"bandwidth":20000000,"pacing_timer":1000,"client_version":"3.12"}"#;

    fn recorded() -> Value {
        serde_json::from_str(RECORDED).expect("JSON")
    }

    #[test]
    fn recorded_parameters_are_read() {
        let own = Parameters::read(&recorded()).expect("parameters");
        assert_eq!((own.time, own.parallel, own.len), (2, 2, TCP_BLOCK));
        assert_eq!((own.bandwidth, own.client_version.as_str()), (Some(20_000_000), "3.12"));
        assert_eq!((own.streams(), own.client_sends(1), own.is_own), (2, true, false));
        assert_eq!(own.write(), recorded());
    }

    #[test]
    fn of_two_directions_the_clients_come_first() {
        let own = Parameters { parallel: 2, bidirectional: true, ..Parameters::default() };
        let sends: Vec<bool> = (0..own.streams()).map(|place| own.client_sends(place)).collect();
        assert_eq!(sends, [true, true, false, false]);
        let own = Parameters { parallel: 1, reverse: true, ..Parameters::default() };
        assert!(!own.client_sends(0));
    }

    #[test]
    fn values_out_of_range_and_unbuilt_ones_are_named() {
        let with = |key: &str, value: Value| {
            let mut all = recorded();
            all[key] = value;
            Parameters::read(&all)
        };
        let wrong = with("parallel", json!(1000)).expect_err("too many");
        assert_eq!(wrong, "parallel is 1000, and 1 to 128 is possible");
        assert!(with("len", json!(0)).is_err() && with("time", json!(-1)).is_ok());
        assert_eq!(with("mptcp", json!(true)).expect("read").unbuilt, ["mptcp"]);
        assert!(Parameters::read(&json!([])).is_err());
        assert!(Parameters::read(&json!({ "time": 3 })).is_err());
    }
}
