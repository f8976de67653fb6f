//! cwnd stays small in slow start although nothing cut it.

use super::context::FULL;
use super::{Cause, Context, Finding, Rule, When};
use crate::numbers;

/// The rule.
pub const RULE: Rule =
    Rule { name: "cwnd-stays", code: "ss_short", when: When::Held(&["cwnd_slow_start"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let (plateau, allowed) = (context.subject.plateau()?, context.subject.allowed_mbit()?);
    let cwnd = numbers::packets(one.flow.medians?.cwnd.into());
    let host = &one.meta.hosts[0];
    let who = Finding::new(format!("cwnd of {host}"), Some(host.clone()));
    let why = format!("it stays at {cwnd} in slow start, and nothing cut it");
    (plateau < FULL * allowed).then(|| who.because(why))
}
