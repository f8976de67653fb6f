//! Packets are lost by chance, not by a full queue.

use super::buffer::MOST_NCONNECT;
use super::cut::dropped;
use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::percent;

/// The rule.
pub const RULE: Rule =
    Rule { name: "random-loss", code: "loss", when: When::Cut(&["loss", "gilbert-elliott"]), find };

/// Congestion control that does not take loss for congestion.
const MODEL_BASED: &str = "bbr";
/// Share below which a text writes a loss as one of so many packets.
const RARE: f64 = 1e-3;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let came = stage.entered.saturating_add(stage.dropped).max(1);
    let lost = share_of(stage.dropped, came);
    let finding = plain.because(format!("{lost} lost by chance, not by a full queue"));

    // A mount has parallel flows by an option, up to the most that Linux gives it. A read needs a larger read-ahead for them.
    let mount = context.meta.mount_of(one.index);
    let has = mount.map(|at| context.meta.connections(at, context.meta.flows.len()).len() as u64);
    let parallel = match has {
        None => "use parallel flows, or".to_string(),
        Some(count) if count < MOST_NCONNECT && !Mount::of(context, cause).reads => {
            format!("mount with nconnect={MOST_NCONNECT}, or use")
        }
        Some(_) => "use".to_string(),
    };

    // A flow with bbr has no better congestion control to take.
    Some(match one.meta.congestion == MODEL_BASED {
        true => finding
            .cure(format!(
                "Repair that link, or use parallel flows: {MODEL_BASED} runs already; socket buffers do not help"
            ))
            .setting(setting("loss", &stage.name, AskedBy::Path)),
        false => finding
            .cure(format!(
                "Repair that link, {parallel} a congestion control that does not take \
                 loss for congestion (net.ipv4.tcp_congestion_control = {MODEL_BASED}); socket buffers do not help"
            ))
            .setting(setting("net.ipv4.tcp_congestion_control", host, AskedBy::Sysctl)),
    })
}

/// "0.1 % of the packets are", or of rare ones "1 of 95,000 packets is".
fn share_of(lost: u64, came: u64) -> String {
    let share = lost as f64 / came as f64;
    match share >= RARE {
        true => format!("{} of the packets are", percent(share)),
        false => format!("1 of {} packets is", numbers::count(came / lost.max(1))),
    }
}
