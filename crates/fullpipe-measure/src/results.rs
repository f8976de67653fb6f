//! Results that both ends exchange (send_results and get_results of iperf_api.c).

use crate::parameters::number;
use serde_json::{Map, Value, json};

/// Longest text of results, bytes. iperf3 has no limit.
pub const LONGEST: usize = 16 << 20;

/// CPU time of a process, percent of the time that the test took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// All of it.
    pub total: f64,
    /// Part in the program.
    pub user: f64,
    /// Part in the kernel.
    pub system: f64,
}

/// Results of one end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// CPU time.
    pub cpu: Cpu,
    /// Whether the end knows segments sent again.
    pub has_retransmits: bool,
    /// Congestion control.
    pub congestion: Option<String>,
    /// The streams, in their order.
    pub streams: Vec<Counts>,
}

/// Results of a stream at one end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Number of the stream.
    pub id: u32,
    /// Bytes sent or received.
    pub bytes: u64,
    /// Segments sent again, where the end knows.
    pub retransmits: Option<u64>,
    /// Jitter of datagrams, seconds.
    pub jitter: f64,
    /// Datagrams lost.
    pub lost: u64,
    /// Datagrams sent, or expected by their numbers.
    pub packets: u64,
    /// Seconds from the first counted moment to the last byte.
    pub seconds: f64,
}

impl Results {
    /// Reads what the peer has sent.
    ///
    /// # Errors
    /// A value is missing.
    pub fn read(value: &Value) -> Result<Results, String> {
        let Value::Object(all) = value else { return Err("the results are no object".into()) };
        let real = |key: &str| {
            all.get(key).and_then(Value::as_f64).ok_or_else(|| format!("the results lack {key}"))
        };
        let streams =
            all.get("streams").and_then(Value::as_array).ok_or("the results lack streams")?;
        Ok(Results {
            cpu: Cpu {
                total: real("cpu_util_total")?,
                user: real("cpu_util_user")?,
                system: real("cpu_util_system")?,
            },
            has_retransmits: number(all, "sender_has_retransmits") == Some(1),
            congestion: all.get("congestion_used").and_then(Value::as_str).map(String::from),
            streams: streams.iter().map(Counts::read).collect::<Result<_, _>>()?,
        })
    }

    /// The message to the peer.
    pub fn write(&self) -> Value {
        let retransmits = match (self.has_retransmits, &self.congestion) {
            (true, _) => 1,
            (false, _) => -1,
        };
        let mut all = json!({
            "cpu_util_total": self.cpu.total,
            "cpu_util_user": self.cpu.user,
            "cpu_util_system": self.cpu.system,
            "sender_has_retransmits": retransmits,
            "streams": self.streams.iter().map(Counts::write).collect::<Vec<_>>(),
        });
        if let Some(own) = &self.congestion {
            all["congestion_used"] = json!(own);
        }
        all
    }
}

impl Counts {
    fn read(value: &Value) -> Result<Counts, String> {
        let Value::Object(all) = value else { return Err("a stream's result is no object".into()) };
        let whole = |key| number(all, key).ok_or_else(|| format!("a stream's result lacks {key}"));
        let id = whole("id")?;
        Ok(Counts {
            id: u32::try_from(id).map_err(|_| format!("there is no stream {id}"))?,
            bytes: whole("bytes")?,
            retransmits: known(all, "retransmits"),
            jitter: all.get("jitter").and_then(Value::as_f64).unwrap_or(0.0),
            lost: known(all, "errors").unwrap_or(0),
            packets: known(all, "packets").unwrap_or(0),
            seconds: all.get("end_time").and_then(Value::as_f64).unwrap_or(0.0),
        })
    }

    fn write(&self) -> Value {
        json!({
            "id": self.id,
            "bytes": self.bytes,
            "retransmits": self.retransmits.map_or(-1, |own| own.min(i64::MAX as u64) as i64),
            "jitter": self.jitter,
            "errors": self.lost,
            "omitted_errors": 0,
            "packets": self.packets,
            "omitted_packets": 0,
            "start_time": 0,
            "end_time": self.seconds,
        })
    }
}

/// A count; none where the end does not know it. iperf3 before 3.14 writes -1 as a number of 64 bits without a sign.
fn known(all: &Map<String, Value>, key: &str) -> Option<u64> {
    number(all, key).filter(|own| i64::try_from(*own).is_ok_and(|own| own < i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As iperf3 3.12 sends it for a stream that it receives.
    const RECORDED: &str = r#"{"cpu_util_total":3.5,"cpu_util_user":0.5,"cpu_util_system":3.0,"sender_has_retransmits":18446744073709551615,"congestion_used":"cubic","streams":[{"id":1,"bytes":5000000000,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":2.000266}]}"#;

    #[test]
    fn recorded_results_are_read_in_both_forms_of_unknown() {
        for text in [RECORDED.to_string(), RECORDED.replace("18446744073709551615", "-1")] {
            let own = Results::read(&serde_json::from_str(&text).expect("JSON")).expect("results");
            assert_eq!((own.cpu.total, own.has_retransmits), (3.5, false));
            let stream = &own.streams[0];
            assert_eq!((stream.id, stream.bytes, stream.retransmits), (1, 5_000_000_000, None));
            assert_eq!(stream.seconds, 2.000266);
        }
    }

    #[test]
    fn results_are_read_as_they_were_written() {
        let counts =
            Counts { id: 3, bytes: 7, retransmits: Some(2), seconds: 1.5, ..Counts::default() };
        let own = Results {
            cpu: Cpu { total: 2.0, user: 0.5, system: 1.5 },
            has_retransmits: true,
            congestion: Some("bbr".into()),
            streams: vec![counts, Counts { id: 4, ..Counts::default() }],
        };
        assert_eq!(Results::read(&own.write()), Ok(own));
    }

    #[test]
    fn a_missing_value_is_named() {
        let mut value: Value = serde_json::from_str(RECORDED).expect("JSON");
        value["streams"][0]["bytes"] = Value::Null;
        assert_eq!(Results::read(&value), Err("a stream's result lacks bytes".into()));
        value["streams"] = json!(3);
        assert_eq!(Results::read(&value), Err("the results lack streams".into()));
    }
}
