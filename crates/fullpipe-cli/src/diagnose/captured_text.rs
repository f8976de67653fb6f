//! Verdicts on captures as text: the first line says what is wrong and what to do.

use super::text;
use fullpipe::analysis::document::Document;
use fullpipe::analysis::rules::{HEALTHY, group};
use fullpipe::captured::{Connection, Control, Judged, Listed, Overview, Place};
use fullpipe::numbers::{count, rate, seconds, share, short};
use fullpipe::report::terminal::Style;

/// Connections of the table.
const LISTED: usize = 10;
/// Share of data that was acknowledged and never captured from which on packets in flight are not known.
const MISSED: f64 = 0.01;

/// Everything that is shown.
pub struct Shown<'a> {
    /// Document of the judged connections.
    pub document: &'a Document,
    /// The judged connections.
    pub judged: &'a [Judged],
    /// Wanted connections, the busiest first.
    pub listed: Vec<Listed>,
    /// Everything that the files have.
    pub overview: &'a Overview,
}

/// "1 connection", "12 connections".
pub fn connections(number: usize) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} connection{plural}", count(number as u64))
}

/// The verdicts, the table, and remarks on the files.
pub fn text(shown: &Shown, style: Style) -> String {
    let width = style.columns();
    let mut out = text::first(shown.document, style);
    for own in shown.judged {
        out.push('\n');
        let connection = &shown.overview.connections.all()[own.index];
        text::line(&mut out, width, "", &about(connection, own));
        if shown.judged.len() > 1 {
            text::line(&mut out, width, "  ", &text::answer(&own.run));
        }
        reasons(&mut out, width, connection, own);
    }
    if shown.listed.len() > 1 {
        table(&mut out, width, &shown.listed);
    }
    for own in remarks(shown.overview) {
        text::line(&mut out, width, "note: ", &own);
    }
    out
}

/// A connection with its figures.
fn about(connection: &Connection, own: &Judged) -> String {
    let data = &connection.ways[own.way];
    let mbit = own.run.headline.as_ref().and_then(|own| own.rate_mbit).unwrap_or(0.0);
    let place = match (own.placed.place, own.placed.is_known) {
        (place, true) => format!("captured {}", at(place)),
        (place, false) => format!("taken as captured {} (not measured: --at says it)", at(place)),
    };
    let last = own.recording.flows.last();
    let again = last.map_or(0, |row| row.segments_retransmitted);
    let sent = last.map_or(0, |row| row.segments_sent).max(1);
    let mut words = vec![
        format!("{}: {}", own.run.variant, rate(mbit)),
        format!(
            "{} MB in {}",
            short(data.unique() as f64 / 1e6),
            seconds(connection.lasts().as_secs_f64())
        ),
    ];
    let trip = own.placed.round_trip().map(|own| own.as_ns() as f64 / 1e6);
    words.extend(trip.map(|ms| format!("least RTT {} ms", short(ms))));
    words.push(format!(
        "{} of {} segments sent again ({})",
        count(again),
        count(sent),
        share(again as f64 / sent as f64)
    ));
    words.push(place);
    words.join(", ")
}

/// The guess of the congestion control.
fn control(own: Control) -> String {
    let sure = if own.is_sure { "surely" } else { "perhaps" };
    format!(
        "congestion control: {sure} {}: behind {} losses {} of the packets before are in flight",
        own.name,
        count(own.losses as u64),
        share(own.left)
    )
}

fn at(place: Place) -> &'static str {
    match place {
        Place::Sender => "at the sender",
        Place::Receiver => "at the receiver",
        Place::Middle => "between sender and receiver",
    }
}

fn reasons(out: &mut String, width: usize, connection: &Connection, own: &Judged) {
    if !text::is_full(&own.run) {
        let mut findings = own.run.findings.iter();
        findings.by_ref().take(1).for_each(|own| text::finding(out, width, own));
        for own in findings.filter(|own| own.group != group(HEALTHY)) {
            let hint = format!("{} ({}, {})", own.cause, own.code, text::word(own.confidence));
            text::line(out, width, "  also fits: ", &hint);
        }
    }
    for fact in facts(connection, own) {
        text::line(out, width, "  seen: ", &fact);
    }
    for doubt in doubts(connection, own) {
        text::line(out, width, "  doubt: ", &doubt);
    }
    text::line(out, width, "  not shown: ", hidden(own.placed.place));
    let code = own.run.headline.as_ref().and_then(|own| own.code.as_deref());
    let page = code.map(|code| format!("`fullpipe explain {code}`"));
    page.iter().for_each(|page| text::line(out, width, "  more: ", page));
}

/// Facts about options, windows and the end of a connection.
fn facts(connection: &Connection, own: &Judged) -> Vec<String> {
    let (data, back) = (&connection.ways[own.way], &connection.ways[1 - own.way]);
    let scale = |way: Option<u8>| {
        way.map_or("no window scale".into(), |bits| format!("window scale {bits}"))
    };
    let mut facts = Vec::new();
    if let (Some(from), Some(to)) = (data.offer, back.offer) {
        let mss = |own: Option<u16>| own.map_or("none".into(), |own| own.to_string());
        facts.push(format!(
            "handshake: MSS {} and {}, {} and {}, SACK {}, timestamps {}",
            mss(from.mss),
            mss(to.mss),
            scale(from.scale),
            scale(to.scale),
            agreed(from.sack && to.sack),
            agreed(data.stamps && back.stamps)
        ));
    }
    facts.extend(own.control.map(control));
    let last = own.recording.flows.last();
    if let Some(row) = last.filter(|row| row.sender.reord_seen + row.sender.dsack_dups > 0) {
        facts.push(format!(
            "packets overtook others {} times; {} segments arrived twice (D-SACK)",
            count(row.sender.reord_seen),
            count(row.sender.dsack_dups)
        ));
    }
    if back.zero_windows > 0 {
        let times = count(back.zero_windows);
        facts.push(format!("the receiver announced windows of 0 bytes: {times}"));
    }
    facts
}

fn agreed(own: bool) -> &'static str {
    if own { "agreed" } else { "not agreed" }
}

/// Reasons to doubt a verdict: faults of the capture.
fn doubts(connection: &Connection, own: &Judged) -> Vec<String> {
    let (data, back) = (&connection.ways[own.way], &connection.ways[1 - own.way]);
    let mut doubts = Vec::new();
    if data.offer.is_none() && back.offer.is_none() {
        doubts.push("the handshake was not captured: the scale of windows is unknown".into());
    }
    if back.packets == 0 {
        doubts.push("no packet of the receiver was captured: capture both directions".into());
    }
    if data.options_cut || back.options_cut {
        doubts.push("options were cut off: keep 128 bytes of each packet (tcpdump -s 128)".into());
    }
    let missed = data.unseen as f64 / data.unique().max(1) as f64;
    if missed > MISSED {
        doubts.push(format!(
            "{} of the data was acknowledged and never captured: the capture has lost packets",
            share(missed)
        ));
    }
    let copies = data.copies + back.copies;
    if copies > 0 {
        doubts.push(format!("{} packets were captured twice, and count once", count(copies)));
    }
    doubts
}

fn hidden(place: Place) -> &'static str {
    match place {
        Place::Sender => {
            "what waits in the sender's socket, its cwnd, and how the receiving program reads"
        }
        Place::Receiver => {
            "the sender's cwnd, program and buffers, and packets that its own queue drops"
        }
        Place::Middle => "cwnd, programs and buffers of both hosts",
    }
}

/// Widths of the columns behind the ends.
const WIDTHS: [usize; 6] = [11, 9, 9, 9, 9, 5];
/// Width of two ends of IPv4.
const ENDS: usize = 46;

fn table(out: &mut String, width: usize, listed: &[Listed]) {
    let line = |cells: [String; 6]| {
        let cells = cells.iter().zip(WIDTHS).map(|(own, width)| format!(" {own:>width$}"));
        cells.collect::<String>()
    };
    out.push('\n');
    text::line(out, width, "", &format!("{}, the busiest first:", connections(listed.len())));
    let heads = ["rate", "data MB", "time", "RTT ms", "late", "end"].map(String::from);

    // Ends that do not fit beside the figures have a line of their own.
    let names: Vec<String> =
        listed.iter().take(LISTED).map(|own| format!("{} > {}", own.from, own.to)).collect();
    let longest = names.iter().map(String::len).max().unwrap_or(0).max(ENDS);
    let figures: usize = WIDTHS.iter().map(|own| own + 1).sum();
    let is_wide = longest + figures <= width;
    let before = if is_wide { longest } else { 2 };
    *out += &format!("{:<before$}{}\n", if is_wide { "from > to" } else { "" }, line(heads));
    for (own, name) in listed.iter().zip(names) {
        let cells = line([
            rate(own.mbit),
            short(own.bytes as f64 / 1e6),
            seconds(own.lasts_s),
            own.rtt_ms.map_or("?".into(), short),
            count(own.late_packets),
            own.end.to_string(),
        ]);
        match is_wide {
            true => *out += &format!("{name:<before$}{cells}\n"),
            false => *out += &format!("{name}\n{:before$}{cells}\n", ""),
        }
    }
    if listed.len() > LISTED {
        *out += &format!("and {} more (--json has all)\n", count((listed.len() - LISTED) as u64));
    }
}

/// Remarks on the files.
fn remarks(own: &Overview) -> Vec<String> {
    let mut remarks: Vec<String> =
        own.cut.iter().map(|why| format!("{why}: what was read before it counts")).collect();
    if own.stopped {
        remarks.push("the reading was stopped: the answer is from what was read until then".into());
    }
    if own.dropped > 0 {
        remarks.push(format!("the capturing host has dropped {} packets", count(own.dropped)));
    }
    for (link, packets) in &own.unknown {
        remarks.push(format!("{} packets of LINKTYPE {link} were not read", count(*packets)));
    }
    remarks
}
