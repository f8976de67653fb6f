//! Random elements keep their laws. A hundred thousand packets lie within five standard errors of theory. Rules without
//! chance hold exactly.

use fullpipe_sim::config::{
    Discipline, Distribution, Drop, Duplicate, Element, GilbertElliott, Jitter, Loss, Mtu, Policer,
    QueueLimit, RateStep, Reorder, Shaper, TraceLink, Unit, VaryingLink,
};
use fullpipe_sim::link::chain::Chain;
use fullpipe_sim::packet::{Ecn, Kind, Train};
use fullpipe_sim::stage::Samples;
use fullpipe_sim::trace::StageSample;
use fullpipe_sim::units::{Framing, Rate, Time};

const PACKETS: u64 = 100_000;

/// Output of an element: packets by number and time, in order of time; and the counters at the end.
struct Passed {
    out: Vec<(u64, Time)>,
    counters: StageSample,
}

/// Sends packets of 1500 bytes, `spacing` apart, in trains of `length`, each train an skb.
fn pass_trains(element: Element, packets: u64, length: u32, spacing: Time) -> Passed {
    element.check().unwrap();
    let mut chain = Chain::new(&[element], 42, Samples::every(Time::secs(1), Time::NEVER));
    let mut out = Vec::new();
    for skb in 0..packets / u64::from(length) {
        let number = skb * u64::from(length);
        let first = Time(number * spacing.0);
        let (flow, kind, skb, len, ip_len) = (0, Kind::Ack, skb as u32, 0, 1500);
        let (count, spacing) = (length, spacing.0);
        let serial = number;
        let tsval = 0;
        let train = Train {
            flow,
            connection: flow,
            kind,
            skb,
            number,
            len,
            ip_len,
            ecn: Ecn::NotEct,
            ece: false,
            cwr: false,
            carries: 0,
            tsval,
            tsecr: 0,
            count,
            push: false,
            fin: false,
            serial,
            first,
            spacing,
        };
        chain.push(&train, &mut out);
    }
    let mut due = chain.wake_time();
    while due < Time::NEVER {
        chain.wake(due, &mut out);
        due = chain.wake_time();
    }
    let end = out.last().map_or(Time::ZERO, |train| train.last()) + Time::secs(1);
    let counters = chain.stages_mut().next().unwrap().sample(end);
    let packets = out.iter().flat_map(|t| (0..t.count).map(|i| (t.number_of(i), t.time(i))));
    Passed { out: packets.collect(), counters }
}

fn pass(element: Element) -> Passed {
    pass_trains(element, PACKETS, 1, Time::us(100))
}

/// Whether each packet was lost.
fn lost(passed: &Passed) -> Vec<bool> {
    let mut lost = vec![true; PACKETS as usize];
    passed.out.iter().for_each(|(number, _)| lost[*number as usize] = false);
    assert_eq!(passed.counters.dropped, lost.iter().filter(|lost| **lost).count() as u64);
    assert_eq!(passed.counters.entered + passed.counters.dropped, PACKETS);
    lost
}

/// `found` of `trials` lies within five standard errors of probability `p`, those of `p` times `wide`
/// where trials depend on each other.
fn close(found: usize, trials: usize, p: f64, wide: f64) {
    let (share, error) = (found as f64 / trials as f64, (p * (1.0 - p) / trials as f64).sqrt());
    assert!((share - p).abs() <= 5.0 * wide * error, "{share}, not {p} +- {error}");
}

fn count(list: &[bool]) -> usize {
    list.iter().filter(|one| **one).count()
}

#[test]
fn independent_losses_are_independent() {
    let (name, probability, unit) = ("loss".into(), 0.02, Unit::Segment);
    let lost = lost(&pass(Element::Loss(Loss { name, probability, unit })));
    close(count(&lost), lost.len(), 0.02, 1.0);
    let after: Vec<bool> = lost.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
    close(count(&after), after.len(), 0.02, 1.0);
}

#[test]
fn an_skb_is_lost_as_one() {
    let (name, probability, unit) = ("loss".into(), 0.02, Unit::Skb);
    let element = Element::Loss(Loss { name, probability, unit });
    let lost = lost(&pass_trains(element, PACKETS, 10, Time::us(100)));
    assert!(lost.chunks(10).all(|skb| count(skb) == 0 || count(skb) == 10));
    let skbs: Vec<bool> = lost.chunks(10).map(|skb| skb[0]).collect();
    close(count(&skbs), skbs.len(), 0.02, 1.0);
}

/// Two-state Markov chain: the share of the bad state is p / (p + r); without change of state loss is
/// independent. P(lost after lost) follows from the states' shares among the lost.
#[test]
fn losses_in_bursts_have_the_rate_and_the_bursts_of_their_model() {
    let (p, r, loss_bad, loss_good) = (0.01, 0.2, 0.7, 0.002);
    let (name, unit) = ("ge".into(), Unit::Segment);
    let model = GilbertElliott { name, p, r, loss_bad, loss_good, unit };
    let lost = lost(&pass(Element::GilbertElliott(model)));
    let bad = p / (p + r);
    let rate = bad * loss_bad + (1.0 - bad) * loss_good;
    // The chain forgets by 1 - p - r each step: the variance grows by (1 + m) / (1 - m).
    close(count(&lost), lost.len(), rate, ((2.0 - p - r) / (p + r)).sqrt());
    let (from_bad, from_good) = (bad * loss_bad / rate, (1.0 - bad) * loss_good / rate);
    let next_bad = from_bad * (1.0 - r) + from_good * p;
    let again = next_bad * loss_bad + (1.0 - next_bad) * loss_good;
    let after: Vec<bool> = lost.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
    close(count(&after), after.len(), again, 1.5);
}

/// The simple Gilbert model (everything is lost in the bad state) has bursts of 1/r on average.
#[test]
fn bursts_of_the_simple_gilbert_model_are_geometric() {
    let (p, r, loss_bad, loss_good) = (0.02, 0.25, 1.0, 0.0);
    let (name, unit) = ("ge".into(), Unit::Segment);
    let model = GilbertElliott { name, p, r, loss_bad, loss_good, unit };
    let lost = lost(&pass(Element::GilbertElliott(model)));
    let bursts: Vec<usize> =
        lost.split(|lost| !lost).map(<[bool]>::len).filter(|n| *n > 0).collect();
    let ones = bursts.iter().filter(|n| **n == 1).count();
    close(ones, bursts.len(), r, 1.0);
    let longer = bursts.iter().filter(|n| **n > 4).count();
    close(longer, bursts.len(), (1.0 - r).powi(4), 1.0);
}

#[test]
fn listed_packets_and_no_others_are_lost() {
    let acks: Vec<u64> = vec![0, 1, 7, 99_999, 200_000];
    let drop = Drop { name: "drop".into(), flow: 0, segments: vec![3], acks };
    let lost = lost(&pass_trains(Element::Drop(drop), PACKETS, 100, Time::us(1)));
    let numbers: Vec<usize> = (0..lost.len()).filter(|i| lost[*i]).collect();
    assert_eq!(numbers, [0, 1, 7, 99_999]);
    let of_another = Drop { name: "drop".into(), flow: 1, segments: vec![], acks: vec![5] };
    assert_eq!(pass(Element::Drop(of_another)).counters.dropped, 0);
}

fn reorder(probability: f64, gap: u32, [delay, chosen_delay]: [Time; 2]) -> Element {
    let (name, correlation) = ("reorder".into(), 0.0);
    Element::Reorder(Reorder { name, delay, chosen_delay, probability, correlation, gap })
}

/// Packets that left before one of a lower number.
fn ahead(passed: &Passed) -> usize {
    let mut lowest = u64::MAX;
    let backwards = passed.out.iter().rev();
    backwards
        .filter(|(n, _)| {
            lowest = lowest.min(*n);
            lowest < *n
        })
        .count()
}

#[test]
fn chosen_packets_go_ahead() {
    let passed = pass(reorder(0.1, 1, [Time::ms(10), Time::ZERO]));
    assert_eq!((passed.counters.entered, passed.counters.left), (PACKETS, PACKETS));
    let at_once = passed.out.iter().filter(|(n, time)| time.0 == n * 100_000).count();
    close(at_once, PACKETS as usize, 0.1, 1.0);
    let others = passed.out.iter().filter(|(n, time)| time.0 == n * 100_000 + 10_000_000);
    assert_eq!(others.count() + at_once, PACKETS as usize);
    assert!(ahead(&passed) > at_once * 9 / 10);
}

#[test]
fn with_a_gap_every_fifth_packet_goes_ahead() {
    let passed = pass(reorder(1.0, 5, [Time::ms(10), Time::ZERO]));
    let mut at_once: Vec<u64> =
        passed.out.iter().filter(|(n, time)| time.0 == n * 100_000).map(|(n, _)| *n).collect();
    at_once.sort_unstable();
    assert!(at_once.iter().enumerate().all(|(i, n)| *n == 5 * i as u64 + 4), "{at_once:?}");
}

#[test]
fn chosen_packets_can_come_late() {
    let passed = pass(reorder(0.01, 1, [Time::ZERO, Time::ms(3)]));
    let late = passed.out.iter().filter(|(n, time)| time.0 == n * 100_000 + 3_000_000).count();
    close(late, PACKETS as usize, 0.01, 1.0);
    // Each one is overtaken by the 29 or 30 packets of 3 ms.
    let place = passed.out.iter().position(|(n, time)| time.0 > n * 100_000).unwrap();
    let (number, time) = passed.out[place];
    assert!(passed.out[..place].iter().all(|(_, before)| *before <= time));
    assert_eq!(passed.out[place + 1].0 - number, 30);
}

/// A number with netem's correlation of a half is the sum of U(k) / 2^(k + 1). Its distribution is the Fabius function,
/// which is 5/72 at 1/4 and 1/288 at 1/8 (Fabius 1966).
#[test]
fn correlated_choices_have_the_law_of_netems_numbers() {
    for (probability, law) in [(0.25, 5.0 / 72.0), (0.125, 1.0 / 288.0)] {
        let (name, delay, chosen_delay) = ("reorder".into(), Time::ms(10), Time::ZERO);
        let (correlation, gap) = (0.5, 1);
        let config = Reorder { name, delay, chosen_delay, probability, correlation, gap };
        let passed = pass(Element::Reorder(config));
        let mut chosen = vec![false; PACKETS as usize];
        for (n, time) in passed.out {
            chosen[n as usize] = time.0 == n * 100_000;
        }
        close(count(&chosen), chosen.len(), law, 2.0);
        let again = chosen.windows(2).filter(|w| w[0] && w[1]).count();
        assert!(again as f64 > 2.0 * law * count(&chosen) as f64, "they do not come together");
    }
}

#[test]
fn copies_follow_their_packets() {
    let (name, probability, correlation) = ("copy".into(), 0.05, 0.0);
    let element = Element::Duplicate(Duplicate { name, probability, correlation });
    let passed = pass_trains(element, PACKETS, 20, Time::us(100));
    let copies = passed.out.windows(2).filter(|w| w[0] == w[1]).count();
    close(copies, PACKETS as usize, 0.05, 1.0);
    assert_eq!(passed.counters.entered, PACKETS);
    assert_eq!(passed.counters.left, PACKETS + copies as u64);
    assert_eq!(passed.out.len() as u64, passed.counters.left);
}

/// The delays in milliseconds, by packet.
fn delays(correlation: f64, distribution: Distribution, keep_order: bool) -> Vec<f64> {
    let (name, delay, jitter) = ("jitter".into(), Time::ms(20), Time::ms(4));
    let config = Jitter { name, delay, jitter, correlation, distribution, keep_order };
    let passed = pass(Element::Jitter(config));
    let mut delays = vec![f64::NAN; PACKETS as usize];
    for (n, time) in &passed.out {
        delays[*n as usize] = (time.0 - n * 100_000) as f64 / 1e6;
    }
    if keep_order {
        assert!(passed.out.windows(2).all(|w| w[0].0 < w[1].0), "out of order");
    }
    delays
}

/// Mean, variance, and correlation of neighbours.
fn moments(list: &[f64]) -> (f64, f64, f64) {
    let n = list.len() as f64;
    let mean = list.iter().sum::<f64>() / n;
    let variance = list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let pairs = list.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>();
    (mean, variance, pairs / n / variance)
}

#[test]
fn jitter_has_its_distribution() {
    // Variance of the uniform one: (2 x 4)^2 / 12. A correlation c of normal numbers is one of
    // 6 / pi x asin(c / 2) between their ranks: 0.24 for 0.25, 0.58 for 0.6.
    for (distribution, correlation, variance) in [
        (Distribution::Uniform, 0.0, 64.0 / 12.0),
        (Distribution::Uniform, 0.25, 64.0 / 12.0),
        (Distribution::Normal, 0.0, 16.0),
        (Distribution::Normal, 0.6, 16.0),
    ] {
        let delays = delays(correlation, distribution, false);
        let found = moments(&delays);
        let what = format!("{distribution:?} {correlation}: {found:?}");
        let error = (variance / delays.len() as f64).sqrt() / (1.0 - correlation);
        assert!((found.0 - 20.0).abs() < 5.0 * error, "{what}");
        assert!((found.1 / variance - 1.0).abs() < 0.03, "{what}");
        assert!((found.2 - correlation).abs() < 0.02, "{what}");
        if distribution == Distribution::Uniform {
            assert!(delays.iter().all(|d| (16.0..=24.0).contains(d)), "{what}");
        } else {
            // 68.27 % of a normal distribution lie within one deviation.
            let within = delays.iter().filter(|d| (16.0..=24.0).contains(*d)).count();
            close(within, delays.len(), 0.6827, 2.0);
        }
    }
}

#[test]
fn jitter_that_keeps_order_is_never_shorter_than_one_that_does_not() {
    let (kept, free) =
        (delays(0.0, Distribution::Normal, true), delays(0.0, Distribution::Normal, false));
    assert!(kept.iter().zip(&free).all(|(kept, free)| kept >= free));
    assert!(moments(&kept).0 > 25.0);
}

/// Packets of 1500 bytes: all of them pass an MTU as large, and none one that is a byte less.
#[test]
fn a_smaller_mtu_passes_none_that_is_larger() {
    for (mtu, passes) in [(1500, PACKETS), (1499, 0)] {
        let passed =
            pass(Element::Mtu(Mtu { name: "tunnel".into(), mtu, icmp: false, mss_clamp: None }));
        assert_eq!(passed.out.len() as u64, passes);
        assert_eq!(passed.counters.left, passes);
        assert_eq!(passed.counters.dropped > 0, passes == 0, "{:?}", passed.counters);
    }
}

#[test]
fn a_policer_passes_its_burst_and_then_its_rate() {
    // Packets of 1514 bytes, one each 100 us: 121 Mb/s; of them 50 Mb/s pass.
    let (name, rate, burst, framing) =
        ("police".into(), Rate::mbit(50), 1514 * 1000, Framing::Ethernet);
    let passed = pass(Element::Policer(Policer { name, rate, burst, framing }));
    let bytes = |packets: usize| packets as u64 * 1514 * 8;
    for (i, (_, time)) in passed.out.iter().enumerate() {
        // The output never exceeds the bucket and its new tokens, nor falls a packet below.
        let most = burst * 8 + rate.0 * time.0 / 1_000_000_000;
        assert!(bytes(i + 1) <= most, "packet {i} at {time}");
    }
    let (_, end) = passed.out.last().unwrap();
    let least = burst * 8 + rate.0 * end.0 / 1_000_000_000 - 2 * 1514 * 8;
    assert!(bytes(passed.out.len()) >= least);
    assert!(passed.out[..1000].iter().enumerate().all(|(i, (n, _))| *n == i as u64));
}

#[test]
fn a_shaper_passes_its_burst_at_once_and_then_its_rate() {
    // 300 packets of 1514 bytes, all at 0; one takes 242,240 ns at 50 Mb/s, ten of them fit the bucket, 85 may wait.
    let (name, rate, burst) = ("shaper".into(), Rate::mbit(50), 15_140);
    let (framing, limit) = (Framing::Ethernet, QueueLimit::Packets(85));
    let shaper = Element::Shaper(Shaper { name, rate, burst, framing, limit });
    let passed = pass_trains(shaper, 300, 100, Time::ZERO);
    let expected: Vec<_> = (0..95u64).map(|n| (n, Time(n.saturating_sub(9) * 242_240))).collect();
    assert_eq!(passed.out, expected);
    let StageSample { dropped, busy_ns, peak, .. } = passed.counters;
    assert_eq!((dropped, busy_ns, peak), (205, 95 * 242_240, 85));
}

/// Packets larger than the bucket keep the rate. A bucket that never becomes empty passes packets without bound.
#[test]
fn a_shaper_with_a_bucket_smaller_than_a_packet_or_larger_than_time() {
    let passed = |rate, burst| {
        let (framing, limit) = (Framing::Ethernet, QueueLimit::Packets(1000));
        let name = "shaper".into();
        let shaper = Element::Shaper(Shaper { name, rate, burst, framing, limit });
        pass_trains(shaper, 100, 100, Time::ZERO).out
    };
    let expected: Vec<_> = (0..100).map(|n| (n, Time(n * 242_240))).collect();
    assert_eq!(passed(Rate::mbit(50), 1000), expected);
    assert!(passed(Rate(1), 1 << 50).iter().all(|(_, at)| *at == Time::ZERO));
}

#[test]
fn a_varying_link_sends_what_its_rates_allow() {
    let step = |at, mbit| RateStep { at: Time::secs(at), rate: Rate::mbit(mbit) };
    let steps = vec![step(0, 20), step(2, 80), step(4, 0), step(5, 40)];
    let (name, framing, limit) = ("link".into(), Framing::Ip, QueueLimit::Packets(1_000_000));
    let discipline = Discipline::Fifo;
    let passed =
        pass(Element::VaryingLink(VaryingLink { name, steps, framing, limit, discipline }));
    let between = |from: u64, to: u64| {
        let range = Time::secs(from)..Time::secs(to);
        passed.out.iter().filter(|(_, time)| range.contains(time)).count()
    };
    // 1500 bytes are 12000 bits: 20 Mb/s are 1666.67 packets each second.
    assert!((3332..=3334).contains(&between(0, 2)), "{}", between(0, 2));
    assert!((13332..=13334).contains(&between(2, 4)), "{}", between(2, 4));
    assert_eq!(between(4, 5), 0);
    assert!((9999..=10001).contains(&between(5, 8)), "{}", between(5, 8));
    // Until a step, the output and the packet in transmission then are a whole number of packets.
    assert_eq!(passed.out.len() as u64, PACKETS);
}

#[test]
fn a_trace_link_sends_a_full_packet_at_each_opportunity() {
    // Twice at 1 ms, once at 5 and at 7; period 10 ms. A packet comes each 2 ms from 0 on.
    let (name, limit) = ("trace".into(), QueueLimit::Packets(1000));
    let opportunities = vec![1, 1, 5, 7, 10];
    let link = TraceLink { name, opportunities, limit, discipline: Discipline::Fifo };
    let passed = pass_trains(Element::TraceLink(link), 10, 1, Time::ms(2));
    let times: Vec<u64> = passed.out.iter().map(|(_, time)| time.0 / 1_000_000).collect();
    // Packet 0 arrives at 0 and leaves at 1, where the second opportunity is wasted; 2 at 5, 4 at 7, 6 at 10; 8 and 10
    // at 11 (twice: 10 arrived before); 12 at 15, 14 at 17, 16 at 20, 18 at 21.
    assert_eq!(times, [1, 5, 7, 10, 11, 11, 15, 17, 20, 21]);
}
