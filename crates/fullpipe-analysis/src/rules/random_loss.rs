//! Packets are lost by chance, not by a full queue.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::percent;

/// The rule.
pub const RULE: Rule =
    Rule { name: "random-loss", code: "loss", when: When::Cut(&["loss", "gilbert-elliott"]), find };

/// Share below which a text writes a loss as one of so many packets.
const RARE: f64 = 1e-3;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let host = &context.most(cause).meta.hosts[0];
    let came = stage.entered.saturating_add(stage.dropped).max(1);
    let lost = share_of(stage.dropped, came);
    Some(plain
        .because(format!("{lost} lost by chance, not by a full queue"))
        .cure(
            "Repair that link, use parallel flows, or a congestion control that does not take \
            loss for congestion (net.ipv4.tcp_congestion_control = bbr); socket buffers do not help",
        )
        .setting(setting("net.ipv4.tcp_congestion_control", host, AskedBy::Sysctl)))
}

/// "0.1 % of the packets are", or of rare ones "1 of 95,000 packets is".
fn share_of(lost: u64, came: u64) -> String {
    let share = lost as f64 / came as f64;
    match share >= RARE {
        true => format!("{} of the packets are", percent(share)),
        false => format!("1 of {} packets is", numbers::count(came / lost.max(1))),
    }
}
