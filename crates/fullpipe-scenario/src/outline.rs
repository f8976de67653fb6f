//! A scenario from a few numbers: one bottleneck between two hosts, and bulk flows over it.
//!
//! [`Outline::text`] writes the scenario with comments. The command runs that text, `fullpipe new` keeps it, and a
//! plan proves its settings on it, so all of them mean the same path.

use super::source::Source;
use super::version::Version;
use crate::response;
use fullpipe_base::units::{Framing, Rate, Time};
use std::fmt::{self, Write};

/// Bounds of the quantities.
const MOST_RATE: Rate = Rate(1_000_000_000_000_000);
const MOST_RTT: Time = Time::secs(1000);
const MOST_LOSS: f64 = 0.5;
const MOST_FLOWS: u32 = 10_000;
const LEAST_MTU: u32 = 88;
const MOST_MTU: u32 = 65_535;
/// Largest queue of a link that a scenario takes, bytes.
const MOST_QUEUE: u64 = 1 << 50;

/// Round trips and time in which slow start and a full queue show.
const ROUND_TRIPS: u64 = 30;
const LEAST_TIME: Time = Time::secs(5);
/// Losses of a flow after which random loss shows. A run waits for them no longer than this, s, and for no more
/// packets.
const LOSSES: f64 = 20.0;
const MOST_PATIENCE: f64 = 600.0;
const MOST_PACKETS: f64 = 3e7;
/// Least number of packets that a queue holds.
const LEAST_QUEUE: u64 = 100;
/// Parallel flows start within a round trip, and at least within this time.
const LEAST_SPREAD: Time = Time::ms(10);

/// A path between two hosts, and its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Rate of the bottleneck (1 bit/s to 1 Pbit/s).
    pub rate: Rate,
    /// Round-trip time without queues (1 ns to 1000 s).
    pub rtt: Time,
    /// Largest IP packet, bytes (88 to 65535).
    pub mtu: u32,
    /// Bytes that the rate counts for each packet.
    pub framing: Framing,
    /// Queue of the bottleneck, bytes; `None`: one bandwidth-delay product, at least 100 packets.
    pub queue: Option<u64>,
    /// Probability that the path loses a data segment, each independently (0 to 0.5).
    pub loss: f64,
    /// Parallel flows (1 to 10000).
    pub flows: u32,
    /// Kernel of both hosts: a version, or the output of `uname -r`.
    pub kernel: String,
    /// Whether TCP timestamps are in use.
    pub timestamps: bool,
    /// Congestion control; `None`: the kernel's default.
    pub congestion: Option<String>,
    /// Length of the flows; `None`: long enough to see slow start, queues and losses.
    pub duration: Option<Time>,
}

/// A quantity beyond its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// "rate", "rtt", "mtu" and so on.
    pub what: &'static str,
    /// The bounds, with an example.
    pub expected: String,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is out of range; expected {}", self.what, self.expected)
    }
}
impl std::error::Error for OutOfRange {}

impl Outline {
    /// A path with one flow and Linux's defaults.
    pub fn new(rate: Rate, rtt: Time, kernel: &str) -> Outline {
        Outline {
            rate,
            rtt,
            mtu: 1500,
            framing: Framing::EthernetWire,
            queue: None,
            loss: 0.0,
            flows: 1,
            kernel: kernel.into(),
            timestamps: true,
            congestion: None,
            duration: None,
        }
    }

    /// Checks the bounds that the fields state.
    ///
    /// # Errors
    /// The first quantity beyond its bounds.
    pub fn check(&self) -> Result<(), OutOfRange> {
        // Each row: what it is, whether it holds, and what is expected.
        let checks = [
            (
                "rate",
                (Rate(1)..=MOST_RATE).contains(&self.rate),
                "1bit to 1000Tbit, such as 10Gbit",
            ),
            ("rtt", (Time(1)..=MOST_RTT).contains(&self.rtt), "1ns to 1000s, such as 80ms"),
            ("mtu", (LEAST_MTU..=MOST_MTU).contains(&self.mtu), "88 to 65535 bytes, such as 9000"),
            (
                "loss",
                (0.0..=MOST_LOSS).contains(&self.loss),
                "a probability of 0 to 0.5, such as 1e-5",
            ),
            ("number of flows", (1..=MOST_FLOWS).contains(&self.flows), "1 to 10000"),
            (
                "queue",
                self.queue.is_none_or(|n| (1..=MOST_QUEUE).contains(&n)),
                "1B to 1PiB, such as 64MB",
            ),
        ];
        match checks.into_iter().find(|(_, holds, _)| !holds) {
            Some((what, _, expected)) => Err(OutOfRange { what, expected: expected.into() }),
            None => Ok(()),
        }
    }

    /// The scenario under the name of the path: "10Gbit-80ms".
    pub fn source(&self) -> Source {
        Source::text(&format!("{}-{}.toml", self.rate, self.rtt), &self.text())
    }

    /// Length of the flows: 30 round trips and 5 s, or until each flow is likely to have lost 20 segments, at most ten
    /// minutes and thirty million packets.
    pub fn lasts(&self) -> Time {
        let shown = Time(self.rtt.0.saturating_mul(ROUND_TRIPS)) + LEAST_TIME;
        let patient = if self.loss > 0.0 { self.patience() } else { 0.0 };
        let seconds = shown.as_secs_f64().max(patient).ceil();
        self.duration.unwrap_or(Time::secs(seconds as u64))
    }

    /// Seconds after which a flow that nothing but the loss bounds is likely to have lost [`LOSSES`] segments.
    fn patience(&self) -> f64 {
        let flows = f64::from(self.flows);
        let rtt = self.rtt.as_secs_f64();
        // A congestion control without a formula is taken for CUBIC.
        let window = response::window(self.congestion(), self.loss, rtt)
            .unwrap_or_else(|| response::cubic_window(self.loss, rtt));
        let of_one = (window / rtt).min(self.packets_per_second() / flows);
        let needed = LOSSES / self.loss / of_one;
        needed.min(MOST_PATIENCE).min(MOST_PACKETS / (of_one * flows))
    }

    /// Length of flows on a full path, s, for a run of at most thirty million packets.
    pub fn most_seconds(&self) -> f64 {
        MOST_PACKETS / self.packets_per_second()
    }

    /// Queue of the bottleneck, bytes as the rate counts them.
    pub fn queue_bytes(&self) -> u64 {
        let product = self.rate.0 as f64 / 8.0 * self.rtt.as_secs_f64();
        let least = LEAST_QUEUE * u64::from(self.mtu + self.framing.overhead());
        self.queue.unwrap_or_else(|| rounded(product as u64).clamp(least, MOST_QUEUE))
    }

    fn packets_per_second(&self) -> f64 {
        self.rate.0 as f64 / 8.0 / f64::from(self.mtu + self.framing.overhead())
    }

    /// Options of the command that give the same outline, without defaults.
    pub fn options(&self) -> String {
        let mut text = format!("--rate {} --rtt {}", self.rate, self.rtt);
        let mut add = |is_set: bool, option: String| {
            if is_set {
                text.push(' ');
                text.push_str(&option);
            }
        };

        // Options with their default are left out, except the kernel, which may change.
        add(self.mtu != 1500, format!("--mtu {}", self.mtu));
        add(self.loss > 0.0, format!("--loss {}", probability(self.loss)));
        add(self.queue.is_some(), format!("--queue {}", size(self.queue_bytes())));
        add(self.flows != 1, format!("--flows {}", self.flows));
        add(true, format!("--kernel {}", self.kernel));
        add(self.congestion.is_some(), format!("--congestion {}", self.congestion()));
        add(self.duration.is_some(), format!("--duration {}", self.lasts()));
        text
    }

    /// A sentence on path, hosts, flows and queue.
    pub fn describe(&self) -> String {
        let loss = match self.loss > 0.0 {
            true => format!(", {} of the segments lost", probability(self.loss)),
            false => String::new(),
        };
        let (flows, verb) = match self.flows {
            1 => ("1 flow".to_string(), "sends"),
            n => (format!("{n} flows"), "send"),
        };
        format!(
            "{} x {}, MTU {}, a queue of {}{loss}; Linux {} at both ends; {flows} of {} {verb} for {}",
            self.rate,
            self.rtt,
            self.mtu,
            size(self.queue_bytes()),
            self.kernel,
            self.congestion(),
            self.lasts()
        )
    }

    /// Every profile has cubic as its default.
    fn congestion(&self) -> &str {
        self.congestion.as_deref().unwrap_or("cubic")
    }

    /// The scenario as TOML with comments.
    pub fn text(&self) -> String {
        [self.head(), self.path(), self.hosts(), self.flow()].concat()
    }

    fn head(&self) -> String {
        format!(
            "# One path of {rate} and {rtt}, two hosts, bulk data from the sender to the receiver.\n\
             #   fullpipe run FILE                                run it\n\
             #   fullpipe run FILE --set path.delay.back=120ms    change a key for one run\n\
             # `fullpipe schema scenario --markdown` describes every key.\n\
             # Rates: kbit, Mbit, Gbit per second. Times: us, ms, s.\n\
             # Sizes: kB = 1000 bytes, KiB = 1024 bytes.\n\n\
             title = \"{title}\"\n\
             # Runs with the same seed are the same, byte for byte.\n\
             seed = 1\n\n",
            rate = self.rate,
            rtt = self.rtt,
            title = self.title(),
        )
    }

    fn title(&self) -> String {
        let flows = match self.flows {
            1 => String::new(),
            n => format!(", {n} flows"),
        };
        format!("{} x {}{flows}", self.rate, self.rtt)
    }

    fn path(&self) -> String {
        // An odd round trip is split without losing a nanosecond.
        let there = Time(self.rtt.0 / 2);
        let back = Time(self.rtt.0 - there.0);
        let mut text = format!(
            "[path]\n\
             # Rate of the bottleneck. It counts what an Ethernet wire takes: 1538 bytes for an IP packet of 1500.\n\
             rate = \"{}\"\n",
            self.rate
        );
        // Writing to a string cannot fail, here and below.
        if self.framing != Framing::EthernetWire {
            let _ = writeln!(text, "framing = \"{}\"", self.framing.name());
        }
        let _ = write!(
            text,
            "# Largest IP packet, bytes: 1500, or 9000 where every device of the path has jumbo frames.\n\
             mtu = {}\n\
             # One-way delays without queues. Their sum is the round-trip time.\n\
             delay = {{ forward = \"{there}\", back = \"{back}\" }}\n",
            self.mtu
        );

        // Comments explain each key, since the file is meant to be edited.
        let queue = match self.queue {
            None => {
                "Buffer in front of the bottleneck, drop-tail: rate x round-trip time (one BDP), at least 100 packets. \
                     Yours is\n# likely to be smaller."
            }
            Some(_) => "Buffer in front of the bottleneck, drop-tail.",
        };
        let _ = writeln!(text, "# {queue}\nqueue = {{ limit = \"{}\" }}", size(self.queue_bytes()));
        match self.loss > 0.0 {
            true => {
                let _ = writeln!(
                    text,
                    "# Probability that a data segment is lost, each independently.\nloss = {}\n",
                    probability(self.loss)
                );
            }
            false => text.push_str("# loss = 1e-5 would lose one data segment in 100,000.\n\n"),
        }
        text
    }

    fn hosts(&self) -> String {
        let timestamps = if self.timestamps { "" } else { "timestamps = false\n" };
        format!(
            "[hosts.sender]\n\
             # A kernel profile (docs/kernels.md), or what `uname -r` prints.\n\
             kernel = \"{kernel}\"\n{timestamps}\
             # The send buffer: minimum, default and maximum in bytes. `fullpipe plan` computes the maximum.\n\
             # sysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 16384 268435456\" }}\n\n\
             [hosts.receiver]\n\
             kernel = \"{kernel}\"\n{timestamps}\
             # The receive buffer, which bounds the receive window.\n\
             # sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 268435456\" }}\n\n",
            kernel = self.kernel,
        )
    }

    fn flow(&self) -> String {
        let congestion = match &self.congestion {
            Some(name) => format!("# Congestion control.\ncongestion = \"{name}\"\n"),
            None => {
                "# Congestion control: the kernel's default, cubic.\n# congestion = \"cubic\"\n"
                    .into()
            }
        };

        // One flow needs neither a count nor starts that spread.
        let (copies, spread) = match self.flows {
            1 => (String::new(), String::new()),
            n => (
                format!("# Parallel connections, named bulk-1 to bulk-{n}.\ncount = {n}\n"),
                self.spread(),
            ),
        };
        let length = match self.duration {
            None => {
                "How long data is written: 30 round trips and 5 s, longer where losses are rare."
            }
            Some(_) => "How long data is written.",
        };
        format!(
            "[[flow]]\nname = \"bulk\"\n{copies}{congestion}# {length}\nduration = \"{}\"\n{spread}",
            self.lasts()
        )
    }

    /// The table that lets parallel flows start apart, as TOML.
    pub fn spread(&self) -> String {
        format!(
            "\n[repeat]\n\
             # Each flow starts at a random time within this span: flows that start in one nanosecond collide as real\n\
             # ones never do.\n\
             start_jitter = \"{}\"\n",
            self.rtt.max(LEAST_SPREAD)
        )
    }

    /// The version that the kernel's name means; `None` if it means none.
    pub fn version(&self) -> Option<Version> {
        Version::read(&self.kernel)
    }
}

/// Bytes in whole kB from 100 kB on and in whole MB from 100 MB on, rounded up.
fn rounded(bytes: u64) -> u64 {
    let unit = match bytes {
        0..100_000 => 1,
        100_000..100_000_000 => 1_000,
        _ => 1_000_000,
    };
    bytes.div_ceil(unit).saturating_mul(unit)
}

/// Bytes in the largest unit of which they are a whole number: "100MB".
pub fn size(bytes: u64) -> String {
    match bytes {
        n if n % 1_000_000 == 0 => format!("{}MB", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{}kB", n / 1_000),
        n => format!("{n}B"),
    }
}

/// A probability as TOML and options read it back: "1e-5".
pub fn probability(share: f64) -> String {
    if share < 1e-3 { format!("{share:e}") } else { format!("{share}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, load, notes};

    fn ten_gigabit() -> Outline {
        Outline::new(Rate::gbit(10), Time::ms(80), "6.12")
    }

    /// Every text loads and has the asked meaning.
    #[test]
    fn every_text_loads_and_means_what_was_asked() {
        let asked = [
            ten_gigabit(),
            Outline { loss: 1e-5, flows: 8, mtu: 9000, ..ten_gigabit() },
            Outline { congestion: Some("reno".into()), timestamps: false, ..ten_gigabit() },
            Outline { framing: Framing::Ip, queue: Some(123_456), ..ten_gigabit() },
            Outline::new(Rate(64_000), Time::ms(600), "2.6.20"),
            Outline::new(Rate::gbit(100), Time::us(7), "5.15.0-91-generic"),
            Outline::new(Rate(1), Time(1), "6.18"),
        ];
        for own in asked {
            own.check().unwrap();
            let loaded = load(&own.source(), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
            let run = &loaded.plans()[0].resolved;
            assert_eq!((run.flow.len(), run.path.mtu), (own.flows as usize, own.mtu));
            let links = run.path.forward.iter().filter_map(Element::rate);
            assert_eq!(links.collect::<Vec<_>>(), [(own.rate, own.framing)]);
            let delays = run.path.forward.iter().chain(&run.path.back).map(Element::delay);
            assert_eq!(delays.fold(Time::ZERO, |sum, own| sum + own), own.rtt);
            assert_eq!(run.flow[0].duration, Some(own.lasts()));
            assert_eq!(run.hosts.sender.config.timestamps, own.timestamps);
            let lossy = run.path.forward.iter().any(|element| element.kind() == "loss");
            assert_eq!(lossy, own.loss > 0.0);
        }
    }

    /// Flows that start together would share one nanosecond (docs/competition.md).
    #[test]
    fn parallel_flows_start_apart() {
        let own = Outline { flows: 8, ..ten_gigabit() };
        let loaded = load(&own.source(), &[], &[]).unwrap();
        let mut starts: Vec<Time> =
            loaded.plans()[0].resolved.flow.iter().map(|flow| flow.start).collect();
        assert!(starts.iter().all(|start| *start <= Time::ms(80)));
        starts.sort();
        starts.dedup();
        assert_eq!(starts.len(), 8);
    }

    #[test]
    fn the_run_is_long_enough_and_no_longer() {
        // 30 x 80 ms + 5 s = 7.4 s
        assert_eq!(ten_gigabit().lasts(), Time::secs(8));
        let satellite = Outline::new(Rate::mbit(50), Time::ms(600), "6.12");
        assert_eq!(satellite.lasts(), Time::secs(23));
        // 10 Mb/s are 812.7 packets/s: 20 losses of 1e-3 need 24.6 s, of 1e-6 hours
        let slow = Outline::new(Rate::mbit(10), Time::ms(10), "6.12");
        assert_eq!(Outline { loss: 1e-3, ..slow.clone() }.lasts(), Time::secs(25));
        assert_eq!(Outline { loss: 1e-6, ..slow }.lasts(), Time::secs(600));
        // CUBIC: 892 packets in 80 ms are 11,145 a second, so 20 losses of 1e-5 need 179.5 s; Reno's 379 need 421.6 s
        let lossy = Outline { loss: 1e-5, ..ten_gigabit() };
        assert_eq!(lossy.lasts(), Time::secs(180));
        assert_eq!(Outline { congestion: Some("reno".into()), ..lossy }.lasts(), Time::secs(422));
    }

    #[test]
    fn the_queue_is_a_product_or_100_packets() {
        assert_eq!(ten_gigabit().queue_bytes(), 100_000_000);
        // 1 Mb/s x 1 ms are 125 bytes
        assert_eq!(Outline::new(Rate::mbit(1), Time::ms(1), "6.12").queue_bytes(), 153_800);
    }

    #[test]
    fn the_options_name_what_differs_from_the_default() {
        assert_eq!(ten_gigabit().options(), "--rate 10Gbit --rtt 80ms --kernel 6.12");
        let own = Outline { loss: 1e-5, flows: 8, queue: Some(64_000_000), ..ten_gigabit() };
        assert_eq!(
            own.options(),
            "--rate 10Gbit --rtt 80ms --loss 1e-5 --queue 64MB --flows 8 --kernel 6.12"
        );
    }

    #[test]
    fn a_kernel_without_a_profile_is_noted() {
        let own = Outline::new(Rate::gbit(1), Time::ms(20), "5.15.0-91-generic");
        let loaded = load(&own.source(), &[], &[]).unwrap();
        assert_eq!(loaded.plans()[0].resolved.hosts.sender.config.kernel, "6.1");
        let notes = notes(&loaded);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("Linux 5.15.0-91-generic") && notes[0].contains("Linux 6.1"));
    }

    #[test]
    fn quantities_beyond_their_bounds_are_named_with_a_way_out() {
        let wrong = [
            (Outline { rate: Rate(0), ..ten_gigabit() }, "rate"),
            (Outline { rtt: Time::secs(1001), ..ten_gigabit() }, "rtt"),
            (Outline { mtu: 87, ..ten_gigabit() }, "mtu"),
            (Outline { loss: f64::NAN, ..ten_gigabit() }, "loss"),
            (Outline { flows: 0, ..ten_gigabit() }, "number of flows"),
            (Outline { queue: Some(0), ..ten_gigabit() }, "queue"),
        ];
        for (own, what) in wrong {
            assert_eq!(own.check().unwrap_err().what, what);
        }
    }
}
