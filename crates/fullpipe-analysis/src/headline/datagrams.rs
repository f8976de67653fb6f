//! Headlines of runs that are about datagrams.

use super::super::RunMeta;
use super::super::document::{AskedBy, Datagrams, Grade, Headline, Run, Stage};
use super::drops::host_of;
use super::explained::{setting, valued};
use super::said;
use super::words::{bytes, percent, rate_of, sentences, total};
use crate::numbers;
use fullpipe_sim::config::Direction;

/// Flows that carried less than this share of what datagrams carried stand beside them.
const BESIDE: f64 = 0.01;
/// Undelivered share that is a failure of the path and not a single loss.
const LOSSY: f64 = 0.1;
/// Undelivered share that is worth a word.
const SOME: f64 = 0.001;

/// The datagrams that the run is about: those of UDP with the most bytes, unless flows carried more than next to nothing.
pub fn subject(run: &Run) -> Option<&Datagrams> {
    let size = |own: &Datagrams| own.sent.saturating_mul(own.size.into());
    let largest =
        run.datagrams.iter().filter(|own| own.kind == "udp").max_by_key(|own| size(own))?;
    let flows = total(run.flows.iter().map(|flow| flow.bytes));
    let beside = (flows as f64) < BESIDE * size(largest) as f64;
    (beside || run.flows.is_empty()).then_some(largest)
}

/// The headline about them.
pub fn headline(meta: &RunMeta, run: &Run, own: &Datagrams) -> Headline {
    let direction = if own.backward { Direction::Backward } else { Direction::Forward };
    let allowed = meta.way(direction).allowed.as_ref().map(|way| way.datagram_mbit(own.size));
    let rate = own.mean_mbit.unwrap_or(0.0);
    let lost = own.undelivered_share;
    let grade = match () {
        () if own.sent == 0 => Grade::NoTraffic,
        () if own.received == 0 => Grade::Failed,
        () if lost >= LOSSY => Grade::Lossy,
        () if lost >= SOME => Grade::Below,
        () => Grade::AsAsked,
    };
    let asked = own
        .requested_mbit
        .map_or(String::new(), |mbit| format!(", asked for {}", numbers::short(mbit)));
    let failed = if grade == Grade::Failed { "FAILED: no datagram arrived. " } else { "" };
    let first = format!("{failed}{}{asked}", rate_of(rate, allowed));
    let base = Headline {
        rate_mbit: Some(rate),
        allowed_mbit: allowed,
        share: allowed.filter(|mbit| *mbit > 0.0).map(|mbit| rate / mbit),
        ..said(grade, String::new())
    };
    if lost < SOME {
        let text = sentences([
            first,
            format!("All {} datagrams of {} arrive", numbers::count(own.sent), own.name),
        ]);
        return Headline { text, ..base };
    }
    let count =
        format!("{} of {} datagrams", numbers::count(own.undelivered), numbers::count(own.sent));
    match dropper(run, own) {
        None => Headline {
            text: sentences([
                first,
                format!("{} ({count}) do not arrive by the end of the run", percent(lost)),
            ]),
            ..base
        },
        Some(stage) => at_place(base, stage, (&first, &count), lost),
    }
}

/// The place of the datagrams' way that drops most.
fn dropper<'a>(run: &'a Run, own: &Datagrams) -> Option<&'a Stage> {
    let way = if own.backward { "back" } else { "forward" };
    let passed =
        run.stages.iter().filter(|stage| stage.direction == way && stage.kind != "receive_buffer");
    passed.filter(|stage| stage.dropped > 0).max_by_key(|stage| stage.dropped)
}

fn at_place(base: Headline, stage: &Stage, (first, count): (&str, &str), lost: f64) -> Headline {
    let host = host_of(&stage.name);
    let capacity = stage.capacity.map(|n| match &stage.unit[..] {
        "byte" => bytes(n),
        "segment" => numbers::packets(n),
        unit => format!("{} {unit}s", numbers::count(n)),
    });
    let value = capacity.unwrap_or_else(|| "no more".into());
    let set = |name: &str, host: &str, by| valued((name, host), value.clone(), None, by);
    let (why, cure, setting) = match &stage.kind[..] {
        "udp_socket" => (
            format!(
                "the socket of {host} allows {value} of memory, and the program reads too late"
            ),
            format!(
                "Let the program ask for a larger SO_RCVBUF (up to net.core.rmem_max of \
                    {host}), or read sooner"
            ),
            set("SO_RCVBUF", host, AskedBy::Sysctl),
        ),
        "delay" => (
            format!("its limit allows {value} on their way"),
            "Raise the limit of the delay (netem limit)".into(),
            set("limit", &stage.name, AskedBy::Path),
        ),
        "rx_ring" => (
            format!("the receive ring of {host} allows {value}"),
            format!("Lengthen the ring of {host} (ethtool -G rx)"),
            set("ethtool -G rx", host, AskedBy::Device),
        ),
        "backlog" => (
            format!("net.core.netdev_max_backlog of {host} allows {value}"),
            format!("Raise net.core.netdev_max_backlog of {host}"),
            set("net.core.netdev_max_backlog", host, AskedBy::Sysctl),
        ),
        "loss" | "gilbert-elliott" | "drop" => (
            "they are lost by chance".into(),
            "Mend that link".into(),
            setting("loss", &stage.name, AskedBy::Path),
        ),
        "policer" => (
            "its bucket has no tokens for them".into(),
            "Send more slowly, or raise rate and burst of the policer".into(),
            setting("burst", &stage.name, AskedBy::Path),
        ),
        _ => (
            format!("its queue allows {value}"),
            "Send more slowly: more datagrams come than that place sends".into(),
            set("queue limit", &stage.name, AskedBy::Path),
        ),
    };
    let drops =
        format!("Drops at {} take {} of the datagrams ({count}): {why}", stage.name, percent(lost));
    Headline {
        text: sentences([first.to_string(), drops, cure]),
        limit: Some("drops".into()),
        limit_share: Some(lost),
        place: Some(stage.name.clone()),
        setting: Some(setting),
        ..base
    }
}

/// The headline of a run of echo requests alone.
pub fn pings(run: &Run) -> Option<Headline> {
    let own = run.datagrams.iter().find(|own| own.kind == "ping")?;
    let Some(rtt) = own.rtt_ms else {
        let text = format!(
            "FAILED: none of {} pings of {} came back.",
            numbers::count(own.sent),
            own.name
        );
        return Some(said(Grade::Failed, text));
    };
    let text = format!(
        "Round trip {} ms in the mean ({} to {} ms); {} of {} pings lost.",
        numbers::short(rtt.avg),
        numbers::short(rtt.min),
        numbers::short(rtt.max),
        numbers::count(own.lost),
        numbers::count(own.sent)
    );
    let grade = if own.loss_share >= LOSSY { Grade::Lossy } else { Grade::AsAsked };
    Some(said(grade, text))
}
