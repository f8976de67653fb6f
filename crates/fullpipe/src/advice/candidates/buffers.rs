//! Socket buffers: what a program asks for, and what the kernel tunes to.

use super::super::Case;
use super::super::case::Sent;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use crate::analysis::settings::{Buffer, Memory};
use crate::analysis::words::bytes;

/// One of the two buffers of sockets.
struct Side {
    /// 0 of the sending host, 1 of the receiving one.
    end: usize,
    scope: Scope,
    /// Key of a flow by which a program asks.
    key: &'static str,
    option: &'static str,
    tuned: &'static str,
    buffer: fn(&Sent) -> &Buffer,
    needs: fn(&Sent) -> Option<Memory>,
}

const SIDES: [Side; 2] = [
    Side {
        end: 0,
        scope: Scope::Sender,
        key: "sndbuf",
        option: "SO_SNDBUF",
        tuned: "net.ipv4.tcp_wmem",
        buffer: |flow| &flow.settings.send,
        needs: |flow| flow.needs.map(|needs| needs.send),
    },
    Side {
        end: 1,
        scope: Scope::Receiver,
        key: "rcvbuf",
        option: "SO_RCVBUF",
        tuned: "net.ipv4.tcp_rmem",
        buffer: |flow| &flow.settings.receive,
        needs: |flow| flow.needs.map(|needs| needs.receive),
    },
];

/// Programs that ask for too little ask for none, and the kernel may tune to what the path needs.
pub fn changes(case: &Case) -> Vec<Change> {
    let mut changes = Vec::new();
    for side in &SIDES {
        changes.extend(case.flows.iter().filter_map(|flow| side.ask_for_none(flow)));
    }
    for side in &SIDES {
        for (host, own) in case.hosts(side.end) {
            let sysctl = &own.config.sysctl;
            let today = if side.end == 0 { sysctl.tcp_wmem } else { sysctl.tcp_rmem };
            changes.extend(side.tune(case, host, today));
        }
    }
    changes
}

impl Side {
    fn ask_for_none(&self, flow: &Sent) -> Option<Change> {
        let buffer = (self.buffer)(flow);
        let asked = buffer.asked?;
        let needs = (self.needs)(flow)?;
        if buffer.allows() >= needs.least {
            return None;
        }
        Some(Change {
            setting: self.option.into(),
            whose: flow.name.clone(),
            scope: Scope::Application,
            rank: Rank::Size,
            today: bytes(asked),
            advised: "not set".into(),
            why: format!(
                "the program asks for {}, which stops autotuning; the path needs {}",
                bytes(asked),
                bytes(needs.advised)
            ),
            how: How::SocketOption { name: self.option.into(), value: None },
            edits: vec![Edit::flow(&flow.name, &[self.key], None)],
        })
    }

    /// The host's maximum for the flow that needs the most of it.
    fn tune(&self, case: &Case, host: &str, today: [u64; 3]) -> Option<Change> {
        let flows = case.flows.iter().filter(|flow| flow.hosts[self.end] == host);
        let needs = flows.filter_map(|flow| (self.needs)(flow)).max_by_key(|needs| needs.least)?;
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
        Change {
            setting: self.tuned.into(),
            whose: host.into(),
            scope: self.scope,
            rank: Rank::Size,
            today: bytes(old),
            advised: bytes(most),
            why: format!("the path needs more than {} a socket; {grows}", bytes(old)),
            how: How::Sysctl { name: self.tuned.into(), value: value.clone() },
            edits: vec![Edit::host(host, &["sysctl", self.tuned], Some(value.into()))],
        }
    }
}

/// A change of a buffer's maximum with another maximum; none of other changes.
pub fn scaled(case: &Case, change: &Change, factor: f64) -> Option<Change> {
    let side = SIDES.iter().find(|side| side.tuned == change.setting)?;
    let hosts = case.hosts(side.end);
    let (_, own) = hosts.into_iter().find(|(name, _)| *name == change.whose)?;
    let sysctl = &own.config.sysctl;
    let today = if side.end == 0 { sysctl.tcp_wmem } else { sysctl.tcp_rmem };
    let most = most(change)? as f64 * factor;
    Some(side.maximum(&change.whose, today, most as u64))
}

/// The maximum that a change of a buffer sets, bytes.
pub fn most(change: &Change) -> Option<u64> {
    let How::Sysctl { value, .. } = &change.how else { return None };
    SIDES.iter().find(|side| side.tuned == change.setting)?;
    value.split(' ').next_back()?.parse().ok()
}

/// The least size by arithmetic of the buffer that a change raises, bytes.
pub fn least(case: &Case, change: &Change) -> Option<u64> {
    let side = SIDES.iter().find(|side| side.tuned == change.setting)?;
    let flows = case.flows.iter().filter(|flow| flow.hosts[side.end] == change.whose);
    flows.filter_map(|flow| (side.needs)(flow)).map(|needs| needs.least).max()
}
