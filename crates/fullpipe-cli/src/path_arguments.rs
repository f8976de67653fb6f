//! A path given by options instead of a scenario: `fullpipe run --rate 10Gbit --rtt 80ms`, `fullpipe new`.

use crate::args::TEMPLATE;
use crate::failure::Failure;
use crate::quantity;
use clap::Args;
use fullpipe::base::units::{Rate, Time};
use fullpipe::scenario::{Outline, Version};
use std::path::PathBuf;

/// Kernel of both hosts where none is named.
pub const KERNEL: &str = "6.12";

/// The options that describe a path, its hosts and its flows.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "A path without a scenario file")]
pub struct PathArguments {
    /// Rate of the bottleneck, such as 10Gbit
    #[arg(long, value_name = "RATE", value_parser = quantity::rate, allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Round-trip time without queues, such as 80ms
    #[arg(long, value_name = "TIME", value_parser = quantity::time, allow_hyphen_values = true)]
    pub rtt: Option<Time>,
    /// Probability that the path loses a data segment, such as 1e-5 [default: 0]
    #[arg(long, value_name = "PROBABILITY", value_parser = quantity::probability, allow_hyphen_values = true)]
    pub loss: Option<f64>,
    /// Parallel flows [default: 1]
    #[arg(long, value_name = "N", value_parser = quantity::flows, allow_hyphen_values = true)]
    pub flows: Option<u32>,
    /// Linux version of both hosts, or what `uname -r` prints there [default: 6.12]
    #[arg(long, value_name = "VERSION", value_parser = kernel)]
    pub kernel: Option<String>,
    /// Congestion control [default: the kernel's, cubic]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// Largest IP packet, bytes [default: 1500]
    #[arg(long, value_name = "BYTES", value_parser = quantity::mtu, allow_hyphen_values = true)]
    pub mtu: Option<u32>,
    /// Queue of the bottleneck, such as 64MB [default: rate x round-trip time, at least 100 packets]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, allow_hyphen_values = true)]
    pub queue: Option<u64>,
    /// How long the flows send [default: 30 round trips and 5 s, rounded up; more where losses are rare]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, allow_hyphen_values = true)]
    pub duration: Option<Time>,
}

/// Options of `fullpipe new`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe new my.toml --rate 10Gbit --rtt 80ms
  fullpipe new my.toml --rate 1Gbit --rtt 20ms --loss 1e-5 --flows 8 --kernel 5.15.0-91-generic
  fullpipe run my.toml                                 the same run as with these options\n\n")]
pub struct NewArguments {
    /// The file to write, which must not exist
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The path.
    #[command(flatten)]
    pub path: PathArguments,
}

/// A kernel's name that has a profile, as it was written.
fn kernel(text: &str) -> Result<String, String> {
    text.parse::<Version>().map(|_| text.to_string())
}

impl PathArguments {
    /// The options that were given, each with the way to say the same of a scenario.
    fn given(&self) -> Vec<(&'static str, String)> {
        let set = |key: &str, value: String| format!("--set {key}={value}");

        // Odd round trips differ by a nanosecond between the two ways.
        let rtt = |rtt: Time| {
            let half = Time::ns(rtt.as_ns() / 2);
            let back = Time::ns(rtt.as_ns() - half.as_ns());
            format!("--set path.delay.forward={half} --set path.delay.back={back}")
        };
        let kernel = |name: &String| {
            format!("--set hosts.sender.kernel={name} --set hosts.receiver.kernel={name}")
        };
        let options = [
            ("--rate", self.rate.map(|rate| set("path.rate", rate.to_string()))),
            ("--rtt", self.rtt.map(rtt)),
            ("--loss", self.loss.map(|loss| set("path.loss", loss.to_string()))),
            ("--flows", self.flows.map(|n| set("flow.NAME.count", n.to_string()))),
            ("--kernel", self.kernel.as_ref().map(kernel)),
            (
                "--congestion",
                self.congestion.as_ref().map(|n| set("flow.NAME.congestion", n.clone())),
            ),
            ("--mtu", self.mtu.map(|mtu| set("path.mtu", mtu.to_string()))),
            ("--queue", self.queue.map(|n| set("path.queue.limit", format!("{n}B")))),
            ("--duration", self.duration.map(|time| set("flow.NAME.duration", time.to_string()))),
        ];
        options.into_iter().filter_map(|(option, set)| Some((option, set?))).collect()
    }

    /// Refuses these options beside a scenario.
    ///
    /// # Errors
    /// Any of them was given; the message says how to change the scenario instead.
    pub fn none_beside(&self, command: &str, scenario: &str) -> Result<(), Failure> {
        let given = self.given();
        let Some((first, _)) = given.first() else { return Ok(()) };
        let sets: Vec<&str> = given.iter().map(|(_, set)| set.as_str()).collect();
        Err(Failure::Input(format!(
            "{first} describes a path of its own, and {scenario} has one already; leave {scenario} out, or change it \
             for this run: fullpipe {command} {scenario} {}",
            sets.join(" ")
        )))
    }

    /// The path that the options of `fullpipe COMMAND` describe.
    ///
    /// # Errors
    /// Rate or round-trip time are missing, or a quantity is out of range.
    pub fn outline(&self, command: &str) -> Result<Outline, Failure> {
        // Rate and round-trip time have no sensible default.
        let (Some(rate), Some(rtt)) = (self.rate, self.rtt) else {
            return Err(self.incomplete(command));
        };
        let plain = Outline::new(rate, rtt, self.kernel.as_deref().unwrap_or(KERNEL));
        let outline = Outline {
            mtu: self.mtu.unwrap_or(plain.mtu),
            queue: self.queue,
            loss: self.loss.unwrap_or(plain.loss),
            flows: self.flows.unwrap_or(plain.flows),
            congestion: self.congestion.clone(),
            duration: self.duration,
            ..plain
        };
        outline.check().map_err(|wrong| Failure::Input(wrong.to_string()))?;
        Ok(outline)
    }

    fn incomplete(&self, command: &str) -> Failure {
        let missing = match (self.rate, self.rtt) {
            (None, None) => "--rate and --rtt",
            (None, _) => "--rate",
            _ => "--rtt",
        };

        // Only these commands take a scenario instead of a path.
        let or = match command {
            "run" | "advise" | "relieve" => format!(
                "; or name a scenario or a recipe, such as fullpipe {command} fink-2007 (`fullpipe list` shows all)"
            ),
            _ => String::new(),
        };
        Failure::Input(format!(
            "a path needs {missing}: fullpipe {command} --rate 10Gbit --rtt 80ms{or}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe::scenario::OLDEST;

    #[test]
    fn kernels_are_taken_as_uname_prints_them() {
        for good in ["6.1", "5.15.0-91-generic", "4.18.0-553.el8_10.x86_64"] {
            assert_eq!(kernel(good).as_deref(), Ok(good));
        }
        assert!(kernel("2.4.1").unwrap_err().contains(&OLDEST.to_string()));
    }
}
