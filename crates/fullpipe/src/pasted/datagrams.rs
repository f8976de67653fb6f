//! Rows of UDP: rate, loss and jitter. Nothing holds a sender of datagrams back, so losses alone show a path's limit.

use super::lines::Quote;
use super::transfer::subject;
use super::{Answer, Kind, Named, meta};
use crate::analysis::document::{Confidence, Finding, Grade, Headline, Run};
use crate::analysis::rules::group;
use crate::analysis::view::View;
use crate::analysis::{self};
use crate::base::units::Time;
use crate::numbers::{count, rate, share, short};
use crate::observation::meta::of_sockets;
use crate::trace::recording::Recording;
use fullpipe_observe::text::transfer::{Row, Stream, Tool, Transfer};

/// Share of lost datagrams from which on a full link explains them better than chance.
const MANY: f64 = 0.03;
/// Share of lost datagrams that no chance loses.
const MOST: f64 = 0.2;
/// Spread of the received rate below which a link sets it.
const EVEN: f64 = 0.04;
/// Part of the asked rate from which on it was sent.
const SENT: f64 = 0.95;
/// Code of lost datagrams.
const CODE: &str = "udp";

/// Figures of all streams.
#[derive(Default)]
struct Figures {
    /// Rate at which data arrived, or was sent where no receiver is seen, Mb/s.
    mbit: f64,
    /// Rate at which it was sent, Mb/s; none where it is not seen.
    sent_mbit: Option<f64>,
    lost: u64,
    packets: u64,
    jitter: Option<f64>,
    /// Whether losses are seen at all.
    seen: bool,
    /// Spread of the rate that arrives.
    spread: f64,
}

/// The verdict on datagrams.
pub fn answer(from: &Named, own: &Transfer) -> Answer {
    let streams: Vec<&Stream> = own.streams.iter().collect();
    let figures = figures(own);
    let meta = of_sockets(&from.name, own.tool.name(), Vec::new(), meta::MSS, Time::secs(1));
    let mut run = analysis::run_in(View::SenderSockets, &meta, &Recording::default());
    judge(&mut run, own, &figures);

    let total = own.streams.iter().filter_map(|own| own.received.as_ref().or(own.sent.as_ref()));
    let rows = own.streams.iter().flat_map(|own| &own.rows);
    let worst = rows.max_by_key(|row| row.lost);
    let mut numbers: Vec<usize> = worst.into_iter().chain(total).map(|row| row.line).collect();
    numbers.retain(|line| *line > 0);
    numbers.sort_unstable();
    numbers.dedup();
    let jitter =
        figures.jitter.map_or_else(String::new, |own| format!(", jitter {} ms", short(own)));
    let lost = match figures.seen {
        true => format!(", {} of {} datagrams lost", count(figures.lost), count(figures.packets)),
        false => String::new(),
    };
    Answer {
        run,
        about: format!(
            "{}, UDP: {}{lost}{jitter}",
            subject(from, own, &streams),
            rate(figures.mbit)
        ),
        lines: numbers.into_iter().map(|line| Quote::of(from, line)).collect(),
        hidden: match figures.seen {
            true => "whether datagrams are lost on the path or in the receiving host".into(),
            false => "what arrives: these are the rows of the sender".into(),
        },
        next: match figures.seen {
            true => "nstat -n; sleep 10; nstat   (at the receiver: UdpRcvbufErrors)".into(),
            false => "iperf3 -s   (its output shows what arrives)".into(),
        },
        notes: Vec::new(),
        kind: Kind::Sender,
    }
}

fn figures(own: &Transfer) -> Figures {
    let mut all = Figures::default();
    let mut sums: Vec<f64> = Vec::new();
    for stream in &own.streams {
        let received = stream.received.as_ref();
        let rows = || stream.rows.iter();
        let arrive = rows().any(|row| row.lost.is_some());
        let mean = |rows: &[Row]| {
            let lasts: f64 = rows.iter().map(Row::lasts).sum();
            let bytes: f64 = rows.iter().map(|row| row.bytes).sum();
            if lasts > 0.0 { bytes * 8e-6 / lasts } else { 0.0 }
        };
        let of_sender = stream.sent.as_ref().filter(|_| own.tool != Tool::Nuttcp);
        all.sent_mbit = match (of_sender, arrive) {
            (Some(sent), _) => Some(all.sent_mbit.unwrap_or(0.0) + sent.mbit()),
            (None, true) => all.sent_mbit,
            (None, false) => Some(all.sent_mbit.unwrap_or(0.0) + mean(&stream.rows)),
        };

        // A receiver's total counts what it misses.
        let total = received.filter(|own| own.packets.is_some());
        let counts = |of: fn(&Row) -> Option<u64>| match total {
            Some(own) => of(own).unwrap_or(0),
            None => rows().filter_map(of).fold(0, u64::saturating_add),
        };
        let (lost, packets) = (counts(|row| row.lost), counts(|row| row.packets));
        all.seen |= total.is_some() || arrive;
        (all.lost, all.packets) =
            (all.lost.saturating_add(lost), all.packets.saturating_add(packets));
        all.jitter = received
            .and_then(|own| own.jitter)
            .or_else(|| rows().filter_map(|row| row.jitter).next_back());

        // JSON's only total counts what was sent.
        let part = 1.0 - lost as f64 / packets.max(1) as f64;
        all.mbit += match (received, arrive) {
            (_, true) => mean(&stream.rows),
            (Some(own), false) if stream.sent.is_some() => own.mbit(),
            (Some(own), false) => own.mbit() * part,
            (None, false) => mean(&stream.rows),
        };
        if arrive {
            for (at, row) in rows().enumerate() {
                match sums.get_mut(at) {
                    Some(sum) => *sum += row.mbit(),
                    None => sums.push(row.mbit()),
                }
            }
        }
    }
    let count = sums.len().max(1) as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let square = sums.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / count;
    all.spread = if sums.len() > 2 && mean > 0.0 { square.sqrt() / mean } else { f64::INFINITY };
    all
}

fn judge(run: &mut Run, own: &Transfer, figures: &Figures) {
    let Some(headline) = run.headline.take() else { return };
    let lost = figures.lost as f64 / figures.packets.max(1) as f64;
    let got = rate(figures.mbit);
    let headline = Headline { rate_mbit: Some(figures.mbit), ..headline };
    let asked = own.asked.rate.map(|bits| bits as f64 / 1e6 * own.streams.len() as f64);
    let sent = figures.sent_mbit.unwrap_or(figures.mbit / (1.0 - lost).max(1e-9));
    let held = asked.filter(|asked| sent < SENT * asked);

    if figures.lost == 0 {
        let (grade, text) = match (figures.seen, held, asked) {
            (false, ..) => {
                (Grade::CannotTell, format!("{got} are sent. These rows do not show what arrives."))
            }
            (true, Some(asked), _) => (
                Grade::Below,
                format!(
                    "{got} of {} that were asked for, and nothing is lost: the sending program or its CPU makes no more.",
                    rate(asked)
                ),
            ),
            (true, None, Some(_)) => (
                Grade::AsAsked,
                format!(
                    "{got} as asked for, and no datagram is lost: nothing is wrong at this rate. Ask for more (-b) to find the path's limit."
                ),
            ),
            (true, None, None) => (
                Grade::AsAsked,
                format!(
                    "{got}, and no datagram is lost: nothing is wrong at this rate. Ask for more (-b) to find the path's limit."
                ),
            ),
        };
        run.headline = Some(Headline { text, grade, ..headline });
        return;
    }

    let even = figures.spread < EVEN;
    let full = lost >= MOST || lost >= MANY && even;
    let evidence = vec![
        format!(
            "{} of {} datagrams are lost ({})",
            count(figures.lost),
            count(figures.packets),
            share(lost)
        ),
        match even {
            true => format!("{} are sent, and an even {got} arrive", rate(sent)),
            false => format!("{} are sent, {got} arrive", rate(sent)),
        },
    ];
    let (cause, remedy) = match full {
        true => (
            "The path carries no more than arrives: its queue overflows",
            format!("Send less than {got}"),
        ),
        false => (
            "Datagrams are lost by chance, in a short queue, or in the receiver's buffer",
            "Ask for half of the rate (-b): losses that stay are chance. Raise the receiver's buffer (-w, net.core.rmem_max) if UdpRcvbufErrors grows".to_string(),
        ),
    };
    let finding = Finding {
        code: CODE.into(),
        group: group(CODE).into(),
        rule: "datagrams-in-rows".into(),
        cause: cause.into(),
        share_of_time: lost,
        confidence: if full { Confidence::Likely } else { Confidence::CannotTell },
        place: None,
        evidence: evidence.clone(),
        twins: Vec::new(),
        would_decide: Some(
            "UdpRcvbufErrors in `nstat` of the receiver, and drops of its card (`ethtool -S`)"
                .into(),
        ),
        remedy: Some(remedy.clone()),
        setting: None,
    };
    let text = format!("{got}. {cause}: {}. {remedy}.", evidence.join(", and "));
    run.headline = Some(Headline { text, grade: Grade::Lossy, ..headline }.about(&finding));
    run.findings = vec![finding];
}
