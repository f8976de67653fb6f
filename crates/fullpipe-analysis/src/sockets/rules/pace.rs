//! A pace that the program or the qdisc sets.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::document::AskedBy;
use crate::numbers::rate;
use crate::rules::valued;

pub const RULE: Rule = Rule { name: "pace", needs: &[], find };

/// Part of the pace from which on a rate is that pace: headers and the gaps between skbs take some of it.
const NEAR: f64 = 0.85;

fn find(facts: &Facts) -> Option<Verdict> {
    let reached = facts.peak_mbit.max(facts.last_mbit);
    let socket = facts.max_pace_mbit.map(|mbit| (mbit, "SO_MAX_PACING_RATE", AskedBy::Program));
    let qdisc = facts.own.maxrate_mbit.map(|mbit| (mbit, "fq maxrate", AskedBy::Device));
    let asked = facts.pasted.asked.as_ref();
    let program = asked.map(|(mbit, name)| (*mbit, name.as_str(), AskedBy::Program));
    let paces = socket.into_iter().chain(qdisc).chain(program);
    let (mbit, name, by) = paces.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (reached >= NEAR * mbit).then(|| {
        Verdict::new("pacing", name, 1.0 - facts.main.idle, 0.95)
            .because(format!("{name} allows {}, the flow gets {}", rate(mbit), rate(reached)))
            .remedy(format!("Raise {name} of {}, or set none", facts.host))
            .setting(valued(name, &facts.host, rate(mbit), None, by))
    })
}
