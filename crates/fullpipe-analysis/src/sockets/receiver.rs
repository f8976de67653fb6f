//! Verdicts from the receiving host's sockets: window, reader, reordering, and drops of the host.
//!
//! Limits:
//! - The sender's reasons are one thing from here: the window is not used.
//! - Without timestamps the receiver's RTT is too long, so the use of the window is not judged.

use super::answer::Judged;
use super::facts::quantile;
use super::verdict::{Verdict, between};
use crate::document::AskedBy;
use crate::numbers::{count, packets, short};
use crate::rules::valued;
use crate::view::receiver::{Flow, Look, Sight};
use crate::words::{bytes, percent};
use fullpipe_base::trace::option;

/// Facts of a receiving socket.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    /// Name of the host.
    host: String,
    /// Looks while data arrived.
    looks: usize,
    /// Bytes in order.
    bytes: u64,
    /// Their rate, Mb/s (10^6).
    mbit: f64,
    /// Median of rate x RTT over the window, main part; none without timestamps.
    used: Option<f64>,
    /// Median of the memory in use over its limit.
    memory: f64,
    /// Share of looks at which half of the window or more waits for the reader.
    unread: f64,
    /// Largest window, bytes.
    window: u64,
    /// Limit of the memory at the end, bytes.
    limit: u64,
    /// Whether the limit is the same at all looks.
    constant: bool,
    /// Packets that arrived beyond a hole.
    beyond: u64,
    /// Share of looks between which packets arrived beyond a hole.
    disorder: f64,
    /// Packets that the ring, the backlog or the socket dropped.
    dropped: u64,
    /// Share of time that the CPU worked; none where it is not counted.
    cpu: Option<f64>,
    /// Window scaling was agreed.
    wscale: bool,
    /// The program asked for a buffer.
    asked: bool,
    /// Largest limit that the kernel tunes to, bytes.
    tuned: u64,
}

/// Use of the window from which on it limits the flow. Runs that it limits use 0.87 and more, others less than three quarters.
const USED: f64 = 0.8;
/// Memory in use over its limit from which on the reader is slow.
const MEMORY: f64 = 0.8;
/// Share of looks at which data waits from which on the reader is slow.
const UNREAD: f64 = 0.5;
/// Share of looks with packets beyond a hole from which on the path reorders. Loss leaves quiet times between its epochs.
const DISORDER: f64 = 0.8;
/// Share of time that a CPU works from which on it is busy.
const BUSY: f64 = 0.9;
/// Looks below which shares mean nothing.
const LOOKS: usize = 4;
/// Counters of the sender that part a full send buffer from a full window.
const CHARGED: &str = "rwnd_limited and sndbuf_limited in `ss -ti` of the sender";
/// Largest window without scaling, bytes.
const UNSCALED: u64 = 65_535;

/// A flow of a sight with its verdicts.
pub(super) fn judged(sight: &Sight, flow: &Flow) -> Judged {
    let facts = facts(sight, flow);
    let verdicts = verdicts(&facts);
    Judged { host: facts.host, mbit: facts.mbit, bytes: facts.bytes, rests: false, verdicts }
}

/// A rule; none where it does not fire.
type Find = fn(&Facts) -> Option<Verdict>;

/// Verdicts of all rules that fire, in the order of the rules.
fn verdicts(facts: &Facts) -> Vec<Verdict> {
    let rules: [(&str, Find); 6] = [
        ("short-transfer", too_short),
        ("drops-at-receiver", drops),
        ("slow-reading", reader),
        ("small-window", window),
        ("disorder", reordering),
        ("busy-receiver", cpu),
    ];
    let fired = rules.into_iter().filter_map(|(rule, find)| Some(Verdict { rule, ..find(facts)? }));
    fired.collect()
}

fn facts(sight: &Sight, flow: &Flow) -> Facts {
    let host = sight.host.name.clone();
    let looks = &flow.looks[..];
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else {
        return Facts { host, ..Facts::default() };
    };

    // The first third is left out: windows grow there.
    let main = &looks[looks.len() * 35 / 100..];
    let wscale = flow.options & option::WSCALE != 0;
    let seconds = last.time.saturating_sub(first.time).as_secs_f64();
    let mbit = |bytes: u64, seconds: f64| {
        if seconds > 0.0 { bytes as f64 * 8.0 / 1e6 / seconds } else { 0.0 }
    };

    // rmem_alloc counts skbs' memory, as rcvbuf does.
    let memory: Vec<f64> =
        main.iter().map(|look| ratio(look.socket.rmem_alloc, look.socket.rcvbuf)).collect();
    let disorder =
        main.windows(2).filter(|pair| pair[1].socket.rcv_ooopack > pair[0].socket.rcv_ooopack);
    Facts {
        looks: looks.len(),
        bytes: last.socket.bytes_received,
        mbit: mbit(last.socket.bytes_received.saturating_sub(first.socket.bytes_received), seconds),
        // Without timestamps Linux measures rcv_rtt by whole windows, too coarse for this.
        used: (flow.options & option::TIMESTAMPS != 0).then(|| used(main, wscale)),
        memory: quantile(&memory, 0.5),
        unread: part(main, |look| 2 * look.socket.unread >= offered(look, wscale)),
        window: looks.iter().map(|look| offered(look, wscale)).max().unwrap_or(0),
        limit: last.socket.rcvbuf,
        constant: looks.iter().all(|look| look.socket.rcvbuf == first.socket.rcvbuf),
        beyond: last.socket.rcv_ooopack,
        disorder: disorder.count() as f64 / main.len().saturating_sub(1).max(1) as f64,
        dropped: sight.host.counters(&[
            "ethtool.rx_missed_errors",
            "softnet.dropped",
            "TcpExt.TCPRcvQDrop",
        ]),
        cpu: busy(sight),
        wscale,
        asked: flow.buffer.asked.is_some(),
        tuned: flow.buffer.tuned,
        host,
    }
}

/// Window that the sender gets. Linux keeps the one that it would like to offer, which 16 bits without scaling cut.
fn offered(look: &Look, wscale: bool) -> u64 {
    if wscale { look.socket.rcv_wnd } else { look.socket.rcv_wnd.min(UNSCALED) }
}

fn ratio(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

fn part(looks: &[Look], holds: impl Fn(&Look) -> bool) -> f64 {
    looks.iter().filter(|look| holds(look)).count() as f64 / looks.len().max(1) as f64
}

/// Median of rate x RTT over the window.
fn used(main: &[Look], wscale: bool) -> f64 {
    let mut all = Vec::new();
    for pair in main.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let seconds = to.time.saturating_sub(from.time).as_secs_f64();
        let bytes = to.socket.bytes_received.saturating_sub(from.socket.bytes_received) as f64;
        let trip = f64::from(to.socket.rcv_rtt_us) / 1e6;
        all.push(bytes / seconds.max(1e-6) * trip / offered(to, wscale).max(1) as f64);
    }
    quantile(&all, 0.5)
}

/// Share of time that the host's CPU worked.
fn busy(sight: &Sight) -> Option<f64> {
    let (first, last) = (sight.host.cpu.first()?, sight.host.cpu.last()?);
    let time = last.time.saturating_sub(first.time).as_ns();
    (time > 0).then(|| last.busy_ns.saturating_sub(first.busy_ns) as f64 / time as f64)
}

fn too_short(facts: &Facts) -> Option<Verdict> {
    (facts.looks < LOOKS).then(|| {
        Verdict::new("too_short", "The transfer", 1.0, 0.0)
            .because(format!("its socket was seen {} times", facts.looks))
            .remedy("Look at a transfer that lasts longer, or look more often")
    })
}

fn drops(facts: &Facts) -> Option<Verdict> {
    (facts.dropped > 0).then(|| {
        Verdict::new("rx_drop", format!("Drops of {}", facts.host), 1.0, 0.7)
            .because(format!("it drops {} before TCP sees them", packets(facts.dropped)))
            .remedy("Raise `ethtool -G rx` and net.core.netdev_max_backlog")
    })
}

fn reader(facts: &Facts) -> Option<Verdict> {
    // A full window alone may be a fast flow: the memory must be full, too.
    let full = facts.used.is_some_and(|used| used >= USED) && facts.memory >= MEMORY;
    (full || facts.unread >= UNREAD).then(|| {
        let share = facts.unread.max(facts.memory.min(1.0));

        // A busy CPU explains the reading better than the program does.
        let busy = facts.cpu.is_some_and(|cpu| cpu >= BUSY);
        let points = 0.6 + 0.4 * between(facts.unread, 0.2, 0.6);
        let (code, who) = match busy {
            true => ("cpu_receiver", format!("The CPU of {}", facts.host)),
            false => ("app_read", "The receiving program".into()),
        };
        Verdict::new(code, who, share, points)
            .because(format!(
                "half of the window waits to be read {} of the time",
                percent(facts.unread)
            ))
            .because(format!("the buffer is {} full", percent(facts.memory)))
            .remedy("Let the program read faster")
    })
}

fn window(facts: &Facts) -> Option<Verdict> {
    let used = facts.used.filter(|used| *used >= USED)?;

    // A slow reader fills the window: the reader's verdict holds then.
    let slow = reader(facts).is_some();
    (!slow).then(|| {
        let points = 0.6 + 0.4 * between(used, USED, 0.95);
        let limit = bytes(facts.limit);
        let named = |code, name: &str, by| {
            Verdict::new(
                code,
                format!("The receive window of {}", facts.host),
                used.min(1.0),
                points,
            )
            .because(format!("the flow uses {} of {}", percent(used.min(1.0)), bytes(facts.window)))
            .setting(valued(name, &facts.host, limit.clone(), None, by))
        };
        match () {
            // A window of 16 bits comes first: it ends below any buffer.
            () if !facts.wscale && facts.window <= UNSCALED => {
                named("wscale_off", "net.ipv4.tcp_window_scaling", AskedBy::Sysctl)
                    .remedy("Set net.ipv4.tcp_window_scaling to 1 on both hosts")
            }
            // A buffer that never changes was fixed by the program, unless it is as large as the kernel makes it.
            () if facts.asked || (facts.constant && facts.limit != facts.tuned) => {
                named("rwnd_fixed", "SO_RCVBUF", AskedBy::Program)
                    .remedy("Let the program ask for no SO_RCVBUF")
                    .twins(&["sndbuf"], CHARGED)
            }
            () => named("rwnd_auto", "net.ipv4.tcp_rmem", AskedBy::Sysctl)
                .remedy("Raise the maximum of net.ipv4.tcp_rmem")
                .twins(&["sndbuf"], CHARGED),
        }
    })
}

fn reordering(facts: &Facts) -> Option<Verdict> {
    (facts.disorder >= DISORDER && facts.looks >= 2 * LOOKS).then(|| {
        Verdict::new("reorder", "Reordering", facts.disorder, 0.6)
            .because(format!("{} packets came beyond a hole", count(facts.beyond)))
            .because(format!("they come in {} of the looks", percent(facts.disorder)))
            .remedy("Look for links that share one flow's packets (bonding, ECMP by packet)")
            .twins(&["loss"], "retransmissions of the sender (`ss -ti`)")
    })
}

fn cpu(facts: &Facts) -> Option<Verdict> {
    let cpu = facts.cpu.filter(|cpu| *cpu >= BUSY)?;
    Some(
        Verdict::new("cpu_receiver", format!("The CPU of {}", facts.host), cpu.min(1.0), 0.8)
            .because(format!(
                "it works {} of the time for {} Mb/s",
                percent(cpu.min(1.0)),
                short(facts.mbit)
            ))
            .remedy("Use a faster CPU, GRO, or larger packets"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Facts {
        Facts {
            looks: 100,
            used: Some(0.4),
            memory: 0.2,
            wscale: true,
            window: 1 << 20,
            ..Facts::default()
        }
    }

    fn first(facts: &Facts) -> Option<&'static str> {
        verdicts(facts).first().map(|verdict| verdict.code)
    }

    #[test]
    fn a_window_that_is_used_is_small_and_one_that_is_not_is_quiet() {
        assert_eq!(first(&quiet()), None);
        let used = Facts { used: Some(0.95), ..quiet() };
        assert_eq!(first(&used), Some("rwnd_auto"));
        assert_eq!(verdicts(&used)[0].twins, ["sndbuf"], "a send buffer of that size");
        assert_eq!(first(&Facts { asked: true, ..used.clone() }), Some("rwnd_fixed"));
        let constant = Facts { constant: true, limit: 6 << 20, ..used.clone() };
        assert_eq!(first(&constant), Some("rwnd_fixed"));
        assert_eq!(first(&Facts { tuned: 6 << 20, ..constant }), Some("rwnd_auto"));
        let unscaled = Facts { wscale: false, window: 65_535, ..used };
        assert_eq!(first(&unscaled), Some("wscale_off"));
    }

    #[test]
    fn unread_data_is_the_reader() {
        let unread = Facts { unread: 0.9, memory: 0.9, ..quiet() };
        assert_eq!(first(&unread), Some("app_read"));
        assert_eq!(first(&Facts { cpu: Some(0.99), ..unread }), Some("cpu_receiver"));
        assert_eq!(first(&Facts { unread: 0.3, ..quiet() }), None);
    }

    #[test]
    fn packets_beyond_holes_all_the_time_are_reordering() {
        assert_eq!(first(&Facts { disorder: 0.9, ..quiet() }), Some("reorder"));
        assert_eq!(first(&Facts { disorder: 0.3, ..quiet() }), None);
    }

    #[test]
    fn few_looks_tell_nothing() {
        assert_eq!(first(&Facts { looks: 2, used: Some(0.95), ..quiet() }), Some("too_short"));
    }
}
