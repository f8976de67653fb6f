//! Result of a test as JSON: the schema of iperf3, with a verdict beside it.

use super::verdict::Verdict;
use fullpipe_measure::account::{Datagrams, Row, rate};
use fullpipe_measure::outcome::{Ended, Outcome};
use fullpipe_measure::parameters::Protocol;
use fullpipe_measure::results::{Counts, Cpu};
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Document of a test that began at that time.
pub fn document(outcome: &Outcome, verdict: &Result<Verdict, String>, begun: SystemTime) -> Value {
    let mut all = Map::new();
    all.insert("start".into(), start(outcome, begun));
    all.insert("intervals".into(), intervals(outcome).into());
    all.insert("end".into(), end(outcome));
    let error = match &outcome.ended {
        Ended::Whole => None,
        Ended::Stopped => Some("interrupted".to_string()),
        Ended::ByPeer => Some("the other end was stopped".into()),
        Ended::Broken(why) => Some(why.clone()),
    };
    error.into_iter().for_each(|why| _ = all.insert("error".into(), why.into()));
    let own = match verdict {
        Ok(verdict) => verdict.json(&outcome.streams),
        Err(why) => json!({ "no_verdict": why }),
    };
    all.insert("fullpipe".into(), own);
    Value::Object(all)
}

/// Ends and parameters of the test.
fn start(outcome: &Outcome, begun: SystemTime) -> Value {
    let asked = &outcome.parameters;
    let connected: Vec<Value> = outcome
        .streams
        .iter()
        .map(|own| {
            json!({
                "socket": own.id,
                "local_host": own.here.ip().to_string(),
                "local_port": own.here.port(),
                "remote_host": own.there.ip().to_string(),
                "remote_port": own.there.port(),
            })
        })
        .collect();
    let since = begun.duration_since(UNIX_EPOCH).unwrap_or_default();
    let flag = |own: bool| u8::from(own);
    let protocol = if asked.protocol == Protocol::Tcp { "TCP" } else { "UDP" };
    let mut all = json!({
        "connected": connected,
        "version": format!("fullpipe {}", env!("CARGO_PKG_VERSION")),
        "system_info": system(),
        "timestamp": { "timesecs": since.as_secs(), "timemillisecs": since.as_millis() as u64 },
    });
    let key = if outcome.is_server { "accepted_connection" } else { "connecting_to" };
    all[key] = json!({ "host": outcome.peer.ip().to_string(), "port": outcome.peer.port() });
    let rest = json!({
        "cookie": outcome.cookie,
        "tcp_mss_default": outcome.mss,
        "target_bitrate": asked.bandwidth.unwrap_or(0),
        "fq_rate": 0,
        "sock_bufsize": asked.window.unwrap_or(0),
        "sndbuf_actual": outcome.buffers[0],
        "rcvbuf_actual": outcome.buffers[1],
        "test_start": {
            "protocol": protocol,
            "num_streams": asked.parallel,
            "blksize": asked.len,
            "omit": asked.omit,
            "duration": asked.time,
            "bytes": asked.num,
            "blocks": asked.blockcount,
            "reverse": flag(asked.reverse),
            "tos": asked.tos.unwrap_or(0),
            "target_bitrate": asked.bandwidth.unwrap_or(0),
            "bidir": flag(asked.bidirectional),
            "fqrate": 0,
        },
    });
    extend(&mut all, rest);
    all
}

/// The kernel of this host.
fn system() -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    let words: Vec<String> = ["ostype", "hostname", "osrelease", "version"]
        .iter()
        .filter_map(|name| Some(read(name).ok()?.trim().to_string()))
        .collect();
    format!("{} {}", words.join(" "), std::env::consts::ARCH)
}

/// Adds the members of an object to another one.
fn extend(all: &mut Value, more: Value) {
    if let (Value::Object(all), Value::Object(more)) = (all, more) {
        all.extend(more);
    }
}

/// The intervals: each with its streams and their sum.
fn intervals(outcome: &Outcome) -> Vec<Value> {
    let count = outcome.streams.len().max(1);
    outcome.account.rows().chunks(count).map(|rows| interval(outcome, rows)).collect()
}

fn interval(outcome: &Outcome, rows: &[Row]) -> Value {
    let streams: Vec<Value> = rows.iter().map(|row| stream(outcome, row)).collect();
    let mut all = json!({ "streams": streams });
    for (forward, suffix) in ways(outcome) {
        let own = rows.iter().filter(|row| is_forward(outcome, row.stream) == forward);
        let own: Vec<&Row> = own.collect();
        let Some(first) = own.first() else { continue };
        let sends = outcome.streams[first.stream].sends;
        let bytes = own.iter().map(|row| row.bytes).sum();
        let (from, to) = (first.from.as_secs_f64(), first.to.as_secs_f64());
        let mut sum = span(from, to, bytes);
        if sends {
            let again: u64 = own.iter().filter_map(|row| row.retransmits).sum();
            sum["retransmits"] = again.into();
        }
        extend(&mut sum, json!({ "omitted": first.is_omitted, "sender": sends }));
        all[format!("sum{suffix}")] = sum;
    }
    all
}

/// A stream in an interval. Windows are bytes, times are microseconds.
fn stream(outcome: &Outcome, row: &Row) -> Value {
    let own = &outcome.streams[row.stream];
    let mut all = json!({ "socket": own.id });
    extend(&mut all, span(row.from.as_secs_f64(), row.to.as_secs_f64(), row.bytes));
    if let Some(socket) = row.socket.as_ref().filter(|_| own.sends) {
        let more = json!({
            "retransmits": row.retransmits.unwrap_or(0),
            "snd_cwnd": u64::from(socket.snd_cwnd) * u64::from(socket.snd_mss),
            "snd_wnd": socket.snd_wnd,
            "rtt": socket.rtt,
            "rttvar": socket.rttvar,
            "pmtu": socket.pmtu,
            "reorder": socket.reord_seen,
        });
        extend(&mut all, more);
    }
    if let Some(counts) = row.datagrams {
        extend(&mut all, datagrams(&counts, own.sends));
    }
    extend(&mut all, json!({ "omitted": row.is_omitted, "sender": own.sends }));
    all
}

/// Counts of datagrams; a sender knows their number alone.
fn datagrams(own: &Datagrams, sends: bool) -> Value {
    match sends {
        true => json!({ "packets": own.packets }),
        false => json!({
            "jitter_ms": own.jitter * 1000.0,
            "lost_packets": own.lost,
            "packets": own.packets,
            "lost_percent": own.lost as f64 * 100.0 / (own.packets as f64).max(1.0),
            "out_of_order": own.out_of_order,
        }),
    }
}

/// Bytes in a time.
fn span(from: f64, to: f64, bytes: u64) -> Value {
    json!({
        "start": from,
        "end": to,
        "seconds": to - from,
        "bytes": bytes,
        "bits_per_second": rate(bytes, to - from),
    })
}

/// Directions, by whether the client sends, with the endings of their keys.
fn ways(outcome: &Outcome) -> Vec<(bool, &'static str)> {
    match outcome.parameters.bidirectional {
        true => vec![(true, ""), (false, "_bidir_reverse")],
        false => vec![(!outcome.parameters.reverse, "")],
    }
}

/// Whether the client sends on the stream at that place.
fn is_forward(outcome: &Outcome, place: usize) -> bool {
    outcome.streams[place].sends != outcome.is_server
}

/// Sums of both ends.
fn end(outcome: &Outcome) -> Value {
    let places = 0..outcome.streams.len();
    let streams: Vec<Value> = places.map(|place| whole(outcome, place)).collect();
    let mut all = json!({ "streams": streams });
    for (forward, suffix) in ways(outcome) {
        let places = (0..outcome.streams.len()).filter(|at| is_forward(outcome, *at) == forward);
        let both: Vec<[Option<&Counts>; 2]> = places.map(|at| outcome.both(at)).collect();
        let sends = forward != outcome.is_server;
        for (at, name) in ["sum_sent", "sum_received"].into_iter().enumerate() {
            let own: Vec<&Counts> = both.iter().filter_map(|both| both[at]).collect();
            if own.is_empty() {
                continue;
            }
            let bytes = own.iter().map(|own| own.bytes).sum();
            let seconds = own.iter().map(|own| own.seconds).fold(0.0, f64::max);
            let mut sum = span(0.0, seconds, bytes);
            let again: Vec<u64> = own.iter().filter_map(|own| own.retransmits).collect();
            if !again.is_empty() {
                sum["retransmits"] = again.iter().sum::<u64>().into();
            }
            if outcome.parameters.protocol == Protocol::Udp {
                extend(&mut sum, datagrams(&added(&own), false));
            }
            sum["sender"] = sends.into();
            all[format!("{name}{suffix}")] = sum;
        }
        if outcome.parameters.protocol == Protocol::Udp {
            // Bytes and datagrams of the sender, loss and jitter of the receiver, as in each stream.
            let received: Vec<&Counts> = both.iter().filter_map(|both| both[1]).collect();
            let sent: u64 = both.iter().filter_map(|both| both[0]).map(|own| own.packets).sum();
            let counts = added(&received);
            let counts =
                Datagrams { packets: if sent > 0 { sent } else { counts.packets }, ..counts };
            let name = if sent > 0 { "sum_sent" } else { "sum_received" };
            let mut sum = all[format!("{name}{suffix}")].clone();
            extend(&mut sum, datagrams(&counts, false));
            all[format!("sum{suffix}")] = sum;
        }
    }
    let other = outcome.other.as_ref().map(|own| own.cpu).unwrap_or_default();
    let Cpu { total, user, system } = outcome.own.cpu;
    all["cpu_utilization_percent"] = json!({
        "host_total": total,
        "host_user": user,
        "host_system": system,
        "remote_total": other.total,
        "remote_user": other.user,
        "remote_system": other.system,
    });
    let here = outcome.own.congestion.clone();
    let there = outcome.other.as_ref().and_then(|own| own.congestion.clone());
    let sends = outcome.streams.first().is_some_and(|own| own.sends);
    let [sender, receiver] = if sends { [here, there] } else { [there, here] };
    let names = [("sender_tcp_congestion", sender), ("receiver_tcp_congestion", receiver)];
    for (key, name) in names.into_iter().filter_map(|(key, name)| Some((key, name?))) {
        all[key] = name.into();
    }
    all
}

/// Datagrams of several streams: the jitter is their mean.
fn added(own: &[&Counts]) -> Datagrams {
    Datagrams {
        packets: own.iter().map(|own| own.packets).sum(),
        lost: own.iter().map(|own| own.lost).sum(),
        out_of_order: 0,
        jitter: own.iter().map(|own| own.jitter).sum::<f64>() / (own.len() as f64).max(1.0),
    }
}

/// A stream at both of its ends.
fn whole(outcome: &Outcome, place: usize) -> Value {
    let own = &outcome.streams[place];
    let [sent, received] = outcome.both(place);
    if outcome.parameters.protocol == Protocol::Udp {
        return json!({ "udp": of_datagrams(outcome, place) });
    }
    let mut all = Map::new();
    if let Some(sent) = sent {
        let mut it = json!({ "socket": own.id });
        extend(&mut it, span(0.0, sent.seconds, sent.bytes));
        it["retransmits"] = sent.retransmits.unwrap_or(0).into();
        extend(&mut it, extremes(outcome, place));
        it["sender"] = own.sends.into();
        all.insert("sender".into(), it);
    }
    if let Some(received) = received {
        let mut it = json!({ "socket": own.id });
        extend(&mut it, span(0.0, received.seconds, received.bytes));
        it["sender"] = own.sends.into();
        all.insert("receiver".into(), it);
    }
    Value::Object(all)
}

/// A stream of UDP: the sender's bytes and time, the receiver's loss and jitter.
fn of_datagrams(outcome: &Outcome, place: usize) -> Value {
    let own = &outcome.streams[place];
    let [sent, received] = outcome.both(place);
    let first = sent.or(received).cloned().unwrap_or_default();
    let arrived = received.cloned().unwrap_or_default();
    let counts = Datagrams {
        packets: if sent.is_some() { first.packets } else { arrived.packets },
        lost: arrived.lost,
        out_of_order: outcome.account.out_of_order(place),
        jitter: arrived.jitter,
    };
    let mut all = json!({ "socket": own.id });
    extend(&mut all, span(0.0, first.seconds, first.bytes));
    extend(&mut all, datagrams(&counts, false));
    all["sender"] = own.sends.into();
    all
}

/// Largest windows, and the range of RTTs, of the counted intervals; all 0 where the other end sends.
fn extremes(outcome: &Outcome, place: usize) -> Value {
    let sends = outcome.streams[place].sends;
    let rows = outcome.account.counted(place).filter(|_| sends);
    let looks: Vec<_> = rows.filter_map(|row| row.socket.as_ref()).collect();
    let cwnd = looks.iter().map(|own| u64::from(own.snd_cwnd) * u64::from(own.snd_mss)).max();
    let rtts: Vec<u64> = looks.iter().map(|own| own.rtt.into()).collect();
    json!({
        "max_snd_cwnd": cwnd.unwrap_or(0),
        "max_snd_wnd": looks.iter().map(|own| own.snd_wnd).max().unwrap_or(0),
        "max_rtt": rtts.iter().max().copied().unwrap_or(0),
        "min_rtt": rtts.iter().min().copied().unwrap_or(0),
        "mean_rtt": rtts.iter().sum::<u64>() / (rtts.len() as u64).max(1),
    })
}
