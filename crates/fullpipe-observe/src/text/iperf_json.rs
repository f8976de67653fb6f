//! iperf3 `-J`, and its stream of events (`--json-stream`).

use super::iperf_text::without_sliver;
use super::lines::{Line, bounded};
use super::transfer::{Asked, Row, Stream, Tool, Transfer};
use serde_json::{Map, Value};
use std::net::SocketAddr;

/// Places at which a document that does not end may begin. Garbage must not take long.
const TRIES: usize = 64;

/// Documents of a text.
#[derive(Debug, Default)]
pub struct Json {
    /// Their transfers.
    pub transfers: Vec<Transfer>,
    /// Line at which a document ends too early.
    pub cut_off: Option<usize>,
    /// First and last lines of all documents.
    spans: Vec<[usize; 2]>,
}

impl Json {
    /// Whether a line belongs to a document.
    pub fn covers(&self, number: usize) -> bool {
        self.spans.iter().any(|[from, to]| (*from..=*to).contains(&number))
    }
}

/// The documents of a text.
pub fn read(lines: &[Line]) -> Json {
    let mut json = Json::default();
    let mut events = Events::default();
    let (mut at, mut tries) = (0, 0);
    while at < lines.len() {
        if !lines[at].text.trim_start().starts_with('{') || tries >= TRIES {
            at += 1;
            continue;
        }
        let text: String = lines[at..].iter().flat_map(|line| [&line.text[..], "\n"]).collect();
        let mut documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let own = match documents.next() {
            Some(Ok(Value::Object(own))) => own,
            found => {
                let early = matches!(&found, Some(Err(why)) if why.is_eof());
                let is_ours = text.contains("\"start\"") || text.contains("\"intervals\"");
                if early && is_ours && json.cut_off.is_none() {
                    json.cut_off = lines.last().map(|line| line.number);
                }
                tries += 1;
                at += 1;
                continue;
            }
        };
        let taken = text[..documents.byte_offset()].lines().count().max(1);
        let span = &lines[at..(at + taken).min(lines.len())];
        json.spans.push([span[0].number, span[span.len() - 1].number]);
        match own.contains_key("event") {
            true => events.add(own, span),
            false if own.contains_key("start") || own.contains_key("intervals") => {
                json.transfers.extend(events.end());
                json.transfers.extend(transfer(&own, &sockets(span), span));
            }
            false => {}
        }
        at += taken;
    }
    json.transfers.extend(events.end());
    json
}

/// A document that comes in pieces.
#[derive(Default)]
struct Events {
    whole: Map<String, Value>,
    intervals: Vec<Value>,
    /// Lines of the streams of each interval.
    places: Vec<usize>,
    lines: Vec<Line>,
}

impl Events {
    fn add(&mut self, mut own: Map<String, Value>, span: &[Line]) {
        let data = own.remove("data").unwrap_or_default();
        match own.get("event").and_then(Value::as_str) {
            Some("interval") => {
                let streams = data.get("streams").and_then(Value::as_array).map_or(0, Vec::len);
                self.places.extend(std::iter::repeat_n(span[0].number, streams));
                self.intervals.push(data);
            }
            Some(name @ ("start" | "end" | "error")) => _ = self.whole.insert(name.into(), data),
            _ => {}
        }
        self.lines.extend(span.iter().cloned());
    }

    fn end(&mut self) -> Option<Transfer> {
        let mut own = std::mem::take(self);
        let intervals = std::mem::take(&mut own.intervals);
        own.whole.insert("intervals".into(), Value::Array(intervals));
        let (first, last) = (own.lines.first()?, own.lines.last()?);
        let span = [first.clone(), last.clone()];
        transfer(&own.whole, &own.places, &span)
    }
}

/// Lines of the streams of all intervals: each has a "socket", as each connection has.
fn sockets(span: &[Line]) -> Vec<usize> {
    let begins = span.iter().position(|line| line.text.contains("\"intervals\"")).unwrap_or(0);
    let within = span[begins..].iter();
    let each = |line: &Line| {
        // A document on one line has its connections there, too; all have that number.
        std::iter::repeat_n(line.number, line.text.matches("\"socket\"").count())
    };
    within.flat_map(each).collect()
}

fn number(own: &Value, key: &str) -> Option<f64> {
    // Old versions print -1 as a number of 64 bits.
    own.get(key)?.as_f64().and_then(bounded)
}

fn whole(own: &Value, key: &str) -> Option<u64> {
    number(own, key).map(|own| own as u64)
}

/// A number that is not 0, which stands for "not asked".
fn asked(own: &Value, key: &str) -> Option<u64> {
    whole(own, key).filter(|own| *own > 0)
}

fn transfer(own: &Map<String, Value>, places: &[usize], span: &[Line]) -> Option<Transfer> {
    let start = own.get("start").unwrap_or(&Value::Null);
    let (test, end) = (&start["test_start"], own.get("end").unwrap_or(&Value::Null));
    let error = own.get("error").and_then(Value::as_str).map(String::from);

    let version = start["version"].as_str().and_then(|own| own.split_whitespace().nth(1));
    let rate = asked(test, "target_bitrate").or_else(|| asked(start, "target_bitrate"));
    let cpu = &end["cpu_utilization_percent"];
    let is_server = start.get("accepted_connection").is_some();
    let reverse = whole(test, "reverse") == Some(1);
    let sends = is_server == reverse;
    let (here, there) = (number(cpu, "host_total"), number(cpu, "remote_total"));
    let (cpu_sender, cpu_receiver) = if sends { (here, there) } else { (there, here) };
    let mut made = Transfer {
        tool: Tool::Iperf3,
        version: version.map(String::from),
        udp: test["protocol"].as_str() == Some("UDP"),
        sends: Some(sends),
        streams: streams(own, start, end, places),
        asked: Asked {
            is_known: !test.is_null(),
            window: asked(start, "sock_bufsize"),
            rate,
            pace: asked(start, "fq_rate").or_else(|| asked(test, "fqrate")),
            reverse,
            parallel: whole(test, "num_streams").map(|own| own.min(1000) as u32),
            congestion: None,
        },
        sndbuf: asked(start, "sndbuf_actual"),
        mss: asked(start, "tcp_mss_default")
            .or_else(|| asked(start, "tcp_mss"))
            .map(|own| own as u32),
        congestion: end["sender_tcp_congestion"].as_str().unwrap_or_default().into(),
        cpu_sender,
        cpu_receiver,
        error,
        cookie: start["cookie"].as_str().map(String::from),
        line: span[0].number,
        until: span[span.len() - 1].number,
    };
    made.streams.retain(|stream| !stream.is_empty());
    (!made.streams.is_empty() || made.error.is_some()).then_some(made)
}

fn streams(own: &Map<String, Value>, start: &Value, end: &Value, places: &[usize]) -> Vec<Stream> {
    let mut all: Vec<Stream> = Vec::new();
    let id = |own: &Value| whole(own, "socket").map(|own| own.to_string());
    let list = |own: Option<&Value>| own.and_then(Value::as_array).cloned().unwrap_or_default();

    for one in list(start.get("connected")) {
        let Some(id) = id(&one) else { continue };
        all.push(Stream { id, sums: 1, ends: ends(&one), ..Stream::default() });
    }
    let mut place = places.iter().copied();
    for interval in list(own.get("intervals")) {
        for one in list(interval.get("streams")) {
            let line = place.next().unwrap_or(0);
            let Some(id) = id(&one) else { continue };
            let at = all.iter().position(|own| own.id == id).unwrap_or_else(|| {
                all.push(Stream { id, sums: 1, ..Stream::default() });
                all.len() - 1
            });
            let stream = &mut all[at];
            stream.sends = one["sender"].as_bool().or(stream.sends);
            let row = row(&one, line);
            if one["omitted"].as_bool() != Some(true) && row.is_sound() {
                stream.rows.push(row);
            }
        }
    }
    for one in list(end.get("streams")) {
        let totals = [one.get("sender"), one.get("receiver"), one.get("udp")];
        let Some(id) = totals.into_iter().flatten().find_map(id) else { continue };
        let Some(stream) = all.iter_mut().find(|own| own.id == id) else { continue };
        let [sent, received, udp] = totals.map(|own| own.map(|own| row(own, 0)));
        stream.sent = sent.filter(Row::is_sound);
        stream.received = received.or(udp).filter(Row::is_sound);
    }
    all.iter_mut().for_each(|stream| without_sliver(&mut stream.rows));
    all
}

fn ends(own: &Value) -> Option<[SocketAddr; 2]> {
    let end = |host: &str, port: &str| -> Option<SocketAddr> {
        let ip: std::net::IpAddr = own.get(host)?.as_str()?.split('%').next()?.parse().ok()?;
        Some(SocketAddr::new(ip.to_canonical(), u16::try_from(whole(own, port)?).ok()?))
    };
    Some([end("local_host", "local_port")?, end("remote_host", "remote_port")?])
}

fn row(own: &Value, line: usize) -> Row {
    let small = |key| whole(own, key).map(|own| own.min(u32::MAX.into()) as u32);
    Row {
        from: number(own, "start").unwrap_or(0.0),
        to: number(own, "end").unwrap_or(0.0),
        bytes: number(own, "bytes").unwrap_or(0.0),
        retransmits: whole(own, "retransmits"),
        cwnd: number(own, "snd_cwnd").filter(|own| *own > 0.0),
        rtt: small("rtt").or_else(|| small("mean_rtt")).filter(|own| *own > 0),
        rttvar: small("rttvar"),
        snd_wnd: whole(own, "snd_wnd"),
        pmtu: small("pmtu").filter(|own| *own > 0),
        packets: whole(own, "packets"),
        lost: whole(own, "lost_packets"),
        jitter: number(own, "jitter_ms"),
        line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    const DOCUMENT: &str = r#"user@a$ iperf3 -J -c b
> {
>  "start": {
>   "connected": [{ "socket": 5, "local_host": "10.0.0.1", "local_port": 4000, "remote_host": "10.0.0.2", "remote_port": 5201 }],
>   "version": "iperf 3.12", "tcp_mss_default": 1448, "sock_bufsize": 0, "sndbuf_actual": 16384,
>   "connecting_to": { "host": "b", "port": 5201 }, "cookie": "abc",
>   "test_start": { "protocol": "TCP", "num_streams": 1, "reverse": 0, "target_bitrate": 10000000 } },
>  "intervals": [
>   { "streams": [
>    { "socket": 5, "start": 0, "end": 1.0, "bytes": 9, "retransmits": 1, "snd_cwnd": 14480, "snd_wnd": 65536, "rtt": 200, "omitted": true, "sender": true }] },
>   { "streams": [
>    { "socket": 5, "start": 0, "end": 1.0, "bytes": 1250000, "retransmits": 2, "snd_cwnd": 28960, "snd_wnd": 65536, "rtt": 400, "omitted": false, "sender": true }] }],
>  "end": { "streams": [{ "sender": { "socket": 5, "start": 0, "end": 1, "bytes": 1250000, "retransmits": 2 },
>    "receiver": { "socket": 5, "start": 0, "end": 1.1, "bytes": 1200000 } }],
>   "cpu_utilization_percent": { "host_total": 12.5, "remote_total": 3.0 }, "sender_tcp_congestion": "cubic" } }
and that was all
"#;

    #[test]
    fn a_quoted_document_is_read_with_its_lines() {
        let json = read(&clean(DOCUMENT));
        let [own] = &json.transfers[..] else { panic!("{json:?}") };
        assert_eq!(
            (own.asked.rate, own.mss, own.sndbuf),
            (Some(10_000_000), Some(1448), Some(16_384))
        );
        assert_eq!((own.cpu_sender, own.congestion.as_str()), (Some(12.5), "cubic"));
        let stream = &own.streams[0];
        assert_eq!((stream.rows.len(), stream.rows[0].line), (1, 12));
        assert_eq!(stream.rows[0].snd_wnd, Some(65_536));
        assert_eq!(stream.received.as_ref().map(|own| own.bytes), Some(1_200_000.0));
        assert!(json.covers(2) && !json.covers(1) && !json.covers(16));
    }

    #[test]
    fn a_stream_of_events_is_one_transfer() {
        let text = r#"{"event":"start","data":{"connected":[{"socket":5}],"version":"iperf 3.21","test_start":{"protocol":"TCP","reverse":1}}}
{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"bytes":1000,"sender":false}]}}
{"event":"interval","data":{"streams":[{"socket":5,"start":1,"end":2,"bytes":1000,"sender":false}]}}
{"event":"end","data":{"streams":[]}}
"#;
        let json = read(&clean(text));
        let own = &json.transfers[0];
        assert_eq!((own.sends, own.streams[0].rows.len()), (Some(false), 2));
        assert_eq!((own.streams[0].rows[1].line, own.until), (3, 4));
    }

    #[test]
    fn an_early_end_is_noticed_and_garbage_takes_no_time() {
        let cut = &DOCUMENT[..DOCUMENT.len() - 60];
        assert!(read(&clean(cut)).cut_off.is_some());
        let json = read(&clean(&"{\"start\":[\n".repeat(2000)));
        assert!(json.transfers.is_empty());
    }
}
