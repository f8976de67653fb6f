//! Rows of a measured transfer as a trace.
//!
//! Packets in flight are derived: the rate times RTT (Little's law). A sender counts what it writes into its socket, in
//! pieces, so the rate is the mean of three rows. What it has written and not sent at the end is taken from the first row,
//! which fills the buffer.

use super::lines::Quote;
use super::meta::{self, MSS};
use super::{Answer, Kind, Named, datagrams};
use crate::analysis;
use crate::analysis::document::Run;
use crate::analysis::pasted::{Column, Pasted};
use crate::analysis::view::View;
use crate::base::tcp::INFINITE_SSTHRESH;
use crate::base::trace::{FlowSample, SenderSocket, StageInfo, StageSample, option};
use crate::base::units::Time;
use crate::numbers::{count, rate, seconds, short};
use crate::observation::meta::of_sockets;
use crate::trace::recording::Recording;
use crate::trace::schema::Row as _;
use fullpipe_observe::text::transfer::{Row, Stream, Tool, Transfer};

/// Part of a window in flight from which on it is full: rates and RTTs of rows are means.
const FULL: f64 = 0.85;
/// Part of the receiver's window that a full one has in flight in the trace.
const FILLS: f64 = 0.9;
/// Window of the receiver at the beginning of a connection whose program asks for no buffer, bytes (Linux).
const FIRST_WINDOW: u64 = 65_535;
/// Bytes that wait to be sent where cwnd or window hold a program that always writes.
const WAITS: u64 = 1 << 24;
/// Version of iperf3 from which on each stream has a thread.
const THREADS: (u32, u32) = (3, 16);
/// Part of cwnd that a loss leaves (CUBIC).
const LEAVES: f64 = 0.7;

/// Verdicts on a transfer: one for each direction of its data.
pub fn answers(from: &Named, own: &Transfer) -> Vec<Answer> {
    if own.streams.is_empty() {
        return own.error.iter().map(|why| failed(from, own, why)).collect();
    }
    if own.udp {
        return vec![datagrams::answer(from, own)];
    }
    let sends = |stream: &Stream| stream.sends.or(own.sends).unwrap_or(true);
    let (sent, received): (Vec<&Stream>, Vec<&Stream>) =
        own.streams.iter().partition(|stream| sends(stream));
    let parts = [(sent, true), (received, false)];
    let parts = parts.into_iter().filter(|(streams, _)| !streams.is_empty());
    parts.map(|(streams, sends)| answer(from, own, &streams, sends)).collect()
}

/// The tool ended before any data flowed.
fn failed(from: &Named, own: &Transfer, why: &str) -> Answer {
    let meta = of_sockets(&from.name, own.tool.name(), Vec::new(), MSS, Time::secs(1));
    let mut run = analysis::run_in(View::SenderSockets, &meta, &Recording::default());
    if let Some(headline) = &mut run.headline {
        headline.text = format!("FAILED: {} says \"{why}\".", own.tool.name());
    }
    Answer {
        run,
        about: format!("{}: {} without data", from.name, own.tool.name()),
        lines: vec![Quote::of(from, own.line)],
        hidden: "anything about a path".into(),
        next: "ss -ltn sport = :5201   (at the server: does it listen?)".into(),
        notes: Vec::new(),
        kind: Kind::Receiver,
    }
}

/// Columns that the rows have.
struct Shown {
    rtt: bool,
    window: bool,
    cwnd: bool,
}

fn shown(streams: &[&Stream]) -> Shown {
    let rows = || streams.iter().flat_map(|own| &own.rows);
    let all = |has: fn(&Row) -> bool| rows().next().is_some() && rows().all(has);
    Shown {
        rtt: all(|row| row.rtt.is_some()),
        window: all(|row| row.snd_wnd.is_some()),
        cwnd: all(|row| row.cwnd.is_some()),
    }
}

fn answer(from: &Named, own: &Transfer, streams: &[&Stream], sends: bool) -> Answer {
    let shown = shown(streams);
    let mut recording = Recording::default();
    let mss = own.mss.unwrap_or(MSS).max(1);
    let whole = together(streams);
    let facts = pasted(own, &shown, !whole.rows.is_empty(), sends);
    let flows = vec![meta::flow("stream".into(), &own.congestion, own.asked.window, facts)];
    recording.flows = samples(own, &whole, &shown, mss);
    cpu(own, streams.len(), sends, &mut recording);
    let lasts = streams.iter().flat_map(|own| &own.rows).map(Row::lasts).fold(1.0, f64::min);
    let meta = of_sockets(&from.name, own.tool.name(), flows, mss, time(lasts));
    let run = analysis::run_in(View::SenderSockets, &meta, &recording);

    let host = streams.iter().find_map(|own| own.ends).map(|ends| ends[1].ip().to_string());
    let host = host.unwrap_or_else(|| "HOST".into());
    let client = format!("iperf3 -c {host}{}", if own.asked.reverse { " -R" } else { "" });
    let (hidden, next) = match (sends, shown.rtt) {
        (false, _) => (
            "the sender: its cwnd, retransmissions, RTT, window and buffers".to_string(),
            format!("iperf3 -c {host} -J > FILE   (at the sending end)"),
        ),
        (true, false) => (
            "RTT, the receiver's window, the send buffer, and where packets are lost".into(),
            format!("{client} -J > FILE"),
        ),
        (true, true) => (
            "how long window and buffers stop the sender, what waits in them, and where packets are lost".into(),
            format!("while sleep 0.1; do ss -tinmH dst {host}; done > FILE   (during the transfer)"),
        ),
    };
    Answer {
        about: about(from, own, streams, &run, sends),
        lines: lines(from, streams, &run),
        hidden,
        next,
        notes: notes(own, &shown, sends),
        kind: if sends { Kind::Sender } else { Kind::Receiver },
        run,
    }
}

/// Columns that rows lack, and what the command line says.
fn pasted(own: &Transfer, shown: &Shown, has_rows: bool, sends: bool) -> Pasted {
    let mut hidden =
        vec![Column::Clocks, Column::Acks, Column::State, Column::Memory, Column::Moments];
    if !shown.rtt || !shown.cwnd {
        hidden.extend([Column::Rtt, Column::InFlight]);
    }
    if !shown.window {
        hidden.push(Column::Window);
    }
    let option = match own.tool {
        Tool::Nuttcp => "nuttcp -R".to_string(),
        tool => format!("{} -b", tool.name()),
    };
    let receiver = if sends { own.cpu_receiver } else { None };

    Pasted {
        hidden,
        one_look: false,
        no_socket: false,
        rate_only: !sends || !has_rows,
        always_writes: own.asked.rate.is_none() && !models(own),
        asked: own.asked.rate.map(|bits| (bits as f64 / 1e6, option)),
        peer_cpu: receiver.map(|own| own / 100.0),
        wire: None,
    }
}

/// Parallel streams as one: they share the path, and their sum shows whether it is full.
fn together(streams: &[&Stream]) -> Stream {
    let Some((first, rest)) = streams.split_first() else { return Stream::default() };
    let mut whole = (*first).clone();
    for own in rest {
        whole.rows.truncate(own.rows.len());
        for (sum, row) in whole.rows.iter_mut().zip(&own.rows) {
            add(sum, row);
        }
        let totals = [(&mut whole.sent, &own.sent), (&mut whole.received, &own.received)];
        for (sum, row) in totals {
            if let (Some(sum), Some(row)) = (sum, row) {
                add(sum, row);
            }
        }
    }

    // RTTs are summed up: their mean counts.
    let count = streams.len() as u32;
    whole.rows.iter_mut().for_each(|row| row.rtt = row.rtt.map(|sum| sum / count));
    whole
}

/// Adds the row of a parallel stream.
fn add(sum: &mut Row, row: &Row) {
    let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    sum.bytes += row.bytes;
    sum.retransmits = both(sum.retransmits, row.retransmits);
    sum.snd_wnd = both(sum.snd_wnd, row.snd_wnd);
    sum.cwnd = sum.cwnd.zip(row.cwnd).map(|(a, b)| a + b);
    sum.rtt = sum.rtt.zip(row.rtt).map(|(a, b)| a.saturating_add(b));
}

/// The samples of a stream: one at its beginning, and one at the end of each row.
fn samples(own: &Transfer, stream: &Stream, shown: &Shown, mss: u32) -> Vec<FlowSample> {
    let totals = [&stream.received, &stream.sent].into_iter().flatten().take(1);
    let rows: Vec<Row> = match stream.rows.is_empty() {
        true => totals.cloned().collect(),
        false => stream.rows.clone(),
    };
    let bytes = acked(stream, &rows);
    let asked = own.asked.window.is_some();
    let least = rows.iter().filter_map(|row| row.rtt).min();
    let base = stream.sent.as_ref().and_then(|row| row.rtt).filter(|_| own.tool == Tool::Nuttcp);
    let min_rtt_us = base.into_iter().chain(least).min().unwrap_or(0);
    let largest = rows.iter().filter_map(|row| row.snd_wnd).max();
    let fixed = SenderSocket {
        min_rtt_us,
        snd_mss: mss,
        pmtu: rows.iter().find_map(|row| row.pmtu).unwrap_or(0),
        pacing_rate: u64::MAX,
        max_pacing_rate: own.asked.pace.map_or(u64::MAX, |bits| bits / 8),
        sndbuf: own.sndbuf.unwrap_or(0),
        options: option::TIMESTAMPS
            | option::SACK
            | if largest == Some(FIRST_WINDOW) { 0 } else { option::WSCALE },
        ..SenderSocket::default()
    };

    let packets = |row: &Row| (row.cwnd.unwrap_or(0.0) / f64::from(mss)).round() as u32;
    let first = rows.first().cloned().unwrap_or_default();
    let mut sample = FlowSample {
        bytes_sent: 1,
        cwnd: packets(&first),
        ssthresh: INFINITE_SSTHRESH,
        srtt_us: min_rtt_us,
        in_flight: 1,
        unsent: WAITS,
        snd_wnd: window(&first, asked),
        sender: SenderSocket { unacked: 1, ..fixed },
        time: time(first.from),
        ..FlowSample::blank()
    };
    let mut all = vec![sample.clone()];
    for (at, row) in rows.iter().enumerate() {
        let before = sample.cwnd;
        sample.time = time(row.to);
        sample.bytes_acked = sample.bytes_acked.saturating_add(bytes[at] as u64).min(MOST);
        sample.bytes_delivered = sample.bytes_acked;
        sample.bytes_sent = sample.bytes_acked.max(1);
        sample.segments_delivered = sample.bytes_acked / u64::from(mss);
        let again = row.retransmits.unwrap_or(0);
        sample.segments_retransmitted =
            sample.segments_retransmitted.saturating_add(again).min(MOST);
        sample.segments_sent =
            sample.segments_delivered.saturating_add(sample.segments_retransmitted);
        sample.cwnd = packets(row);
        sample.srtt_us = row.rtt.unwrap_or(0);
        sample.snd_wnd = row.snd_wnd.unwrap_or(u32::MAX.into());
        if row.retransmits.is_some_and(|own| own > 0) {
            let left = (f64::from(before.min(sample.cwnd)) * LEAVES) as u32;
            sample.ssthresh = if left == sample.ssthresh { left.saturating_sub(1) } else { left };
        }
        let mean = bytes[at] / row.lasts();
        flight(&mut sample, mean, shown, mss, models(own));
        sample.sender = SenderSocket {
            unacked: sample.in_flight,
            rttvar_us: row.rttvar.unwrap_or(0),
            pmtu: row.pmtu.unwrap_or(0),
            ..fixed
        };
        all.push(sample.clone());
    }
    all
}

/// Whether the congestion control leaves windows unused by its own model of the path, as BBR does.
fn models(own: &Transfer) -> bool {
    own.congestion.starts_with("bbr")
}

/// Window of the receiver before the first row.
fn window(first: &Row, asked: bool) -> u64 {
    match first.snd_wnd {
        Some(own) if !asked => own.min(FIRST_WINDOW),
        own => own.unwrap_or(u32::MAX.into()),
    }
}

/// Packets in flight at a rate (bytes per second), and bytes that wait.
fn flight(sample: &mut FlowSample, rate: f64, shown: &Shown, mss: u32, models: bool) {
    let mss = f64::from(mss);
    if !shown.rtt || !shown.cwnd {
        (sample.in_flight, sample.unsent) = (1, WAITS);
        return;
    }
    let bytes = rate * f64::from(sample.srtt_us) * 1e-6;
    let cwnd = f64::from(sample.cwnd) * mss;
    let (fills_cwnd, fills_window) = (bytes >= FULL * cwnd, bytes >= FULL * sample.snd_wnd as f64);
    let mut packets = bytes / mss;
    if fills_window {
        packets = packets.max(FILLS * sample.snd_wnd as f64 / mss);
    }
    if fills_cwnd {
        packets = packets.max(f64::from(sample.cwnd));
    }
    sample.in_flight = (packets.round() as u32).clamp(1, sample.cwnd.max(1));
    sample.unsent = if fills_cwnd || fills_window || models { WAITS } else { 0 };
}

/// Bytes of each row as they were acknowledged, about.
fn acked(stream: &Stream, rows: &[Row]) -> Vec<f64> {
    let mut bytes: Vec<f64> = rows.iter().map(|row| row.bytes).collect();
    let totals = stream.sent.as_ref().zip(stream.received.as_ref());
    let totals = totals.filter(|_| !stream.rows.is_empty());
    if let (Some((sent, received)), Some(first)) = (totals, bytes.first_mut()) {
        let waits = (sent.bytes - received.bytes).clamp(0.0, 0.9 * *first);
        *first -= waits;
    }
    let mut even = bytes.clone();
    for at in 2..bytes.len().saturating_sub(1) {
        even[at] = bytes[at - 1..=at + 1].iter().sum::<f64>() / 3.0;
    }
    even
}

/// CPU of the sending process, where its streams share one thread or the mean of their threads is known.
fn cpu(own: &Transfer, streams: usize, sends: bool, recording: &mut Recording) {
    let Some(percent) = own.cpu_sender.filter(|_| sends) else { return };
    let end = recording.flows.last().map_or(Time::ZERO, |row| row.time);
    recording.stages = vec![StageInfo {
        index: 0,
        name: format!("{}.cpu", meta::HOST),
        kind: "cpu",
        direction: "forward",
        unit: "segment",
        capacity: None,
        timed: false,
    }];
    let threads = if has_threads(own) { streams.max(1) as f64 } else { 1.0 };
    let share = (percent / 100.0 / threads).min(1.0);
    let times = recording.flows.iter().map(|row| row.time);
    let mut times: Vec<Time> = times.filter(|time| *time <= end).collect();
    times.dedup();
    recording.stage_samples = times
        .into_iter()
        .map(|time| StageSample {
            time,
            stage: 0,
            busy_ns: (time.as_ns() as f64 * share) as u64,
            ..StageSample::default()
        })
        .collect();
}

/// Whether each stream has a thread of its own.
fn has_threads(own: &Transfer) -> bool {
    let version = own.version.as_deref().unwrap_or_default();
    let mut parts = version.split(['.', '+']).map(|own| own.parse().unwrap_or(0));
    let version: (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    own.tool == Tool::Iperf2 || version >= THREADS
}

/// Largest sum of a text: more than any test carries, and far from overflow.
const MOST: u64 = 1 << 60;
/// Longest test that iperf3 runs, s. A later time in a text is a damaged one.
const LONGEST: f64 = 86_400.0;

/// A time of a row.
pub fn time(seconds: f64) -> Time {
    Time((seconds.clamp(0.0, LONGEST) * 1e9) as u64)
}

/// Subject of a transfer: tool, streams and length.
pub fn subject(from: &Named, own: &Transfer, streams: &[&Stream]) -> String {
    let version = own.version.as_ref().map_or_else(String::new, |own| format!(" {own}"));
    let many = streams.iter().map(|own| own.sums as usize).sum::<usize>();
    let many = if many == 1 { "1 stream".into() } else { format!("{many} streams") };
    let rows = streams.iter().flat_map(|own| own.rows.iter().chain(&own.sent).chain(&own.received));
    let lasts = rows.map(|row| row.to).fold(0.0, f64::max);
    let ends = streams.iter().find_map(|own| own.ends);
    let ends = ends.map_or_else(String::new, |[here, there]| format!(", {here} and {there}"));
    format!("{}: {}{version}, {many}, {}{ends}", from.name, own.tool.name(), seconds(lasts))
}

fn about(from: &Named, own: &Transfer, streams: &[&Stream], run: &Run, sends: bool) -> String {
    let mbit = run.headline.as_ref().and_then(|own| own.rate_mbit).unwrap_or(0.0);
    let mut words = vec![format!(
        "{}: {} {}",
        subject(from, own, streams),
        if sends { "sends" } else { "receives" },
        rate(mbit)
    )];
    let rows = || streams.iter().flat_map(|own| &own.rows);
    let rtts: Vec<u32> = rows().filter_map(|row| row.rtt).collect();
    if let (Some(last), Some(least)) = (rtts.last(), rtts.iter().min()) {
        let ms = |us: &u32| short(f64::from(*us) / 1000.0);
        words.push(format!("RTT {} ms (least {})", ms(last), ms(least)));
    }
    if let Some(cwnd) = rows().filter_map(|row| row.cwnd).next_back() {
        words.push(format!("cwnd {} kB", short(cwnd / 1000.0)));
    }
    let totals = streams.iter().map(|own| {
        let rows = own.rows.iter().filter_map(|row| row.retransmits).sum::<u64>();
        own.sent.as_ref().and_then(|row| row.retransmits).unwrap_or(rows)
    });
    let counts = rows().any(|row| row.retransmits.is_some())
        || streams.iter().any(|own| own.sent.as_ref().is_some_and(|it| it.retransmits.is_some()));
    if counts {
        words.push(format!("{} sent again", count(totals.fold(0, u64::saturating_add))));
    }
    if !own.congestion.is_empty() {
        words.push(own.congestion.clone());
    }
    words.join(", ")
}

/// The rows that show the verdict: those with most losses, and the first and last one behind the start.
fn lines(from: &Named, streams: &[&Stream], run: &Run) -> Vec<Quote> {
    let code = run.findings.first().map_or("", |own| own.code.as_str());
    let rows: Vec<&Row> = streams.first().map_or_else(Vec::new, |own| own.rows.iter().collect());
    let lossy = ["loss", "small_buffer", "policer", "rx_drop"].contains(&code);
    let most = rows.iter().filter(|row| row.retransmits.is_some_and(|own| own > 0));
    let most = most.max_by_key(|row| row.retransmits).filter(|_| lossy);
    let middle = rows.get(rows.len() / 3);
    let mut numbers: Vec<usize> =
        [most, middle, rows.last()].into_iter().flatten().map(|row| row.line).collect();
    let totals = streams.first().map(|own| own.sent.as_ref().or(own.received.as_ref()));
    if numbers.is_empty() {
        numbers.extend(totals.flatten().map(|row| row.line));
    }
    numbers.retain(|line| *line > 0);
    numbers.sort_unstable();
    numbers.dedup();
    let quote = |line: usize| {
        let plain = Quote::of(from, line);
        let row = rows.iter().find(|row| row.line == line);
        let is_json = plain.text.contains("\"socket\"");
        row.filter(|_| is_json).map_or(plain.clone(), |row| Quote { text: figures(row), ..plain })
    };
    numbers.into_iter().map(quote).collect()
}

/// Figures of a row that is not one line of the text.
fn figures(row: &Row) -> String {
    let kb = |bytes: f64| format!("{} kB", short(bytes / 1000.0));
    let mut words =
        vec![format!("{} to {} s: {}", short(row.from), short(row.to), rate(row.mbit()))];
    words.extend(row.retransmits.map(|own| format!("retransmits {own}")));
    words.extend(row.cwnd.map(|own| format!("snd_cwnd {}", kb(own))));
    words.extend(row.snd_wnd.map(|own| format!("snd_wnd {}", kb(own as f64))));
    words.extend(row.rtt.map(|own| format!("rtt {} ms", short(f64::from(own) / 1000.0))));
    words.join(", ")
}

fn notes(own: &Transfer, shown: &Shown, sends: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let is_local = |ends: [std::net::SocketAddr; 2]| ends[0].ip() == ends[1].ip();
    if own.streams.iter().filter_map(|own| own.ends).any(is_local) {
        notes.push("both ends are one host: CPU and memory are the only path".into());
    }
    if let Some(why) = &own.error {
        notes.push(format!("{} ended with \"{why}\"", own.tool.name()));
    }
    if sends && shown.rtt && shown.cwnd {
        notes.push("packets in flight are derived: rate x RTT".into());
    }
    if let Some(window) = own.asked.window.filter(|_| sends) {
        let kb = short(window as f64 / 1000.0);
        notes.push(format!(
            "-w asks for buffers of {kb} kB at both ends: without it Linux tunes them"
        ));
    }
    let trip = own
        .streams
        .first()
        .and_then(|own| own.sent.as_ref())
        .and_then(|row| Some((row.rtt?, row.mbit())));
    if let Some((rtt, mbit)) = trip.filter(|_| own.tool == Tool::Nuttcp) {
        let product = short(mbit * f64::from(rtt) / 8e3);
        notes.push(format!(
            "rate x RTT at the beginning is {product} kB: a window of about that size would hold it"
        ));
    }
    if own.streams.len() > 1 && sends {
        notes.push("parallel streams are judged by their sum".into());
    }
    if sends && own.mss.is_none() && shown.cwnd {
        notes.push(format!("a segment is taken to have {MSS} bytes"));
    }
    if sends && shown.rtt {
        notes.push(
            "the least RTT is that of the rows: a queue that never empties is not seen".into(),
        );
    }
    notes
}
