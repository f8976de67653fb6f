//! Random scenarios that both engines do exactly: equal seeds and numbers give equal texts.
//!
//! One path of 1 Mb/s to 10 Gb/s and 1 to 300 ms has a queue of 0.1 to 4 bandwidth-delay products and an MTU of 1500,
//! 9000 or 576 (`frame.rs`, `path.rs`), and uncommonly a tunnel with a smaller one (`tunnel.rs`). It carries one to eight flows (`flows.rs`), uncommonly with a program of its own (`programs.rs`), with lists of losses (`losses.rs`)
//! and settings of kernels and cards (`hosts.rs`). Each scale is as likely as any other. Uncommon settings are rare,
//! each by itself, so that most scenarios have none or one.

mod draw;
mod flows;
mod frame;
mod hosts;
mod losses;
pub mod nfs;
mod path;
mod programs;
mod tunnel;

use super::case::Case;
use crate::scenario::{self, Source};
use frame::Frame;
use fullpipe_sim::rng::Rng;
use programs::Program;
use tunnel::Tunnel;

/// Kernels and settings of both hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The kernel's series.
    pub kernel: String,
    /// Ticks per second.
    pub hz: u32,
}

impl Default for Hosts {
    fn default() -> Hosts {
        Hosts { kernel: "6.12".into(), hz: 1000 }
    }
}

/// The text of a scenario.
pub fn scenario(seed: u64, number: u64, hosts: &Hosts) -> String {
    let mut rng = Rng::new(seed, &format!("parity {number}"));
    let mut frame = Frame::draw(&mut rng);
    frame.tunnel = Tunnel::draw(seed, number, frame.mtu);
    frame.program = Program::draw(seed, number);
    let mut other = Rng::new(seed, &format!("parity congestion {number}"));
    let flows = flows::flows(&mut rng, &mut other, &frame);
    let lists = losses::lists(&mut rng, &frame, &flows);
    let path = path::path(&mut rng, &frame, &lists);
    let hosts = hosts::hosts(&mut rng, hosts, &frame, &flows);
    let (duration_ms, sample_ms, flows) = (frame.duration_ms, frame.sample_ms(), flows.text);
    format!(
        "title = \"random {seed}/{number}\"\nseed = {number}\nduration = \"{duration_ms}ms\"\n\n\
         {path}{hosts}{flows}\n[report]\ninterval = \"100ms\"\nsample = \"{sample_ms}ms\"\n"
    )
}

/// The scenario as a case.
///
/// # Panics
/// The text is no scenario, which no seed, number and kernel gives.
pub fn case(seed: u64, number: u64, hosts: &Hosts) -> Case {
    let text = scenario(seed, number, hosts);
    let source = Source::text(&format!("{}.toml", file(seed, number)), &text);
    let scenario = scenario::load(&source, &[], &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{seed}/{number}: {e}"));
    let command = format!("fullpipe run {}.toml", file(seed, number));
    let (name, plan) = (file(seed, number), scenario.plans()[0].clone());
    Case { of: name.clone(), name, plan, text, command }
}

/// Name of a scenario, also of its file, without the ending.
pub fn file(seed: u64, number: u64) -> String {
    format!("random-{seed}-{number}")
}
