//! Buffers for rules on the send buffer and the receive window: who set a buffer, its limit, and the path's need.

use super::own_window::LEVEL;
use super::subject::One;
use super::{Cause, Context, Finding, valued};
use crate::document::AskedBy;
use crate::settings::{Buffer, Memory};
use crate::sizing::sizes::SHALLOW;
use crate::words::{self, bytes};
use fullpipe_scenario::config::{Autotuning, System};

/// A buffer of a flow: the send buffer or the receive buffer.
pub struct Side<'a> {
    pub host: &'a str,
    pub kernel: &'a str,
    pub buffer: &'a Buffer,
    /// Memory that fills the path.
    pub needs: Option<Memory>,
    /// Option by which a program asks.
    pub option: &'static str,
    /// Sysctl that bounds requests for the buffer.
    pub most: &'static str,
    /// Sysctl that bounds autotuning.
    pub tuned: &'static str,
    /// Connections that fill the path, where TCP's largest window is less than the flow needs.
    pub connections: Option<u64>,
    /// System that bounds a receive window; Linux for a send buffer.
    pub bounded_by: System,
}

impl<'a> Side<'a> {
    pub fn send(one: &One<'a>) -> Side<'a> {
        let own = &one.meta.settings;

        // Windows has no kernel version to name.
        let is_windows = own.systems[0].is_windows();
        Side {
            host: &one.meta.hosts[0],
            kernel: if is_windows { "" } else { &own.kernels[0] },
            buffer: &own.send,
            needs: one.needs.map(|needs| needs.send),
            option: "SO_SNDBUF",
            most: "net.core.wmem_max",
            tuned: if is_windows { "dynamic send buffering" } else { "net.ipv4.tcp_wmem" },
            connections: one.needs.and_then(|needs| needs.connections),
            bounded_by: System::Linux,
        }
    }

    pub fn receive(one: &One<'a>) -> Side<'a> {
        let own = &one.meta.settings;
        Side {
            host: &one.meta.hosts[1],
            kernel: &own.kernels[1],
            buffer: &own.receive,
            needs: one.needs.map(|needs| needs.receive),
            option: "SO_RCVBUF",
            most: "net.core.rmem_max",
            tuned: "net.ipv4.tcp_rmem",
            connections: one.needs.and_then(|needs| needs.connections),
            bounded_by: own.systems[1],
        }
    }

    /// Its window stops the flow.
    pub fn window(&self, cause: &Cause) -> Finding {
        Finding::new(format!("The receive window of {}", self.host), cause.place.clone())
    }

    /// Memory that the path needs, where the buffer allows less.
    pub fn missing(&self) -> Option<u64> {
        self.needs.filter(|needs| needs.least > self.buffer.allows()).map(|needs| needs.advised)
    }

    /// ", the path needs 202 MB (Linux 6.1)"
    pub fn needed(&self) -> String {
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

    /// "the maximum of net.ipv4.tcp_wmem of sender to 160 MiB", where the autotuned buffer is too small. Windows has a level,
    /// and what a program or a system fixes is not set.
    pub fn raise(&self) -> Option<String> {
        let needs = self.needs.filter(|needs| needs.least > self.buffer.tuned)?;
        let host = self.host;
        match self.bounded_by {
            System::Linux => {
                let to = bytes(needs.advised);
                Some(format!("the maximum of {} of {host} to {to}", self.tuned))
            }
            System::Windows(_) => {
                let level = Autotuning::for_window(needs.least)?;
                Some(format!("{LEVEL} of {host} to {}", level.name()))
            }
            System::FixedWindow(_) => None,
        }
    }

    /// Cure of a buffer that is too small, as the middle of a sentence.
    fn next(&self) -> Option<String> {
        self.missing()?;
        match self.buffer.asked {
            Some(_) => Some(words::lower(&self.ask_for_none())),
            None => self.raise().map(|raise| format!("set {raise}")),
        }
    }

    /// Cure where a program asks for a buffer.
    pub fn ask_for_none(&self) -> String {
        // The kernel doubles a request, so half of the need suffices.
        let half = self.missing().map(|needs| {
            let half = self.buffer.request(needs);
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
    pub fn ask_for_more(&self, asked: u64, raise: &str) -> String {
        let enough = self.needs.is_none_or(|needs| self.buffer.granted(asked) >= needs.least);
        let ask =
            if enough { String::new() } else { format!(" and let the program ask for {raise}") };
        let none = self.raise().map_or(String::new(), |raise| format!(" and set {raise}"));
        format!(
            "Set {} of {} to {raise}{ask}, or let the program ask for none{none}",
            self.most, self.host
        )
    }

    /// A buffer that the kernel tunes as the reason.
    fn autotuned(&self, finding: Finding, allows: &str) -> Finding {
        let allows = format!("{} allows {allows}", self.tuned);
        let suffices = self.needs.is_some() && self.missing().is_none();

        // Three cases: a bound too low, TCP's own bound, and a buffer that still grows.
        match self.connections {
            _ if !suffices => finding.because(format!("{allows}{}", self.needed())),
            Some(n) => finding
                .because(format!("{allows}, and TCP's window ends at 1 GiB"))
                .cure(several(n)),
            None => Finding { grows: true, ..finding }
                .because(format!(
                    "{allows}, which is enough, but autotuning has not grown it yet{}",
                    self.needed()
                ))
                .cure("Set nothing: a longer transfer gets the full rate"),
        }
    }

    /// The buffer as the reason, whoever set it.
    pub fn explain(&self, finding: Finding) -> Finding {
        let allows = bytes(self.buffer.allows());
        let needed = self.missing().map(bytes);
        match self.buffer.asked {
            None => {
                let setting =
                    valued(self.tuned, self.host, allows.clone(), needed, AskedBy::Sysctl);
                self.autotuned(finding, &allows).setting(setting)
            }
            // net.core.{w,r}mem_max cuts the request: more must be allowed and asked for.
            Some(asked) if self.buffer.is_cut() => {
                let most = bytes(self.buffer.most);
                let half = self.missing().map(|needs| bytes(self.buffer.request(needs)));
                let raise = half.clone().unwrap_or_else(|| bytes(asked));
                finding
                    .because(format!(
                        "the program asks for {} by {}, {} cuts it to {most}{}",
                        bytes(asked),
                        self.option,
                        self.most,
                        self.needed()
                    ))
                    .cure(self.ask_for_more(asked, &raise))
                    .setting(valued(self.most, self.host, most, half, AskedBy::Cut))
            }
            // A request that no bound cuts turns autotuning off: the program alone can help.
            Some(asked) => finding
                .because(format!(
                    "the program asks for {} by {}, so {} does not act{}",
                    bytes(asked),
                    self.option,
                    self.tuned,
                    self.needed()
                ))
                .cure(self.ask_for_none())
                .setting(valued(self.option, self.host, bytes(asked), None, AskedBy::Program)),
        }
    }
}

/// Cure of a buffer, and of the other end's buffer where that one limits the flow next.
pub fn cure(
    context: &Context,
    one: &One,
    own: Option<String>,
    sides: &[Side; 2],
) -> Option<String> {
    let Some(own) = own else { return raise(context, one, sides) };
    let [side, other] = sides;
    let is_missing = side.buffer.asked.is_some() && side.missing().is_some();
    let then = if is_missing { and_then(context, one, other) } else { String::new() };
    Some(own + &then)
}

/// ". Then the buffer of sender limits the flow: ...", where the buffer of the other end is too small, too.
pub fn and_then(context: &Context, one: &One, other: &Side) -> String {
    // Losses and a short queue hold the flow before the other buffer does.
    let is_first = then_the_loss(one, "").is_some() || then_the_queue(context, one).is_some();
    let next = other.next().filter(|_| !is_first);
    next.map_or(String::new(), |next| {
        format!(". Then the buffer of {} limits the flow: {next}", other.host)
    })
}

/// ". Then the buffers limit the flow: ...", where a window of the programs is in front of buffers that are too small.
pub fn then_the_buffers(one: &One) -> String {
    let all: Vec<String> =
        [Side::receive(one), Side::send(one)].iter().filter_map(Side::next).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(". Then the buffers limit the flow: {}", all.join(", and ")),
    }
}

/// Sysctls to raise, all that are too small; the window's bound of TCP where that is less than the path needs.
fn raise(context: &Context, one: &One, sides: &[Side]) -> Option<String> {
    let beyond = then_the_loss(one, " then").or_else(|| then_the_queue(context, one));
    let tuned = sides.iter().filter(|side| side.buffer.asked.is_none());
    let all: Vec<String> = tuned.filter_map(Side::raise).collect();
    let connections = beyond.is_none().then(|| connections(context, one, sides)).flatten();
    let or = connections.map_or(String::new(), |n| format!(", or {n}"));
    let set = (!all.is_empty()).then(|| format!("Set {}{or}", all.join(", and ")));
    let bound = one.needs?.connections;
    let bound = bound.map(|n| format!("TCP's window ends at 1 GiB: {}", several(n)));
    let parts: Vec<String> = [set, bound, beyond].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(". "))
}

/// "use 4 connections": as many as fill the path with the buffers of today, for a flow that has it alone.
fn connections(context: &Context, one: &One, sides: &[Side]) -> Option<String> {
    let needed = |side: &Side| {
        let least = side.needs.map_or(0, |needs| needs.least);
        least.div_ceil(side.buffer.allows().max(1))
    };
    let count = sides.iter().map(needed).max()?;
    let is_alone = one.needs?.sharing == 1;

    // A mount opens connections to its server by itself, up to a bound.
    let is_mount = context.meta.is_of_mount(one.index);
    let most = if is_mount { MOST_NCONNECT } else { MOST_CONNECTIONS };
    let words = match is_mount {
        true => format!("mount with nconnect={count}"),
        false => format!("use {count} connections"),
    };
    (is_alone && (2..=most).contains(&count)).then_some(words)
}

/// Most connections that a first line proposes in place of larger buffers: few programs open more.
const MOST_CONNECTIONS: u64 = 64;
/// Most connections of a mount (`nconnect`, Linux 5.3 `NFS_MAX_CONNECTIONS`).
pub const MOST_NCONNECT: u64 = 16;

/// Connections for a path that needs more than TCP's largest window, in words.
fn several(connections: u64) -> String {
    format!("{connections} connections fill this path, one does not")
}

/// A buffer that grows still, on a path that loses packets: the loss ends that soon.
pub fn with_loss(one: &One, finding: Finding) -> Finding {
    match then_the_loss(one, "").filter(|_| finding.grows) {
        Some(loss) => finding.cure(loss),
        None => finding,
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
        format!("The queue of {} ({}) is short: also {}", stage.name, bytes(queue), context.paced())
    })
}

/// The largest window that the receiver advertised, bytes.
pub fn window(context: &Context, one: &One) -> Option<u64> {
    let samples = &context.traces.flows[one.index].samples;
    samples.iter().map(|sample| sample.snd_wnd).max().filter(|window| *window > 0)
}
