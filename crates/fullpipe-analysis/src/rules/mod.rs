//! Rules: each looks for one cause, and its [`Finding`] says where the cause is, why, and what to do.
//!
//! [`causes`] ranks what stops the flows. [`find`] asks the rules in the order of [`RULES`]; the first that fires makes
//! the finding. An [`Amendment`] then adds the effect of another fact. A new rule is a file here and its lines in this
//! one. Files without `RULE` are shared by rules; [`lost_datagrams`] makes findings for headlines that are about
//! datagrams.

mod ack_path;
mod application;
mod aqm;
mod backlog;
mod black_hole;
mod buffer;
pub(crate) mod busy_cpu;
mod busy_receiver;
mod call_timeouts;
mod calls;
mod cause;
mod connecting;
mod context;
mod cut;
mod cwnd_stays;
mod delay_limit;
mod delayed_ack;
mod dialogue;
pub(crate) mod few_round_trips;
mod finding;
mod full_path;
mod full_qdisc;
mod full_receive_buffer;
mod growing_window;
mod initial_ssthresh;
mod known;
mod late_mtu;
mod link;
mod listed_loss;
mod lost_acks;
mod lost_datagrams;
mod mount;
mod nagle;
mod nic;
mod own_qdisc;
mod own_window;
mod pacing;
mod policer;
mod program_window;
mod random_loss;
mod read_ahead;
mod receive_window;
mod record_gate;
mod recovery;
mod remembered_ssthresh;
mod reordering;
mod round_trips;
mod rpc_slots;
mod rx_ring;
mod send_buffer;
pub(crate) mod server_threads;
pub(crate) mod server_work;
mod short_queue;
mod slow_growth;
mod slow_reader;
mod slow_start;
mod slow_window;
mod small_packets;
mod small_queues;
mod small_reads;
pub(crate) mod stuck_window;
mod subject;
mod tcp_mem;
mod tx_ring;
mod without_sack;
mod without_scaling;
mod write_back;

pub use black_hole::SWALLOWED;
pub use cause::{Cause, PROGRAM, causes, is_quiet, wanting};
pub use context::{Context, FULL};
pub use finding::{Finding, setting, valued};
pub use known::{CAUSES, HEALTHY, Known, by_code, group, twins, would_decide};
pub use link::{LINK, outage, varies};
pub use lost_datagrams::{DROPS, late_datagrams, lost_datagrams};
pub use server_work::NOTHING;
pub use subject::{One, Subject, named};

use fullpipe_base::limits;

/// A rule: a name, a code, and the function that finds it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Stable name.
    pub name: &'static str,
    /// Code of the cause that it finds, unless the finding says another one.
    pub code: &'static str,
    /// Causes that it is asked about.
    pub when: When,
    /// The finding; none where the rule does not fire.
    pub find: fn(&Context, &Cause) -> Option<Finding>,
}

/// Causes that a rule is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The flow is held by one of these limits.
    Held(&'static [&'static str]),
    /// Drops or marks at a stage of one of these kinds cut cwnd.
    Cut(&'static [&'static str]),
    /// Drops or marks at any stage cut cwnd.
    CutAnywhere,
    /// Any cause.
    Always,
}

/// Change of a finding by another fact.
pub type Amendment = fn(&Context, &Cause, Finding) -> Finding;

/// All rules. Special rules about a cause are in front of general ones.
pub const RULES: &[Rule] = &[
    call_timeouts::RULE,
    server_threads::RULE,
    few_round_trips::RULE,
    small_packets::RULE,
    link::RULE,
    lost_acks::RULE,
    ack_path::RULE,
    tcp_mem::RULE,
    send_buffer::RULE,
    without_scaling::RULE,
    small_reads::RULE,
    slow_reader::RULE,
    own_window::RULE,
    stuck_window::RULE,
    slow_window::RULE,
    growing_window::RULE,
    receive_window::RULE,
    cwnd_stays::RULE,
    slow_start::RULE,
    remembered_ssthresh::RULE,
    initial_ssthresh::RULE,
    slow_growth::RULE,
    recovery::RULE,
    delayed_ack::RULE,
    round_trips::RULE,
    server_work::RULE,
    program_window::RULE,
    application::RULE,
    busy_cpu::RULE,
    full_qdisc::RULE,
    nagle::RULE,
    pacing::RULE,
    small_queues::RULE,
    nic::RULE,
    tx_ring::RULE,
    connecting::RULE,
    rpc_slots::RULE,
    read_ahead::RULE,
    write_back::RULE,
    record_gate::RULE,
    late_mtu::RULE,
    black_hole::RULE,
    policer::RULE,
    random_loss::RULE,
    listed_loss::RULE,
    delay_limit::RULE,
    reordering::RULE,
    rx_ring::RULE,
    backlog::RULE,
    own_qdisc::RULE,
    tcp_mem::DROPS,
    full_receive_buffer::RULE,
    aqm::RULE,
    short_queue::RULE,
];

/// All amendments, in the order in which they are made.
pub const AMENDMENTS: &[Amendment] = &[
    without_sack::AMENDMENT,
    busy_receiver::AMENDMENT,
    small_packets::AMENDMENT,
    full_path::AMENDMENT,
];

impl When {
    /// Whether a rule is asked about the cause.
    fn is_about(self, context: &Context, cause: &Cause) -> bool {
        let kind = || Some(&context.stage(cause.place.as_deref()?)?.kind[..]);
        match self {
            When::Held(limits) => !cause.is_cut && limits.contains(&&cause.limit[..]),
            When::Cut(kinds) => cause.is_cut && kind().is_some_and(|kind| kinds.contains(&kind)),
            When::CutAnywhere => cause.is_cut,
            When::Always => true,
        }
    }
}

/// Names of the rules with `code` as their own code.
pub fn names_of(code: &str) -> Vec<&'static str> {
    RULES.iter().filter(|rule| rule.code == code).map(|rule| rule.name).collect()
}

/// The cause with a code, or the cause of the rule with a name; none where neither is known.
pub fn by_name(name: &str) -> Option<&'static Known> {
    let code = RULES.iter().find(|rule| rule.name == name).map_or(name, |rule| rule.code);
    by_code(code)
}

/// Finding of the first rule that fires for a cause, with its amendments.
pub fn find(context: &Context, cause: &Cause) -> Finding {
    let mut asked = RULES.iter().filter(|rule| rule.when.is_about(context, cause));
    let found = asked.find_map(|rule| Some((rule.find)(context, cause)?.by(rule.name, rule.code)));
    let finding = found.unwrap_or_else(|| unexplained(cause));
    AMENDMENTS.iter().fold(finding, |finding, amend| amend(context, cause, finding))
}

/// A cause that no rule knows, in the words of the table of limits.
fn unexplained(cause: &Cause) -> Finding {
    let place = cause.place.clone().unwrap_or_default();
    match limits::named(&cause.limit) {
        _ if cause.is_cut => Finding::new(format!("cwnd, cut at {place},"), Some(place)),
        Some(own) => {
            Finding::new(format!("\"{}\"", own.label), cause.place.clone()).because(own.meaning)
        }
        None => Finding::new(format!("\"{}\"", cause.limit), cause.place.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::limits::by_index;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        for rule in RULES {
            assert!(known::by_code(rule.code).is_some(), "{}", rule.name);
        }
    }

    #[test]
    fn each_limit_of_a_flow_that_has_data_to_send_has_a_rule() {
        let about = |name: &str| {
            RULES.iter().any(|rule| matches!(rule.when, When::Held(all) if all.contains(&name)))
        };
        // The rule on threads is asked about each cause, and looks for its limit itself.
        let is_always = |name: &str| name == server_threads::THREADS;
        for own in by_index().filter(|own| !is_quiet(own.name)) {
            assert!(about(own.name) || is_always(own.name), "{}", own.name);
        }
    }

    /// A limit that this version does not know, from results of a later version.
    #[test]
    fn a_cause_without_a_rule_is_named_all_the_same() {
        let cause = |limit: &str, is_cut| {
            let place = Some("there".to_string());
            unexplained(&Cause { limit: limit.into(), place, is_cut, share: 1.0 })
        };
        let known = cause("nagle", false);
        assert_eq!(known.who, "\"Nagle\"");
        assert_eq!(known.because.as_deref(), Some("Nagle's rule held back a partial segment"));
        assert_eq!(cause("later", false).who, "\"later\"");
        assert_eq!(cause("cwnd_recovery", true).who, "cwnd, cut at there,");
    }

    #[test]
    fn rules_are_asked_about_limits_that_exist() {
        for rule in RULES {
            assert!(
                !matches!(rule.when, When::Held(all) if !all.iter().all(|name| by_index().any(|own| own.name == *name))),
                "{}",
                rule.name
            );
        }
    }
}
