//! A host does not offer window scaling, so the window ends at 64 KiB.

use super::buffer::Side;
use super::{Cause, Context, Finding, One, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::window;

/// The rule.
pub const RULE: Rule = Rule {
    name: "without-scaling",
    code: "wscale_off",
    when: When::Held(&["receive_window"]),
    find,
};

/// Window that ends without the window scale option: its field has 16 bits (RFC 7323, section 2.1), so that it is a byte less; bytes.
const UNSCALED: u64 = 1 << 16;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    // Windows' autotuning level is the cause there.
    let host = one.meta.settings.without_scaling.iter().find(|host| !is_windows(one, host))?;
    let side = Side::receive(one);

    // A buffer of 64 KiB or less ends the window itself, with scaling or without.
    if side.buffer.allows() <= UNSCALED {
        return None;
    }
    Some(
        side.window(cause)
            .because(format!(
                "{host} does not offer window scaling (net.ipv4.tcp_window_scaling 0), so the \
                window ends at {}",
                window(UNSCALED)
            ))
            .cure(format!(
                "Switch net.ipv4.tcp_window_scaling on at {host}, or look for a middlebox that \
                strips it: larger buffers do not help"
            ))
            .setting(valued(
                "net.ipv4.tcp_window_scaling",
                host,
                "0".into(),
                Some("1".into()),
                AskedBy::Peer,
            )),
    )
}

/// Whether the named host of a flow runs Windows.
fn is_windows(one: &One, host: &str) -> bool {
    let mut ends = one.meta.hosts.iter().zip(one.meta.settings.systems);
    ends.any(|(end, system)| end == host && system.is_windows())
}
