//! Send buffer and receive window: who set them, what they allow, what the path needs.

use super::super::document::AskedBy;
use super::super::settings::{Buffer, Memory};
use super::Context;
use super::causes::Cause;
use super::drops::paced;
use super::explained::{Explained, valued};
use super::subject::One;
use super::words::{bits, bytes, percent};
use crate::sizing::sizes::SHALLOW;

/// Largest window without the window scale option (RFC 7323, section 2.1), bytes.
const UNSCALED: u64 = 65_535;
/// Share of the window that waits unread, from which on the reader is slow and not the buffer small.
const UNREAD: f64 = 0.3;
/// Share of what a buffer allows, below which autotuning has not yet reached it.
const GROWN: f64 = 0.7;

/// One of a flow's two buffers.
struct Side<'a> {
    host: &'a str,
    kernel: &'a str,
    buffer: &'a Buffer,
    /// Memory that fills the path.
    needs: Option<Memory>,
    /// Option by which a program asks.
    option: &'static str,
    /// Sysctl that bounds what it may ask for.
    most: &'static str,
    /// Sysctl that bounds autotuning.
    tuned: &'static str,
}

impl<'a> Side<'a> {
    fn send(one: &One<'a>) -> Side<'a> {
        let own = &one.meta.settings;
        Side {
            host: &one.meta.hosts[0],
            kernel: &own.kernels[0],
            buffer: &own.send,
            needs: one.needs.map(|needs| needs.send),
            option: "SO_SNDBUF",
            most: "net.core.wmem_max",
            tuned: "net.ipv4.tcp_wmem",
        }
    }

    fn receive(one: &One<'a>) -> Side<'a> {
        let own = &one.meta.settings;
        Side {
            host: &one.meta.hosts[1],
            kernel: &own.kernels[1],
            buffer: &own.receive,
            needs: one.needs.map(|needs| needs.receive),
            option: "SO_RCVBUF",
            most: "net.core.rmem_max",
            tuned: "net.ipv4.tcp_rmem",
        }
    }

    /// Memory that the path needs, where the buffer allows less.
    fn missing(&self) -> Option<u64> {
        self.needs.filter(|needs| needs.least > self.buffer.allows()).map(|needs| needs.advised)
    }

    /// ", the path needs 202 MB (Linux 6.1)"
    fn needed(&self) -> String {
        let kernel = if self.kernel.is_empty() {
            String::new()
        } else {
            format!(" (Linux {})", self.kernel)
        };
        match self.missing() {
            Some(needs) => format!(", the path needs {}{kernel}", bytes(needs)),
            None => kernel,
        }
    }

    /// "the maximum of net.ipv4.tcp_wmem of sender to 160 MiB", where the autotuned buffer is too small.
    fn raise(&self) -> Option<String> {
        let needs = self.needs.filter(|needs| needs.least > self.buffer.tuned)?;
        let to = bytes(needs.advised);
        Some(format!("the maximum of {} of {} to {to}", self.tuned, self.host))
    }

    /// What to do where a program asks for a buffer.
    fn ask_for_none(&self) -> String {
        let half = self.missing().map(|needs| {
            let half = needs.div_ceil(2);
            let must = if half > self.buffer.most {
                format!(", which {} must allow", self.most)
            } else {
                String::new()
            };
            format!(", or let it ask for {}{must}", bytes(half))
        });
        let half = half.unwrap_or_default();
        match self.raise() {
            None => {
                format!("Let the program ask for none, so that the kernel tunes the buffer{half}")
            }
            Some(raise) => format!("Let the program ask for none and set {raise}{half}"),
        }
    }

    /// Cure where a sysctl cuts the size that a program asks for: raise the sysctl, ask for enough, or ask for none.
    fn ask_for_more(&self, asked: u64, raise: &str) -> String {
        let enough = self.needs.is_none_or(|needs| asked.saturating_mul(2) >= needs.least);
        let ask =
            if enough { String::new() } else { format!(" and let the program ask for {raise}") };
        let none = self.raise().map_or(String::new(), |raise| format!(" and set {raise}"));
        format!(
            "Set {} of {} to {raise}{ask}, or let the program ask for none{none}",
            self.most, self.host
        )
    }

    /// The buffer as the reason, whoever set it.
    fn explain(&self, explained: Explained) -> Explained {
        let allows = bytes(self.buffer.allows());
        let needed = self.missing().map(bytes);
        match self.buffer.asked {
            None if self.needs.is_none() => explained
                .because(format!("{} allows {allows}{}", self.tuned, self.needed()))
                .setting(valued((self.tuned, self.host), allows, None, AskedBy::Sysctl)),
            None if needed.is_none() => Explained { grows: true, ..explained }
                .because(format!(
                    "{} allows {allows}, which is enough, but autotuning has not grown it yet{}",
                    self.tuned,
                    self.needed()
                ))
                .cure("Set nothing: a longer transfer gets the full rate")
                .setting(valued((self.tuned, self.host), allows, None, AskedBy::Sysctl)),
            None => explained
                .because(format!("{} allows {allows}{}", self.tuned, self.needed()))
                .setting(valued((self.tuned, self.host), allows, needed, AskedBy::Sysctl)),
            Some(asked) if self.buffer.is_cut() => {
                let most = bytes(self.buffer.most);
                let half = self.missing().map(|needs| bytes(needs.div_ceil(2)));
                let raise = half.clone().unwrap_or_else(|| bytes(asked));
                explained
                    .because(format!(
                        "the program asks for {} by {}, {} cuts it to {most}{}",
                        bytes(asked),
                        self.option,
                        self.most,
                        self.needed()
                    ))
                    .cure(self.ask_for_more(asked, &raise))
                    .setting(valued((self.most, self.host), most, half, AskedBy::Cut))
            }
            Some(asked) => explained
                .because(format!(
                    "the program asks for {} by {}, so {} does not act{}",
                    bytes(asked),
                    self.option,
                    self.tuned,
                    self.needed()
                ))
                .cure(self.ask_for_none())
                .setting(valued((self.option, self.host), bytes(asked), None, AskedBy::Program)),
        }
    }
}

/// A full send buffer.
pub fn send(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let side = Side::send(one);
    let who = format!("The send buffer of {}", side.host);
    let explained = with_loss(one, side.explain(Explained::new(who, cause.place.clone())));
    let cure = explained.cure.clone().or_else(|| raise(context, one, &[side, Side::receive(one)]));
    Explained { cure, ..explained }
}

/// Sysctls to raise, all that are too small; the window's bound of TCP where that is less than the path needs.
fn raise(context: &Context, one: &One, sides: &[Side]) -> Option<String> {
    let beyond = then_the_loss(one, " then").or_else(|| then_the_queue(context, one));
    let tuned = sides.iter().filter(|side| side.buffer.asked.is_none());
    let all: Vec<String> = tuned.filter_map(Side::raise).collect();
    let set = (!all.is_empty()).then(|| format!("Set {}", all.join(", and ")));
    let bound = one.needs?.connections.map(|n| {
        format!("TCP's window ends at 1 GiB: {n} connections fill this path, one does not")
    });
    let parts: Vec<String> = [set, bound, beyond].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(". "))
}

/// A buffer that grows still, on a path that loses packets: the loss ends that soon.
fn with_loss(one: &One, explained: Explained) -> Explained {
    match then_the_loss(one, "").filter(|_| explained.grows) {
        Some(loss) => explained.cure(loss),
        None => explained,
    }
}

/// Rate at which random loss holds the flow when its buffers are large enough.
fn then_the_loss(one: &One, then: &str) -> Option<String> {
    let lossy = one.needs?.lossy?;
    Some(format!(
        "The loss{then} holds a flow at about {}: {} flows fill the path",
        crate::numbers::rate(lossy.mbit),
        crate::numbers::count(lossy.flows)
    ))
}

/// That the flow will overflow a short queue in front of the path's bottleneck when its buffers are large enough.
fn then_the_queue(context: &Context, one: &One) -> Option<String> {
    let needs = one.needs?;
    let product = needs.window.saturating_mul(needs.sharing) as f64;
    let stage = context.stage(&context.subject.allowed?.place)?;
    let queue = stage.capacity.filter(|_| stage.unit == "byte")?;
    ((queue as f64) < SHALLOW * product).then(|| {
        format!("The queue of {} ({}) is short: also {}", stage.name, bytes(queue), paced(context))
    })
}

/// An exhausted receive window: scaling that was not agreed, a slow reader, or a small buffer.
pub fn receive(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let side = Side::receive(one);
    let explained =
        Explained::new(format!("The receive window of {}", side.host), cause.place.clone());
    if let Some(host) = one.meta.settings.without_scaling.first() {
        return unscaled(explained, &side, host);
    }
    let unread = unread(context, one, cause);
    if unread.is_some() || one.reaches(one.meta.settings.reader) {
        return slow_reader(explained, one, unread);
    }
    if let Some(grown) = still_grows(context, one) {
        return Explained { grows: true, ..explained }
            .because(format!(
                "it has grown to {} so far, {} allows {} of memory{}",
                bytes(grown),
                side.tuned,
                bytes(side.buffer.tuned),
                side.needed()
            ))
            .cure(
                "Autotuning needs more round trips than the transfer has: reuse \
                connections, or send more at a time",
            )
            .setting(valued(
                (side.tuned, side.host),
                bytes(side.buffer.tuned),
                side.missing().map(bytes),
                AskedBy::Sysctl,
            ));
    }
    let explained = with_loss(one, side.explain(explained));
    let cure = explained.cure.clone().or_else(|| raise(context, one, &[side, Side::send(one)]));
    Explained { cure, ..explained }
}

fn unscaled(explained: Explained, side: &Side, host: &str) -> Explained {
    let most = side.buffer.allows().min(UNSCALED);
    explained
        .because(format!(
            "{host} does not offer window scaling (net.ipv4.tcp_window_scaling 0), so the \
                window ends at {}",
            bytes(most)
        ))
        .cure(format!(
            "Switch net.ipv4.tcp_window_scaling on at {host}, or look for a middlebox that \
                strips it: larger buffers do not help"
        ))
        .setting(valued(
            ("net.ipv4.tcp_window_scaling", host),
            "0".into(),
            Some("1".into()),
            AskedBy::Peer,
        ))
}

fn slow_reader(explained: Explained, one: &One, unread: Option<f64>) -> Explained {
    let rate =
        one.meta.settings.reader.map_or(String::new(), |rate| format!(" than {}", bits(rate)));
    let host = &one.meta.hosts[1];
    let as_asked = one.reaches(one.meta.settings.reader);
    let waits = unread
        .map_or(String::new(), |share| format!(", {} of the window waits unread", percent(share)));
    Explained { who: format!("The program on {host}"), as_asked, ..explained }
        .because(format!("it reads no faster{rate}{waits}"))
        .cure("Make the program read faster: larger buffers do not help")
        .setting(valued(("read()", host), "slow".into(), None, AskedBy::Program))
}

/// Share of the largest window that waited unread in the mean, where that is a large one.
fn unread(context: &Context, one: &One, cause: &Cause) -> Option<f64> {
    let stage = context.stage(cause.place.as_deref()?)?;
    let window = window(context, one)?;
    let waiting = stage.mean_waiting * f64::from(context.meta.mss);
    let sockets = context.meta.flows.iter().filter(|flow| flow.hosts[1] == one.meta.hosts[1]);
    let share = waiting / sockets.count().max(1) as f64 / window as f64;
    (share >= UNREAD).then_some(share.min(1.0))
}

/// The largest window that the receiver advertised, bytes.
fn window(context: &Context, one: &One) -> Option<u64> {
    let samples = &context.traces.flows[one.index].samples;
    samples.iter().map(|sample| sample.snd_wnd).max().filter(|window| *window > 0)
}

/// The largest window, where autotuning did not reach what the sysctl and the path allow.
fn still_grows(context: &Context, one: &One) -> Option<u64> {
    let own = &one.meta.settings;
    let (needs, window) = (one.needs?, window(context, one)?);
    let share = needs.window as f64 / needs.receive.advised as f64;
    let allows = (own.receive.tuned as f64 * share).min(needs.window as f64);
    (own.receive.asked.is_none() && (window as f64) < GROWN * allows).then_some(window)
}
