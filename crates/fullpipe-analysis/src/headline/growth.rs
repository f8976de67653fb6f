//! cwnd that nothing has cut: it is still small, or it grows slowly.

use super::super::document::AskedBy;
use super::causes::Cause;
use super::explained::{Explained, setting, valued};
use super::subject::One;
use super::words::bytes;
use super::{Context, FULL};
use crate::numbers;

/// From here on ssthresh is unset, packets (Linux `TCP_INFINITE_SSTHRESH`).
const UNSET: u32 = 0x7fff_ffff;

/// Transfers of fewer round trips are short ones.
const FEW: f64 = 30.0;

/// The flow is short against the rounds of slow start.
pub fn slow_start(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    if let Some(stays) = stays(context, one) {
        return stays;
    }
    let first = setting("initcwnd", host, AskedBy::Sysctl);
    let explained = Explained::new("Slow start", Some(host.clone())).setting(first);
    let base = one.meta.base_rtt.map_or(0.0, |rtt| rtt.as_secs_f64());
    match one.flow.completion_s.filter(|took| *took < FEW * base) {
        Some(took) => explained
            .because(format!(
                "{} in {} are few round trips",
                bytes(one.flow.bytes),
                numbers::seconds(took)
            ))
            .cure(format!(
                "Reuse the connection, send more at a time, or raise initcwnd on {host}"
            )),
        None => explained
            .because("cwnd has to grow to the path's size first")
            .cure(format!("Let the transfer run longer, or raise initcwnd on {host}")),
    }
}

/// cwnd that does not grow although nothing was lost: the rate has settled below the path's.
fn stays(context: &Context, one: &One) -> Option<Explained> {
    let (plateau, allowed) = (context.subject.plateau()?, context.subject.allowed_mbit()?);
    let cwnd = numbers::packets(one.flow.medians?.cwnd.into());
    let host = &one.meta.hosts[0];
    let who = Explained::new(format!("cwnd of {host}"), Some(host.clone()));
    let why = format!("it stays at {cwnd} in slow start, and nothing cut it");
    (plateau < FULL * allowed).then(|| who.because(why))
}

/// cwnd in congestion avoidance without a cut: ssthresh was low from the beginning, or slow start ended early.
pub fn avoidance(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let explained = Explained {
        does: "grows too slowly and stops",
        ..Explained::new(format!("cwnd of {host}"), Some(host.clone()))
    };
    if let Some(ssthresh) = remembered(context, one) {
        return explained
            .because(format!(
                "it began with an ssthresh of {} that an earlier connection left (tcp metrics)",
                numbers::packets(ssthresh.into())
            ))
            .cure(format!(
                "Set net.ipv4.tcp_no_metrics_save of {host} to 1 and flush what is kept (ip tcp_metrics flush), \
                 or use a kernel from 5.6"
            ))
            .setting(valued(
                ("net.ipv4.tcp_no_metrics_save", host),
                "0".into(),
                Some("1".into()),
                AskedBy::Sysctl,
            ));
    }
    if let Some(first) = one.meta.settings.first_ssthresh {
        let value = numbers::packets(first.into());
        return explained
            .because(format!("initial_ssthresh ends slow start at {value}"))
            .setting(valued(("initial_ssthresh", host), value, None, AskedBy::Sysctl));
    }
    let early = one
        .flow
        .slow_start
        .filter(|own| !own.by_loss)
        .and_then(|own| Some((own.ended_s?, own.cwnd)));
    match early {
        Some((at, cwnd)) => explained.because(format!(
            "slow start ended without a loss after {} at {}",
            numbers::seconds(at),
            numbers::packets(cwnd.into())
        )),
        None => explained,
    }
    .cure("Use several connections, or a congestion control that grows faster on long paths")
    .setting(setting("net.ipv4.tcp_congestion_control", host, AskedBy::Sysctl))
}

/// Recovery that no place's drops explain.
pub fn recovery(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let resent = numbers::segments(one.flow.retransmitted_segments);
    let explained = Explained::new(format!("Recovery of {host}"), Some(host.clone()));
    match one.meta.settings.without_sack.first() {
        Some(without) => explained
            .because(format!(
                "{without} does not offer SACK, so each lost segment takes a \
                round trip; {resent} sent again"
            ))
            .cure(format!("Switch net.ipv4.tcp_sack on at {without}"))
            .setting(valued(
                ("net.ipv4.tcp_sack", without),
                "0".into(),
                Some("1".into()),
                AskedBy::Peer,
            )),
        None => explained.because(format!("{resent} sent again")),
    }
}

/// ssthresh that the flow had before anything was acknowledged.
fn remembered(context: &Context, one: &One) -> Option<u32> {
    let samples = &context.traces.flows[one.index].samples;
    let start = context.lives.flows[one.index].start;
    let begun = samples.iter().filter(|own| own.time > start && own.cwnd > 0);
    let fresh = begun.take_while(|own| own.bytes_acked == 0);
    let first = fresh.map(|own| own.ssthresh).find(|own| (1..UNSET).contains(own));
    first.filter(|_| one.meta.settings.first_ssthresh.is_none())
}
