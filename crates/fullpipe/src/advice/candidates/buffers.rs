//! Socket buffers: requests of programs, and the kernel's tuning.

use super::super::Case;
use super::super::case::Sent;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::hosts::At;
use super::other_systems;
use crate::analysis::TUNING_RCVBUF;
use crate::analysis::document::Headline;
use crate::analysis::settings::{Buffer, Memory};
use crate::analysis::words::bytes;
use crate::scenario::Host;
use crate::scenario::config::{Sysctl, System};
use crate::sizing::sizes::{UNEVEN, with_headroom};

/// A buffer of sockets: the send buffer or the receive buffer.
pub struct Side {
    /// 0 of the sending host, 1 of the receiving one.
    pub end: usize,
    scope: Scope,
    /// Key of a flow by which a program asks.
    key: &'static str,
    /// Option of sockets by which a program asks.
    pub option: &'static str,
    /// Sysctl that bounds the kernel's tuning.
    pub tuned: &'static str,
    buffer: fn(&Sent) -> &Buffer,
    /// Least, usual and largest size of the sysctl, bytes.
    pub sizes: fn(&Sysctl) -> [u64; 3],
    needs: fn(&Sent) -> Option<Memory>,
}

/// Both buffers, that of the sending host first.
pub const SIDES: [Side; 2] = [
    Side {
        end: 0,
        scope: Scope::Sender,
        key: "sndbuf",
        option: "SO_SNDBUF",
        tuned: "net.ipv4.tcp_wmem",
        buffer: |flow| &flow.settings.send,
        sizes: |sysctl| sysctl.tcp_wmem,
        needs: |flow| flow.needs.map(|needs| needs.send),
    },
    Side {
        end: 1,
        scope: Scope::Receiver,
        key: "rcvbuf",
        option: "SO_RCVBUF",
        tuned: "net.ipv4.tcp_rmem",
        buffer: |flow| &flow.settings.receive,
        sizes: |sysctl| sysctl.tcp_rmem,
        needs: |flow| flow.needs.map(|needs| needs.receive),
    },
];

/// Factors on the memory that the buffers take, the largest first.
const MEMORY: [u64; 3] = [4, 2, 1];

/// Programs that ask for too little ask for none, and the kernel may tune to the path's need.
pub fn changes(case: &Case) -> Vec<Change> {
    let mut changes = Vec::new();

    // A request stops autotuning, so it goes before the sysctls.
    for side in &SIDES {
        changes.extend(case.flows.iter().filter_map(|flow| side.ask_for_none(flow)));
    }

    // Each end has one setting a host, however many flows it has.
    for side in &SIDES {
        for (host, own) in case.hosts(side.end) {
            changes.extend(match side.is_of_linux(own) {
                true => side.tune(case, host, (side.sizes)(&own.config.sysctl)),
                false => other_systems::window(side.end, host, own, largest(side, case, host)),
            });
        }
    }
    changes
}

/// Larger buffers of one end (0: send, 1: receive) than arithmetic asks for, where a run shows that they hold the flow.
pub fn beyond(case: &Case, end: usize, factor: f64) -> Vec<Change> {
    let side = &SIDES[end];

    // Programs that ask for a size come first: a sysctl does nothing for them.
    let free = case.flows.iter().filter_map(|flow| side.unasked(flow));
    let all: Vec<Change> = free.collect();
    match all.is_empty() {
        true => case
            .hosts(side.end)
            .into_iter()
            .filter_map(|(host, own)| {
                if !side.is_of_linux(own) {
                    return None;
                }
                let today = (side.sizes)(&own.config.sysctl);
                let needs = largest(side, case, host)?;
                let most = needs.advised.max((today[2] as f64 * factor) as u64);

                // A maximum below the arithmetic's need is raised by `changes`.
                (needs.least <= today[2]).then(|| side.maximum(host, today, most))
            })
            .collect(),
        false => all,
    }
}

impl Side {
    /// Whether memory, and so a sysctl, bounds this buffer.
    fn is_of_linux(&self, host: &Host) -> bool {
        match host.config.system {
            System::Linux => true,
            System::FixedWindow(_) => self.end == 0,
            System::Windows(_) => false,
        }
    }

    fn ask_for_none(&self, flow: &Sent) -> Option<Change> {
        let buffer = (self.buffer)(flow);
        let needs = (self.needs)(flow)?;
        self.unasked(flow).filter(|_| buffer.allows() < needs.least)
    }

    /// The buffer that the program asks for, left to the kernel.
    fn unasked(&self, flow: &Sent) -> Option<Change> {
        let asked = (self.buffer)(flow).asked?;

        // A flow outside the planner's bounds has no size to compare with.
        let needs = (self.needs)(flow)?;
        let how = How::SocketOption { name: self.option.into(), value: None };
        let change = Change::new(self.option, &flow.name, Scope::Application, how)
            .rank(Rank::Size)
            .values(bytes(asked), "not set")
            .why(format!(
                "the program asks for {}, which stops autotuning; the path needs {}",
                bytes(asked),
                bytes(needs.advised)
            ))
            .edits([Edit::flow(&flow.name, &[self.key], None)]);
        Some(change)
    }

    /// The host's maximum for the flow that needs the most of it.
    fn tune(&self, case: &Case, host: &str, today: [u64; 3]) -> Option<Change> {
        let needs = largest(self, case, host)?;
        (needs.least > today[2]).then(|| self.maximum(host, today, needs.advised))
    }

    fn maximum(&self, host: &str, today: [u64; 3], most: u64) -> Change {
        let [least, usual, old] = today;
        // The first two stay as they are, unless the maximum is less.
        let value = format!("{} {} {most}", least.min(most), usual.min(most));
        let grows = match self.end {
            0 => "a writer keeps two thirds of the send buffer in flight",
            _ => "the window is a part of the receive buffer",
        };
        let why = format!("the path needs more than {} a socket; {grows}", bytes(old));
        sized(self, host, value, [old, most], why)
    }
}

/// The sysctl of one side with another value; of its largest size today's and the advised one.
fn sized(side: &Side, host: &str, value: String, most: [u64; 2], why: String) -> Change {
    let at = At { host, scope: side.scope };
    let [today, advised] = most.map(bytes);
    let key = Some(value.clone().into());
    at.sysctl(side.tuned, &value, key).rank(Rank::Size).values(today, advised).why(why)
}

/// A receive buffer that holds no more than the flow's part of the path, where it holds more today.
pub fn caps(case: &Case) -> Vec<Change> {
    capped(&SIDES[1], case, "a window that is no larger than the path cannot overflow its queue")
}

/// A send buffer that holds no more than the flow's part of the path, where it holds more today.
pub fn send_caps(case: &Case) -> Vec<Change> {
    capped(
        &SIDES[0],
        case,
        "a flow sends no more than its send buffer holds, so others get their part",
    )
}

/// Tuned buffers of one side that hold no more than the flow's part of the path.
fn capped(side: &Side, case: &Case, why: &str) -> Vec<Change> {
    case.hosts(side.end)
        .into_iter()
        .filter_map(|(host, own)| {
            let [least, usual, today] = (side.sizes)(&own.config.sysctl);
            let most = largest(side, case, host)?.least.max(usual);
            let value = format!("{least} {usual} {most}");
            (side.is_of_linux(own) && most < today)
                .then(|| sized(side, host, value, [today, most], why.into()))
        })
        .collect()
}

/// A receive buffer that begins with enough for autotuning, and has a maximum that fills the path.
pub fn first(case: &Case) -> Vec<Change> {
    let side = &SIDES[1];
    case.hosts(side.end).into_iter().filter_map(|(host, own)| {
        let [least, usual, today] = (side.sizes)(&own.config.sysctl);

        // The default suffices already.
        if usual >= TUNING_RCVBUF {
            return None;
        }
        let needs = largest(side, case, host).map_or(0, |needs| needs.advised);

        // The maximum stays at least as large as the default.
        let value = format!("{least} {TUNING_RCVBUF} {}", today.max(needs).max(TUNING_RCVBUF));
        let at = At { host, scope: side.scope };
        let key = Some(value.clone().into());
        let why = "autotuning waits for more than the first window lets in; half of a larger default is a larger first window";
        Some(at.sysctl(side.tuned, &value, key).values(bytes(usual), bytes(TUNING_RCVBUF)).why(why))
    }).collect()
}

/// Memory for the flow of a host that needs the most.
fn largest(side: &Side, case: &Case, host: &str) -> Option<Memory> {
    (side.needs)(neediest(side, case, host)?)
}

/// The flow of a host that needs the most memory.
fn neediest<'a>(side: &Side, case: &'a Case, host: &str) -> Option<&'a Sent> {
    let flows = case.flows.iter().filter(|flow| flow.hosts[side.end] == host);
    flows.max_by_key(|flow| (side.needs)(flow).map(|needs| needs.least))
}

/// A change of a buffer's maximum with another maximum; none of other changes.
pub fn scaled(case: &Case, change: &Change, factor: f64) -> Option<Change> {
    let (side, today) = raised(case, change)?;
    let most = most(change)? as f64 * factor;
    Some(side.maximum(&change.whose, today, most as u64))
}

/// Changes with buffers for flows of equal rates; none where no flows share the path, or no buffer is raised.
pub fn for_equal_flows(case: &Case, changes: &[Change]) -> Option<Vec<Change>> {
    let shrunk = |change: &Change| {
        let (side, today) = raised(case, change)?;
        let needs = largest(side, case, &change.whose)?;
        let advised = with_headroom(for_equal(needs.least));
        let is_between = advised > today[2] && advised < most(change)?;
        is_between.then(|| side.maximum(&change.whose, today, advised))
    };
    let shares = case.flows.len() > 1;
    let all: Vec<Change> =
        changes.iter().map(|own| shrunk(own).unwrap_or_else(|| own.clone())).collect();
    (shares && all != changes).then_some(all)
}

/// The side of a change of a buffer's maximum, and today's sizes of its host, bytes; none of other changes.
fn raised(case: &Case, change: &Change) -> Option<(&'static Side, [u64; 3])> {
    let side = SIDES.iter().find(|side| side.tuned == change.setting)?;
    let hosts = case.hosts(side.end);
    let (_, own) = hosts.into_iter().find(|(name, _)| *name == change.whose)?;
    Some((side, (side.sizes)(&own.config.sysctl)))
}

/// Least size for a flow that has no more than its part of the path, bytes, by that for flows of unequal rates.
fn for_equal(least: u64) -> u64 {
    (least as f64 / UNEVEN) as u64
}

/// The maximum that a change of a buffer sets, bytes.
pub fn most(change: &Change) -> Option<u64> {
    let How::Sysctl { value, .. } = &change.how else { return None };
    SIDES.iter().find(|side| side.tuned == change.setting)?;
    value.split(' ').next_back()?.parse().ok()
}

/// Least sizes of a buffer by arithmetic, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// For flows of equal rates. Equal buffers make most flows equal.
    pub equal: u64,
    /// For a flow that needs more than its part of the path; as much where a flow has the path alone.
    pub unequal: u64,
}

/// The least sizes of the buffer that a change raises; none of other changes.
pub fn least(case: &Case, change: &Change) -> Option<Least> {
    let side = SIDES.iter().find(|side| side.tuned == change.setting)?;
    let flow = neediest(side, case, &change.whose)?;
    let unequal = (side.needs)(flow)?.least;

    let shares = flow.needs.is_some_and(|needs| needs.sharing > 1);
    let equal = if shares { for_equal(unequal) } else { unequal };
    Some(Least { equal, unequal })
}

/// More memory for all TCP sockets of a host: as much as its buffers take by arithmetic, and more.
pub fn memory(case: &Case, headline: &Headline) -> Vec<Vec<Change>> {
    let Some(setting) = headline.setting.as_ref() else { return Vec::new() };
    let (Some(today), Some(needed)) = (&setting.value, &setting.needed) else { return Vec::new() };
    let end = if case.hosts(0).iter().any(|(name, _)| *name == setting.host) { 0 } else { 1 };
    let at = At { host: &setting.host, scope: [Scope::Sender, Scope::Receiver][end] };
    let why = "the sockets of the host have used up their common memory, so windows and buffers do not grow";

    // Of numbers that give the same, the last and smallest is taken.
    let sizes = MEMORY.iter().filter_map(|factor| times(needed, *factor));
    let change = |size: String| {
        let change = at.sysctl(&setting.name, &size, Some(size.clone().into()));
        vec![change.values(today, size).why(why)]
    };
    sizes.map(change).collect()
}

/// Numbers of a setting, each times a factor; none where one is no number.
fn times(numbers: &str, factor: u64) -> Option<String> {
    let number = |text: &str| Some((text.parse::<u64>().ok()?.saturating_mul(factor)).to_string());
    Some(numbers.split_whitespace().map(number).collect::<Option<Vec<_>>>()?.join(" "))
}
