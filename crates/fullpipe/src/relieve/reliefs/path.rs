//! Reliefs of the path.

use super::flows::judged;
use super::keys::{FAST, set, text};
use crate::analysis::main_way;
use crate::scenario::config::{Direction, QueueLimit};
use crate::scenario::{App, Discipline, Element, LEAST_CLAMPED, Mtu, Resolved, SetOption};
use fullpipe_base::units::{Framing, Rate};

/// Bandwidth-delay products that a longer queue holds.
const PRODUCTS: u64 = 4;
/// MTU of an Ethernet, bytes.
const USUAL: u32 = 1500;
/// MTU of an Ethernet with jumbo frames, bytes.
const JUMBO: u32 = 9000;
/// Bytes that no policer's bucket of interest holds.
const BUCKET: &str = "1TB";

/// Both ways of the path, by their keys.
fn ways(run: &Resolved) -> [(&'static str, &[Element]); 2] {
    [("forward", &run.path.forward), ("back", &run.path.back)]
}

/// The way of the judged data, and the way back.
fn ways_of_data(run: &Resolved) -> [(&'static str, &[Element]); 2] {
    let [forward, back] = ways(run);
    match main_way(run) {
        Some(Direction::Backward) => [back, forward],
        _ => [forward, back],
    }
}

/// Rate of the fastest element on the way of data; none where no element has a rate.
pub fn fastest(run: &Resolved) -> Option<Rate> {
    let [(_, there), _] = ways_of_data(run);
    there.iter().filter_map(|element| Some(element.rate()?.0)).max()
}

/// Twice the rate of every link and shaper, with queues that are as long in time. Cards that are slower than that follow.
pub fn twice_as_fast(run: &Resolved) -> Vec<SetOption> {
    let mut sets = Vec::new();
    for (way, elements) in ways(run) {
        for element in elements {
            // Only these elements have a rate that a key doubles.
            let (name, queue) = match element {
                Element::Link(own) => (&own.name, own.queue.limit),
                Element::Shaper(own) => (&own.name, own.queue.limit),
                _ => continue,
            };
            let Some((Rate(rate), _)) = element.rate() else { continue };
            sets.push(set(&["path", way, name, "rate"], text(Rate(rate.saturating_mul(2)))));

            // A queue of twice the bytes lasts as long at twice the rate.
            if let QueueLimit::Bytes(bytes) = queue {
                let twice = text(format!("{}B", bytes.saturating_mul(2)));
                sets.push(set(&["path", way, name, "queue", "limit"], twice));
            }
        }
    }

    // A card slower than the new path would become the bottleneck.
    if let (Some(Rate(fastest)), false) = (fastest(run), sets.is_empty()) {
        let twice = Rate(fastest.saturating_mul(2));
        let hosts = [("sender", &run.hosts.sender), ("receiver", &run.hosts.receiver)];
        let slower = hosts.into_iter().filter(|(_, host)| host.config.nic_rate < twice);
        sets.extend(slower.map(|(name, _)| set(&["hosts", name, "nic_rate"], text(twice))));
    }
    sets
}

/// Round trip of the first judged flow without queues, ns.
fn round_trip(run: &Resolved) -> Option<u64> {
    let flow = judged(run).first().and_then(|index| run.flow.get(*index))?;
    Some(run.round_trip(flow).as_ns())
}

/// Bandwidth-delay product of a rate and a round trip in ns, bytes.
fn product(rate: Rate, trip: u64) -> u64 {
    let bytes = u128::from(rate.0) * u128::from(trip) / 8_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Droptail queues of four bandwidth-delay products on the way of data.
pub fn longer_queues(run: &Resolved) -> Vec<SetOption> {
    let Some(trip) = round_trip(run) else { return Vec::new() };
    let packet = |framing: Framing| u64::from(run.path.mtu + framing.overhead());
    let [(way, there), _] = ways_of_data(run);
    let mut sets = Vec::new();
    for element in there {
        let (Some((rate, framing)), Some(queue)) = (element.rate(), element.queue()) else {
            continue;
        };

        // Four products, at least 100 packets, at most a petabyte.
        let wanted = product(rate, trip).saturating_mul(PRODUCTS);
        let wanted = wanted.clamp(100 * packet(framing), 1 << 50);
        let is_enough = match queue.limit {
            QueueLimit::Bytes(bytes) => bytes >= wanted,
            QueueLimit::Packets(packets) => u64::from(packets) * packet(framing) >= wanted,
        };
        let is_droptail = queue.discipline == Discipline::DropTail;

        // Another discipline is replaced even if its limit is large.
        if !(is_enough && is_droptail) {
            let queue = format!("{{ limit = \"{wanted}B\" }}");
            sets.push(set(&["path", way, element.name(), "queue"], queue));
        }
    }
    sets
}

/// Queues on the way of data that keep themselves short (fq_codel), where messages wait in them.
pub fn short_queues(run: &Resolved) -> Vec<SetOption> {
    let [(way, there), _] = ways_of_data(run);
    let messages = |index: usize| matches!(run.flow[index].app, App::Messages { .. });
    if !judged(run).into_iter().any(messages) {
        return Vec::new();
    }
    let is_droptail = |element: &&Element| {
        element.queue().is_some_and(|own| own.discipline == Discipline::DropTail)
    };
    let links = there.iter().filter(|element| element.rate().is_some()).filter(is_droptail);
    let short =
        |link: &Element| set(&["path", way, link.name(), "queue"], "{ discipline = \"fq_codel\" }");
    links.map(short).collect()
}

/// No loss by chance or by a list on the way of data.
pub fn no_loss(run: &Resolved) -> Vec<SetOption> {
    let [(way, there), _] = ways_of_data(run);
    lossless(way, there)
}

fn lossless(way: &str, elements: &[Element]) -> Vec<SetOption> {
    let key = |name: &str, key: &str, value: &str| set(&["path", way, name, key], value);
    let mut sets = Vec::new();
    for element in elements {
        // Each kind of loss has its own switch.
        match element {
            Element::Loss(own) if own.probability > 0.0 => {
                sets.push(key(&own.name, "probability", "0"));
            }
            Element::GilbertElliott(own) if own.loss_bad > 0.0 || own.loss_good > 0.0 => {
                sets.push(key(&own.name, "loss_bad", "0"));
                sets.push(key(&own.name, "loss_good", "0"));
            }
            Element::Drop(own) if !own.segments.is_empty() => {
                sets.push(key(&own.name, "segments", "[]"));
            }
            Element::Drop(own) if !own.acks.is_empty() => sets.push(key(&own.name, "acks", "[]")),
            _ => {}
        }
    }
    sets
}

/// Policers that let everything pass.
pub fn no_policer(run: &Resolved) -> Vec<SetOption> {
    let [(way, there), _] = ways_of_data(run);
    let policers = there.iter().filter_map(|element| match element {
        Element::Policer(own) if own.rate < FAST => Some(&own.name),
        _ => None,
    });
    let sets = policers.flat_map(|name| {
        let key = |key: &str, value: String| set(&["path", way, name, key], value);
        [key("rate", text(FAST)), key("burst", text(BUCKET))]
    });
    sets.collect()
}

/// Links of the data's way, with the MTU of the hosts.
pub fn usual_packets(run: &Resolved) -> Vec<SetOption> {
    let [(way, _), _] = ways_of_data(run);
    narrow(run).map(|own| set(&["path", way, &own.name, "mtu"], run.path.mtu)).collect()
}

/// Links of the data's way that drop full packets, as [`Resolved::swallowing`] has them.
pub(super) fn swallowing(run: &Resolved) -> impl Iterator<Item = &Mtu> {
    run.swallowing(main_way(run).unwrap_or(Direction::Forward))
}

/// Links of the data's way that drop full packets, with ICMP or without it.
fn narrow(run: &Resolved) -> impl Iterator<Item = &Mtu> {
    run.narrow(main_way(run).unwrap_or(Direction::Forward))
}

/// Routers in front of such links that clamp the MSS.
pub fn mss_clamp(run: &Resolved) -> Vec<SetOption> {
    let [(way, _), _] = ways_of_data(run);
    let fits = narrow(run).filter(|own| own.mtu >= LEAST_CLAMPED);
    fits.map(|own| set(&["path", way, &own.name, "mss_clamp"], text("pmtu"))).collect()
}

/// Buckets of policers on the data's way that hold the path's bytes in flight at the policer's rate.
pub fn larger_bursts(run: &Resolved) -> Vec<SetOption> {
    let Some(trip) = round_trip(run) else { return Vec::new() };
    let [(way, there), _] = ways_of_data(run);
    let small = there.iter().filter_map(|element| {
        let Element::Policer(own) = element else { return None };
        let wanted = product(own.rate, trip);
        let burst = || set(&["path", way, &own.name, "burst"], text(format!("{wanted}B")));
        (own.burst < wanted).then(burst)
    });
    small.collect()
}

/// No packet that overtakes another one on the way of data.
pub fn in_order(run: &Resolved) -> Vec<SetOption> {
    let [(way, there), _] = ways_of_data(run);
    let sets = there.iter().filter_map(|element| match element {
        Element::Reorder(own) if own.probability > 0.0 => {
            Some(set(&["path", way, &own.name, "probability"], 0))
        }
        Element::Jitter(own) if own.jitter.as_ns() > 0 => {
            Some(set(&["path", way, &own.name, "jitter"], text("0s")))
        }
        _ => None,
    });
    sets.collect()
}

/// A way back as fast as the way of data, without loss, with queues of any length, and in order.
pub fn fast_way_back(run: &Resolved) -> Vec<SetOption> {
    let wanted = fastest(run).unwrap_or(Rate::gbit(10));
    let [_, (way, back)] = ways_of_data(run);

    // The way back must neither lose, nor delay, nor reorder ACKs.
    let mut sets = lossless(way, back);
    for element in back {
        let key = |key: &str, value: &str| set(&["path", way, element.name(), key], value);
        match element {
            Element::Link(own) if own.rate < wanted => {
                sets.push(key("rate", &text(wanted)));

                // ACKs get a queue that never fills.
                sets.push(key("queue", "{ limit = \"1GB\" }"));
            }
            Element::Shaper(own) if own.rate < wanted => sets.push(key("rate", &text(wanted))),
            Element::Policer(own) if own.rate < wanted => {
                sets.push(key("rate", &text(FAST)));
                sets.push(key("burst", &text(BUCKET)));
            }
            Element::Reorder(own) if own.probability > 0.0 => sets.push(key("probability", "0")),
            Element::Jitter(own) if own.jitter.as_ns() > 0 => sets.push(key("jitter", &text("0s"))),
            _ => {}
        }
    }
    sets
}

/// An MTU of 1,500 bytes where it is smaller.
pub fn usual_mtu(run: &Resolved) -> Vec<SetOption> {
    if run.path.mtu < USUAL { larger_mtu(run, USUAL) } else { Vec::new() }
}

/// An MTU of 9,000 bytes where it is smaller.
pub fn jumbo(run: &Resolved) -> Vec<SetOption> {
    // A bucket or a queue that holds no such packet would let nothing pass.
    let least = u64::from(JUMBO + Framing::EthernetWire.overhead());
    let tight = run.path.forward.iter().chain(&run.path.back).any(|element| match element {
        Element::Policer(own) => own.burst < least,
        Element::Shaper(own) => own.burst < least,
        other => matches!(other.queue().map(|queue| queue.limit), Some(QueueLimit::Bytes(bytes)) if bytes < least),
    });
    if run.path.mtu < JUMBO && !tight { larger_mtu(run, JUMBO) } else { Vec::new() }
}

/// Larger MTU of the path, and of each host at its ends with a card that takes less.
fn larger_mtu(run: &Resolved, mtu: u32) -> Vec<SetOption> {
    let ends = [("sender", &run.hosts.sender), ("receiver", &run.hosts.receiver)];
    let small = ends.into_iter().filter(|(_, host)| host.config.mtu.is_some_and(|own| own < mtu));
    let hosts = small.map(|(name, _)| set(&["hosts", name, "mtu"], mtu));
    hosts.chain([set(&["path", "mtu"], mtu)]).collect()
}
