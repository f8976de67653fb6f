//! A golden file: what it sets up, and its two tables.

use super::network::Network;
use super::plan::{Plan, SEGMENT};
use crate::conversation;
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Host, Sockopt};
use fullpipe_sim::tcp::behaviour::{behaviour, profile_of};
use fullpipe_sim::tcp::profile::Profile;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::Sender;

/// SO_SNDBUF, if a file says nothing else: room for all that is written.
const ROOM: u64 = 1 << 22;

/// A row of a profile, or a setting of a host, and its value.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    pub name: String,
    pub value: String,
}

/// A golden file of a conversation.
pub struct Case {
    /// Comments and settings as they are written.
    head: Vec<String>,
    kernel: String,
    congestion: String,
    settings: Vec<Setting>,
    /// Row that is flipped, and its new value.
    pub flip: Setting,
    plan: Plan,
}

impl Case {
    pub fn parse(text: &str) -> Case {
        let head: Vec<String> =
            text.lines().take_while(|l| !l.starts_with("-----")).map(str::to_string).collect();
        let mut case = Case {
            head: Vec::new(),
            kernel: "2.6.20".into(),
            congestion: "reno".into(),
            settings: Vec::new(),
            flip: Setting::default(),
            plan: Plan::default(),
        };
        for line in head.iter().filter(|l| !l.starts_with('#') && !l.is_empty()) {
            let words: Vec<_> = line.split_whitespace().collect();
            let pair = |rest: &[&str]| Setting { name: rest[0].into(), value: rest[1].into() };
            match words[..] {
                ["kernel", name] => case.kernel = name.into(),
                ["congestion", name] => case.congestion = name.into(),
                ["set", ref rest @ ..] => case.settings.push(pair(rest)),
                ["flip", ref rest @ ..] => case.flip = pair(rest),
                _ => case.plan.line(&words),
            }
        }
        case.head = head;
        while case.head.last().is_some_and(String::is_empty) {
            case.head.pop();
        }
        case
    }

    fn run(&self, flipped: bool) -> Vec<String> {
        self.run_with(flipped.then_some(&self.flip), |profile| profile)
    }

    /// The rows with what `change` makes of the profile, nothing flipped.
    pub fn run_changed(&self, change: impl Fn(Profile) -> Profile) -> Vec<String> {
        self.run_with(None, change)
    }

    fn run_with(&self, flip: Option<&Setting>, change: impl Fn(Profile) -> Profile) -> Vec<String> {
        let kernel = match flip {
            Some(flip) if flip.name == "kernel" => &flip.value,
            _ => &self.kernel,
        };
        let mut host = host(kernel);
        let (mut slow_start, mut most, mut limit) = (None, None, None);
        let mut sndbuf = Some(ROOM);
        for Setting { name, value } in self.settings.iter().chain(flip) {
            match name.as_str() {
                "slow_start" => slow_start = Some(value),
                "kernel" => {}
                "limit_output_bytes" => limit = value.parse().ok(),
                "sndbuf" => sndbuf = value.parse().ok(),
                "max_pacing_rate" => most = value.parse().ok(),
                _ => set(&mut host, name, value),
            }
        }
        let mut profile = change(profile_of(&host).unwrap_or_else(|why| panic!("{why}")));
        if let Some(bytes) = limit {
            profile.limit_output_bytes = bytes;
        }
        let ends = || {
            let cc = Congestion::new(&self.congestion, &[], kernel, host.hz, 1);
            let mut cc = cc.expect("a congestion control");
            if let Some(name) = slow_start {
                cc = cc.with_slow_start(name, &[]).expect("a slow start");
            }
            let ecn = host.sysctl.tcp_ecn == Some(1);
            let mut sender = Sender::new(&profile, &host, cc, SEGMENT, sndbuf);
            let mut receiver = Receiver::new(&profile, &host, SEGMENT, self.plan.rcvbuf);
            sender.set_options(Sockopt { max_pacing_rate: most, ..Sockopt::default() });
            sender.use_ecn(ecn);
            receiver.use_ecn(ecn);
            (sender, receiver)
        };
        let network = |cached| {
            let (sender, receiver) = ends();
            Network::new(sender, receiver, &self.plan, cached)
        };
        let left = self.plan.earlier.then(|| network(None).leave());
        network(left.as_ref()).run()
    }

    /// Whether the flip makes a difference.
    pub fn changes(&self) -> bool {
        self.run(false) != self.run(true)
    }

    /// The file as it should be.
    pub fn render(&self) -> String {
        let (base, flipped) = (self.run(false), self.run(true));
        let same = base.iter().zip(&flipped).take_while(|(a, b)| a == b).count();
        let mut lines = self.head.clone();
        lines.push(format!("----- {}", self.kernel));
        lines.extend(aligned(&base));
        let Setting { name, value } = &self.flip;
        lines.push(format!("----- {name} = {value}, from the first row that differs"));
        lines.extend(aligned(&flipped[same..]));
        lines.join("\n") + "\n"
    }
}

fn host(kernel: &str) -> Host {
    let mut host = Host { kernel: kernel.into(), ..conversation::host() };
    host.sysctl.tcp_frto = if kernel == "2.6.20" { 0 } else { 2 };
    host.sysctl.tcp_early_retrans = if kernel.starts_with("2.") { 0 } else { 3 };
    host
}

/// Sets a sysctl, an option of the host, or a row of the profile.
fn set(host: &mut Host, name: &str, value: &str) {
    if behaviour(name).is_some() {
        return host.behaviour.push((name.into(), value.into()));
    }
    let number: u32 = value.parse().unwrap_or_else(|_| panic!("{name} {value}: not a number"));
    let s = &mut host.sysctl;
    match name {
        "hz" => host.hz = number,
        "timestamps" => host.timestamps = number > 0,
        "tso" => host.tso = number > 0,
        "tcp_sack" => s.tcp_sack = number > 0,
        "tcp_fack" => s.tcp_fack = number > 0,
        "tcp_dsack" => s.tcp_dsack = number > 0,
        "tcp_adv_win_scale" => s.tcp_adv_win_scale = number as i32,
        "tcp_rmem" => s.tcp_rmem[1] = number.into(),
        "tcp_frto" => s.tcp_frto = number,
        "tcp_reordering" => s.tcp_reordering = number,
        "tcp_early_retrans" => s.tcp_early_retrans = number,
        "tcp_ecn" => s.tcp_ecn = Some(number),
        "tcp_pacing_ss_ratio" => s.tcp_pacing_ss_ratio = Some(number),
        "tcp_pacing_ca_ratio" => s.tcp_pacing_ca_ratio = Some(number),
        "tcp_slow_start_after_idle" => s.tcp_slow_start_after_idle = number > 0,
        _ => panic!("{name} is neither a sysctl nor a behaviour"),
    }
}

/// Columns under each other.
fn aligned(rows: &[String]) -> Vec<String> {
    let rows: Vec<Vec<_>> = rows.iter().map(|r| r.split('|').map(str::trim).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|c| c.len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &Vec<&str>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, width))| match i {
            0 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<_>>().join(" | ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}
