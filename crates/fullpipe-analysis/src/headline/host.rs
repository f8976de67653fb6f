//! Programs, CPUs, cards and queues of hosts, and the connection's beginning.

use super::super::document::AskedBy;
use super::Context;
use super::causes::Cause;
use super::drops::host_of;
use super::explained::{Explained, setting, valued};
use super::words::{bits, percent};
use crate::numbers;
use fullpipe_base::trace::EventKind;
use fullpipe_base::units::Time;

/// The program writes no more.
pub fn application(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let writes = one.meta.settings.writer.filter(|rate| *rate > 0);
    let rate = writes.map_or(String::new(), |rate| format!(" than {}", bits(rate)));
    let explained = Explained::new(format!("The program on {host}"), cause.place.clone());
    // A program that pauses, or ends, names no rate.
    let as_asked = writes.is_none() || one.reaches(writes);
    Explained { as_asked, ..explained }
        .because(format!("it writes no more{rate}"))
        .cure("TCP is not in the way: look at the program")
        .setting(setting("write()", host, AskedBy::Program))
}

/// A CPU that never rests; 0: the sender's, 1: the receiver's.
pub fn cpu(context: &Context, cause: &Cause, end: usize) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[end];
    let shares = one.flow.cpu.map(|cpu| [cpu.sender, cpu.receiver][end]);
    let busy = shares.map_or("it never rests".into(), |share| {
        format!("it is busy {} of the time", percent(share))
    });
    Explained::new(format!("The CPU of {host}"), cause.place.clone().or_else(|| Some(host.clone())))
        .because(busy)
        .cure(less_work(host))
        .setting(setting("CPU", host, AskedBy::Device))
}

/// The cure of a busy CPU.
pub fn less_work(host: &str) -> String {
    format!(
        "Give {host} less work for each packet: a larger MTU, TSO and GRO, larger writes, or more CPUs \
         and flows"
    )
}

/// The host's own queue has no room.
pub fn qdisc(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let place = cause.place.clone().unwrap_or_default();
    let stage = context.stage(&place);
    let value =
        stage.and_then(|own| Some(format!("{} {}s", numbers::count(own.capacity?), own.unit)));
    let explained = Explained::new(format!("The qdisc of {host}"), cause.place.clone());
    let Some(value) = value else { return explained };
    explained
        .because(format!("its queue allows {value} and refuses more"))
        .cure(format!("Lengthen the queue of {host} (txqueuelen), or use fq there"))
        .setting(valued(("txqueuelen", host), value, None, AskedBy::Device))
}

/// Nagle's rule.
pub fn nagle(context: &Context, cause: &Cause) -> Explained {
    let host = &context.most(cause).meta.hosts[0];
    Explained::new("Nagle's rule", Some(host.clone()))
        .because("a small segment waits for the ACK of the one before")
        .cure("Let the program set TCP_NODELAY, or write header and body at once")
        .setting(setting("TCP_NODELAY", host, AskedBy::Program))
}

/// The pace that somebody asked for, or TCP's own.
pub fn pacing(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let explained = Explained::new(
        format!("The pace of {host}"),
        cause.place.clone().or_else(|| Some(host.clone())),
    );
    match &one.meta.settings.pace {
        Some(pace) => {
            let payload = (pace.rate as f64 * PAYLOAD) as u64;
            Explained { as_asked: one.reaches(Some(payload)), ..explained }
                .because(format!("{} allows {}", pace.by, bits(pace.rate)))
                .cure(format!("Raise {} or ask for none, where more is wanted", pace.by))
                .setting(valued((pace.by, host), bits(pace.rate), None, AskedBy::Program))
        }
        None => explained.because("nobody asked for one: TCP spreads cwnd over the round trip"),
    }
}

/// Share of payload in what a pace counts, at least.
const PAYLOAD: f64 = 0.9;

/// TCP small queues.
pub fn small_queues(context: &Context, cause: &Cause) -> Explained {
    let host = &context.most(cause).meta.hosts[0];
    let name = "net.ipv4.tcp_limit_output_bytes";
    Explained::new(format!("The card of {host}"), cause.place.clone())
        .because(format!(
            "it tells late that packets have left, and {name} allows no more in the host"
        ))
        .cure(format!(
            "Shorten the card's transmit interrupts (ethtool -C tx-usecs), or raise {name}"
        ))
        .setting(setting(name, host, AskedBy::Sysctl))
}

/// The card's rate.
pub fn card(context: &Context, cause: &Cause) -> Explained {
    let host = &context.most(cause).meta.hosts[0];
    let rate = context.subject.allowed.filter(|own| host_of(&own.place) == host);
    let rate = rate.map(|own| bits(own.rate));
    let busy = rate.clone().map_or("it is busy".into(), |rate| format!("its rate allows {rate}"));
    Explained {
        does: "is full and holds",
        ..Explained::new(format!("The card of {host}"), cause.place.clone())
    }
    .because(busy)
    .cure("The card is full: set nothing, or use a faster one")
    .setting(valued(("card rate", host), rate.unwrap_or_default(), None, AskedBy::Device))
}

/// The card's ring.
pub fn tx_ring(context: &Context, cause: &Cause) -> Explained {
    let host = &context.most(cause).meta.hosts[0];
    let stage = context.stage(&format!("{host}.tx_ring"));
    let value =
        stage.and_then(|own| own.capacity).map(|n| format!("{} descriptors", numbers::count(n)));
    let value = value.unwrap_or_default();
    Explained::new(format!("The transmit ring of {host}"), cause.place.clone())
        .because(format!("its {value} are taken until the driver hears of what was sent"))
        .cure(format!(
            "Lengthen the ring of {host} (ethtool -G tx), or shorten its interrupts \
            (ethtool -C tx-usecs)"
        ))
        .setting(valued(("ethtool -G tx", host), value, None, AskedBy::Device))
}

/// Wait before a SYN is sent again (Linux `TCP_TIMEOUT_INIT`).
const SYN_AGAIN: Time = Time::secs(1);

/// The handshake: a lost SYN or SYN-ACK, or a transfer that is short against its round trip.
pub fn connecting(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let [from, to] = &one.meta.hosts;
    let explained = Explained::new("Connecting", Some(from.clone()));
    let established = context.traces.flows[one.index].first(EventKind::Established);
    let took = established.map(|event| event.time.saturating_sub(one.meta.start));
    let waited = took.unwrap_or_else(|| context.lives.end.saturating_sub(one.meta.start));
    // A round trip of more than a second has its SYN sent again, too, and nothing is lost.
    let in_time = one.meta.base_rtt.unwrap_or_default() + SYN_AGAIN;
    if waited < in_time {
        let (why, cure) = match took {
            Some(_) => (
                "the transfer is short against the round trip of the handshake",
                "Reuse the connection",
            ),
            None => ("the run ends before the handshake does", "Let the run last some round trips"),
        };
        return explained.because(why).cure(cure).setting(setting(
            "connection",
            from,
            AskedBy::Program,
        ));
    }
    let dropped = context.run.stages.iter().find(|stage| stage.dropped > 0);
    let dropped = dropped.map_or(String::new(), |own| format!("; {} drops packets", own.name));
    explained
        .because(format!("SYN or SYN-ACK between {from} and {to} is lost and sent again{dropped}"))
        .cure("Find what drops or filters packets of the handshake")
        .setting(setting("SYN", from, AskedBy::Path))
}
