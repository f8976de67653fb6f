//! Repetitions of a run: other seeds, and what a seed shifts.
//!
//! A drop-tail path with bulk flows draws no random number, so its repetitions would be one run. Where flows start at
//! one moment on paths of one length, phase decides which flow finds the queue full (Floyd, Jacobson: On Traffic Phase
//! Effects in Packet-Switched Gateways, 1991). So a repetition may shift the flows' starts and the paths' lengths, each
//! by a random amount that follows from the run's seed. Hosts may take a random time for each packet.

use super::resolved::Resolved;
use super::written;
use super::{App, Element, Flow, Jitter};
use fullpipe_base::units::Time;
use fullpipe_sim::config::Distribution;
use fullpipe_sim::rng::Rng;
use std::collections::BTreeMap;

/// Repetition of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Runs of each point, with consecutive seeds from the scenario's on.
    pub seeds: u32,
    /// The most by which a flow starts later.
    pub start_jitter: Time,
    /// The most by which each delay of the path is longer.
    pub delay_jitter: Time,
    /// The most by which a host takes longer to send a packet.
    pub host_jitter: Time,
}

impl Default for Repeat {
    fn default() -> Repeat {
        let (start_jitter, delay_jitter, host_jitter) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Repeat { seeds: 1, start_jitter, delay_jitter, host_jitter }
    }
}

impl Repeat {
    /// Repetition as written; without the key each point is one run, and nothing is shifted.
    pub(super) fn of(written: Option<&written::Repeat>) -> Repeat {
        let Some(written) = written else { return Repeat::default() };
        let time = |at: Option<Time>| at.unwrap_or(Time::ZERO);
        Repeat {
            seeds: written.seeds.as_ref().map_or(1, |at| at.value.0 as u32),
            start_jitter: time(written.start_jitter.as_ref().map(|at| Time::ns(at.value.0))),
            delay_jitter: time(written.delay_jitter.as_ref().map(|at| Time::ns(at.value.0))),
            host_jitter: time(written.host_jitter.as_ref().map(|at| Time::ns(at.value.0))),
        }
    }

    /// Shifts the run by its seed.
    pub fn shift(&self, run: &mut Resolved) {
        let seed = run.seed;
        // A mount's program begins when it is said to.
        let starts =
            run.flow.iter_mut().filter(|flow| flow.reply_to.is_none() && flow.app != App::Nfs);
        starts.for_each(|flow: &mut Flow| {
            flow.start += part(self.start_jitter, seed, "start", &flow.name)
        });
        // An answer begins with the flow that it answers.
        let begun: BTreeMap<String, Time> =
            run.flow.iter().map(|flow| (flow.name.clone(), flow.start)).collect();
        for flow in &mut run.flow {
            let asks = flow.reply_to.as_ref().and_then(|name| begun.get(name));
            flow.start = asks.copied().unwrap_or(flow.start);
        }

        // Each delay draws by its own name, so ways shift independently.
        let ways = run.path.forward.iter_mut().chain(&mut run.path.back);
        let delays = ways.filter_map(|element| match element {
            Element::Delay(delay) => Some(delay),
            _ => None,
        });
        delays.for_each(|delay| delay.delay += part(self.delay_jitter, seed, "delay", &delay.name));

        // Without host jitter no element is added, and the run stays the same.
        if self.host_jitter > Time::ZERO {
            let path = &mut run.path;
            let taken: Vec<&str> =
                path.forward.iter().chain(&path.back).map(Element::name).collect();
            let sender = hesitation("sender_jitter", self.host_jitter, &taken);
            let receiver = hesitation("receiver_jitter", self.host_jitter, &taken);
            path.forward.insert(0, sender);
            path.back.insert(0, receiver);
        }
    }
}

/// From no time to `most` for each packet, uniformly, in the packets' order.
fn hesitation(name: &str, most: Time, taken: &[&str]) -> Element {
    // A scenario may have taken the name.
    let mut name = name.to_string();
    while taken.contains(&name.as_str()) {
        name.push('_');
    }

    // Half as delay and half as jitter: from 0 to `most`.
    let half = Time::ns(most.as_ns() / 2);
    let (correlation, distribution, keep_order) = (0.0, Distribution::Uniform, true);
    Element::Jitter(Jitter {
        name,
        delay: half,
        jitter: half,
        correlation,
        distribution,
        keep_order,
    })
}

/// A random part of `most` that follows from the seed and a name, in whole nanoseconds.
fn part(most: Time, seed: u64, what: &str, name: &str) -> Time {
    if most == Time::ZERO {
        return Time::ZERO;
    }
    let share = Rng::new(seed, &format!("repeat {what} {name}")).unit();
    Time::ns((most.as_ns() as f64 * share) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, load};

    fn run(repeat: &str) -> Resolved {
        let text = format!(
            r#"
            title = "jitter"
            seed = 7
            path = {{ rate = "10Mbit", delay = {{ forward = "1ms", back = "1ms" }} }}
            hosts = {{ sender = {{ kernel = "6.12" }}, receiver = {{ kernel = "6.12" }} }}
            flow = [{{ name = "bulk", duration = "1s" }}]
            repeat = {{ {repeat} }}
        "#
        );
        load(&Source::text("jitter", &text), &[], &[]).expect("a scenario").plans.remove(0).resolved
    }

    #[test]
    fn hosts_hesitate_for_half_of_it_in_the_mean() {
        let plain = run("seeds = 2");
        let shifted = run("seeds = 2, host_jitter = \"10us\"");
        for (way, plain, name) in [
            (&shifted.path.forward, &plain.path.forward, "sender_jitter"),
            (&shifted.path.back, &plain.path.back, "receiver_jitter"),
        ] {
            assert_eq!(&way[1..], &plain[..]);
            let Element::Jitter(jitter) = &way[0] else { panic!("{way:?}") };
            assert_eq!(jitter.name, name);
            assert_eq!((jitter.delay, jitter.jitter), (Time::ns(5000), Time::ns(5000)));
            assert!(jitter.keep_order);
        }
    }

    #[test]
    fn starts_and_delays_are_shifted_by_less_than_that() {
        let plain = run("seeds = 2");
        let shifted = run("seeds = 2, start_jitter = \"10ms\", delay_jitter = \"1ms\"");
        let later = shifted.flow[0].start.saturating_sub(plain.flow[0].start);
        assert!(later > Time::ZERO && later <= Time::ms(10), "{later:?}");
        assert_ne!(shifted.path.forward, plain.path.forward);
    }
}
