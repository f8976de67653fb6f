//! Rate that a congestion control's published rule predicts on a path that loses packets at random. The rule moves a
//! window once a round trip, without the simulator.
//!
//! Each round sends its window. Packets between two losses are geometrically distributed; a round with a loss is followed by the
//! rule's decrease, any other by its increase. The mean window over many losses is the rule's answer (for Reno 1.31 / sqrt(p): Mathis,
//! Semke, Mahdavi, Ott 1997; for CUBIC the chain of Poojary, Sharma, arXiv 1510.08496). Random numbers come from a seed of its own, so
//! a path has one answer.

use fullpipe_base::path::{Direction, Unit};
use fullpipe_base::rng::Rng;
use fullpipe_scenario::Version;
use fullpipe_scenario::{Element, Flow, Resolved};
use std::collections::BTreeMap;

/// Rate that a flow should get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Mean rate, Mb/s of payload.
    pub mbit: f64,
    /// Whether the rule's assumptions hold. The flow is alone and loses no ACKs. Its kernel is one that the rules were
    /// compared with. Its window is large enough that losses are repaired without timeouts, and small enough that
    /// neither path nor buffers end it.
    pub holds: bool,
}

/// Least mean window, packets: below it timeouts often repair losses, and the rules do not cover timeouts.
const LEAST_WINDOW: f64 = 10.0;
/// Least mean time between losses under CUBIC, seconds.
///
/// While cwnd stands still Linux looks at its curve 32 times a second at most (`bictcp_update`), and its Reno window
/// rises by one step a look. Where losses are only a few looks apart, the simulator and Linux lie below the rule. A
/// quarter of a second, eight looks, is inferred from the surface of cern-loss-delay.
const CUBIC_EPOCH: f64 = 0.25;
/// The oldest kernel that the rules are compared with. Earlier kernels hold large skbs back (2.6.25 to 3.14) or count
/// ACKs where the rules count packets; their windows are up to a half smaller.
const JUDGED_FROM: Version = Version::new(6, 1, 0);
/// Largest share of the path's packets that the mean window may be: the window swings above its mean.
const LARGEST_SHARE: f64 = 0.5;
/// Losses over which the mean is taken: its relative error is below 2 %.
const LOSSES: u32 = 3000;
/// Losses before that, from a window of one packet.
const BEFORE: u32 = 100;
/// Share of the rounds since a loss that are one step, where that is more than a round.
const STEP: f64 = 0.01;
/// Losses that are rarer end no window: a path is full long before.
const RAREST: f64 = 1e-12;

/// Rate that the flow should get by its rule; none where it has no rule here, or the path loses nothing at random.
pub fn expected(run: &Resolved, flow: &Flow) -> Option<Expected> {
    let (way, back) = match flow.direction {
        Direction::Forward => (&run.path.forward, &run.path.back),
        Direction::Backward => (&run.path.back, &run.path.forward),
    };
    let (loss, rtt) = (losses(way)?, delay(way) + delay(back));

    // Rules divide by the round trip.
    if rtt <= 0.0 {
        return None;
    }
    let mut rule = rule(run, flow, rtt)?;
    let window = mean_window(&mut *rule, loss)?;
    let mss = f64::from(run.mss());

    // The path's capacity in packets: the slowest element, with what it adds.
    let rates = way.iter().filter_map(Element::rate);
    let payload = rates
        .map(|(rate, framing)| rate.0 as f64 * mss / f64::from(run.path.mtu + framing.overhead()));
    let capacity = payload.fold(f64::INFINITY, f64::min) * rtt / 8.0 / mss;

    // The rule assumes a single flow with losses of data alone.
    let alone = run.flow.len() == 1 && run.datagrams.is_empty() && is_lossless(back);

    // With losses so close together CUBIC grows less than its rule says.
    let often = flow.congestion.name == "cubic" && rtt / (loss * window) < CUBIC_EPOCH;
    let large = window >= LEAST_WINDOW && window <= LARGEST_SHARE * capacity;
    let holds = alone && is_judged(run, flow) && large && !often;
    Some(Expected { mbit: window * mss * 8.0 / rtt / 1e6, holds })
}

/// Probability that a way loses a segment by independent losses; none where it has others, or none.
pub(super) fn losses(way: &[Element]) -> Option<f64> {
    let mut kept = 1.0;
    for element in way {
        match element {
            Element::Loss(loss) if loss.unit == Unit::Segment => kept *= 1.0 - loss.probability,
            Element::Link(_) | Element::Delay(_) => {}
            _ => return None,
        }
    }
    Some(1.0 - kept).filter(|loss| *loss > 0.0)
}

/// Whether no element drops packets for which its queues have room.
fn is_lossless(way: &[Element]) -> bool {
    way.iter().all(|element| match element {
        Element::Loss(loss) => loss.probability == 0.0,
        Element::Link(_) | Element::Delay(_) => true,
        _ => false,
    })
}

/// Whether this kernel is known to follow the rule.
fn is_judged(run: &Resolved, flow: &Flow) -> bool {
    let kernel = run.hosts_of(flow)[0].host.config.kernel.parse::<Version>();
    kernel.is_ok_and(|kernel| kernel >= JUDGED_FROM)
}

/// Seconds that a way takes.
fn delay(way: &[Element]) -> f64 {
    let delays = way.iter().map(|element| match element {
        Element::Delay(delay) => delay.delay.as_secs_f64(),
        _ => 0.0,
    });
    delays.sum()
}

/// A rule for the window, round by round.
trait Rule {
    /// The window after so many rounds without a loss, from one of `window` packets.
    fn grow(&mut self, window: f64, rounds: f64) -> f64;
    /// The window after a round with a loss.
    fn cut(&mut self, window: f64) -> f64;
}

/// The flow's rule, with its parameters.
fn rule(run: &Resolved, flow: &Flow, rtt: f64) -> Option<Box<dyn Rule>> {
    let host = run.hosts_of(flow)[0].host;
    let kernel = host.config.kernel.parse::<Version>().ok()?;
    match flow.congestion.name.as_str() {
        "reno" => {
            // Every second segment gets an ACK; a kernel that counts ACKs grows half as fast.
            let step = if kernel.reno_counts_packets() { 1.0 } else { 0.5 };
            Some(Box::new(Reno { step }))
        }
        "cubic" => Some(Box::new(Cubic::new(rtt, Knobs::of(&flow.congestion.parameters)))),
        "scalable" => Some(Box::new(Scalable)),
        _ => None,
    }
}

/// RFC 5681, section 3.1: a packet more each round, half of them after a loss.
struct Reno {
    step: f64,
}

impl Rule for Reno {
    fn grow(&mut self, window: f64, rounds: f64) -> f64 {
        window + self.step * rounds
    }
    fn cut(&mut self, window: f64) -> f64 {
        window / 2.0
    }
}

/// Kelly, Scalable TCP, CCR 33(2), 2003: 0.01 packets for each ACK, an eighth less after a loss. Below 100 packets it grows as Reno
/// does (the legacy window; Linux `tcp_scalable.c`).
struct Scalable;

impl Rule for Scalable {
    fn grow(&mut self, window: f64, rounds: f64) -> f64 {
        let slow = ((100.0 - window).max(0.0)).min(rounds);
        (window + slow) * libm::pow(1.01, rounds - slow)
    }
    fn cut(&mut self, window: f64) -> f64 {
        window * 0.875
    }
}

/// RFC 9438, sections 4.1 to 4.7: a curve of the third degree, and Reno's window where that is larger.
///
/// Reno's window grows as in RFC 8312 and in Linux (`bictcp_update`): its step stays when it has reached the window of
/// the last loss. RFC 9438, 4.3, raises the step to 1 there.
struct Cubic {
    knobs: Knobs,
    rtt: f64,
    /// Where the curve is flat, packets.
    w_max: f64,
    /// Seconds from a loss until there.
    k: f64,
    /// Seconds since the loss.
    age: f64,
    /// Reno's window, packets.
    reno: f64,
}

/// Parameters of CUBIC. RFC 9438 has C = 0.4, beta = 0.7, fast convergence on, and the Reno-friendly region.
#[derive(Clone, Copy)]
struct Knobs {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    friendly: bool,
}

impl Knobs {
    /// From the parameters of `cc/cubic.c`: beta in 1/1024, `bic_scale` in 1/1024 of a packet per 100 ms and s^3.
    fn of(parameters: &BTreeMap<String, i64>) -> Knobs {
        let value = |name: &str, default: i64| parameters.get(name).copied().unwrap_or(default);
        Knobs {
            c: value("bic_scale", 41) as f64 * 10.0 / 1024.0,
            beta: value("beta", 717) as f64 / 1024.0,
            fast_convergence: value("fast_convergence", 1) != 0,
            friendly: value("tcp_friendliness", 1) != 0,
        }
    }
}

impl Cubic {
    fn new(rtt: f64, knobs: Knobs) -> Cubic {
        Cubic { knobs, rtt, w_max: 1.0, k: 0.0, age: 0.0, reno: 1.0 }
    }
}

impl Rule for Cubic {
    fn grow(&mut self, _window: f64, rounds: f64) -> f64 {
        self.age += self.rtt * rounds;
        let Knobs { c, beta, friendly, .. } = self.knobs;
        self.reno += 3.0 * (1.0 - beta) / (1.0 + beta) * rounds;
        let from = self.age - self.k;
        let curve = c * from * from * from + self.w_max;
        if friendly { curve.max(self.reno) } else { curve.max(1.0) }
    }
    fn cut(&mut self, window: f64) -> f64 {
        let Knobs { c, beta, fast_convergence, .. } = self.knobs;
        let converges = fast_convergence && window < self.w_max;
        self.w_max = if converges { window * (1.0 + beta) / 2.0 } else { window };
        let next = (window * beta).max(1.0);
        self.k = libm::cbrt((self.w_max - next).max(0.0) / c);
        (self.age, self.reno) = (0.0, next);
        next
    }
}

/// Mean window, packets, where each packet is lost with probability `loss`; none where losses are too rare to be waited for.
fn mean_window(rule: &mut dyn Rule, loss: f64) -> Option<f64> {
    let mut random = Rng::new(1, "theory");
    let (mut window, mut left) = (1.0_f64, random.geometric(loss) as f64);

    // Such rare losses end no window: the path is full long before.
    if loss < RAREST {
        return None;
    }
    let (mut packets, mut rounds, mut lost, mut since) = (0.0, 0.0, 0, 0.0_f64);
    loop {
        // Rounds long after a loss change little: larger steps save time.
        let step = (since * STEP).floor().max(1.0);
        since += step;
        let next = rule.grow(window, step);
        let sent = if step > 1.0 { (window + next) / 2.0 * step } else { window };

        // The first losses are left out: the window settles there.
        if lost >= BEFORE {
            packets += sent;
            rounds += step;
        }
        left -= sent;

        // No loss in this round: the window grows on.
        if left >= 0.0 {
            window = next;
            continue;
        }
        (window, since) = (rule.cut(window).max(1.0), 0.0);
        // Further losses of the round change nothing.
        while left < 0.0 {
            left += 1.0 + random.geometric(loss) as f64;
        }
        lost += 1;
        if lost == BEFORE + LOSSES {
            return Some(packets / rounds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_is_mathis_law() {
        for loss in [1e-3, 1e-4, 1e-5] {
            let window = mean_window(&mut Reno { step: 1.0 }, loss).expect("losses");
            let law = 1.31 / libm::sqrt(loss);
            assert!((window / law - 1.0).abs() < 0.04, "{loss}: {window} for {law}");
        }
    }

    #[test]
    fn scalable_is_kellys_law() {
        // The window at which growth and decrease balance: 0.01 W between losses for 0.125 W p.
        for loss in [1e-4, 1e-5] {
            let window = mean_window(&mut Scalable, loss).expect("losses");
            let law = 0.01 / 0.125 / loss;
            assert!((window / law - 1.0).abs() < 0.1, "{loss}: {window} for {law}");
        }
    }

    #[test]
    fn cubic_is_its_chain() {
        // docs/theory.md, "CUBIC under random loss": 526.65 packets at p = 3e-5 and 100 ms.
        let window =
            mean_window(&mut Cubic::new(0.1, Knobs::of(&BTreeMap::new())), 3e-5).expect("losses");
        assert!((window / 526.65 - 1.0).abs() < 0.05, "{window}");
    }

    const NEAR: &str = "path.delay={ forward = '2ms', back = '2ms' }";

    /// Whether the rule holds for a flow of 10 Gb/s, 40 ms, with these keys changed.
    fn holds(sets: &[&str]) -> bool {
        let text = "[path]\nrate = '10Gbit'\nloss = 1e-4\nmtu = 9000\ndelay = { forward = '20ms', back = '20ms' }\n\
                    [hosts]\nsender = { kernel = '6.12' }\nreceiver = { kernel = '6.12' }\n\
                    [[flow]]\nname = 'bulk'\ncongestion = 'reno'\nduration = '10s'\n\
                    [[flow]]\nname = 'other'\ncongestion = 'reno'\nduration = '10s'\ncount = 0\n";
        let source = fullpipe_scenario::Source::text("theory.toml", text);
        let sets: Vec<_> =
            sets.iter().map(|set| fullpipe_scenario::SetOption((*set).into())).collect();
        let scenario =
            fullpipe_scenario::load(&source, &sets, &[]).unwrap_or_else(|e| panic!("{e}"));
        let run = &scenario.plans()[0].resolved;
        expected(run, &run.flow[0]).expect("a rule").holds
    }

    #[test]
    fn rules_hold_where_their_assumptions_do() {
        for (set, expected) in [
            (&[][..], true),
            (&["flow.bulk.congestion=scalable"], true),
            (&["flow.bulk.congestion=cubic"], true),
            // A second flow; ACKs that are lost; a kernel that the rules were not compared with.
            (&["flow.other.count=1"], false),
            (&["path.loss={ forward = 1e-4, back = 1e-3 }"], false),
            (&["hosts.sender.kernel=3.14"], false),
            // A window of less than ten packets, and one that fills more than half of the path.
            (&["path.loss=0.03"], false),
            (&["path.rate=100Mbit"], false),
            // CUBIC that loses more often than four times a second.
            (&["flow.bulk.congestion=cubic", NEAR, "path.loss=1e-3"], false),
            (&[NEAR, "path.loss=1e-3"], true),
        ] {
            assert_eq!(holds(set), expected, "{set:?}");
        }
    }

    #[test]
    fn losses_that_never_come_have_no_answer() {
        assert_eq!(mean_window(&mut Reno { step: 1.0 }, 1e-15), None);
    }
}
