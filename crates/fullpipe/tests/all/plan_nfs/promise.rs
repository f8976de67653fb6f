//! What a plan promises, on the simulator: nearly the best rate of all settings, for little more memory than that needs.

use super::{ask, planned};
use fullpipe::engine;
use fullpipe::plan::nfs::Question;
use fullpipe::plan::nfs::proof::{Proven, runs};
use fullpipe::plan::nfs::settings::{Buffers, Settings};
use fullpipe::scenario::NfsVersion;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::{Rate, Time};

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

/// A fixed sequence of numbers from 0 up to 1 (splitmix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between both, their logarithms alike.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.next())
    }
}

/// A path of 100 Mb/s to 10 Gb/s and 0.5 to 200 ms.
fn path(draws: &mut Draws) -> Question {
    let rate = Rate(draws.between(100.0, 10_000.0) as u64 * 1_000_000);
    let rtt = Time::us(draws.between(500.0, 200_000.0) as u64);
    let mut q = ask(rate, rtt);
    q.path.mtu = if draws.next() < 0.5 { 1500 } else { 9000 };
    q.version = if draws.next() < 0.5 { NfsVersion::V3 } else { NfsVersion::V4_2 };
    q
}

fn both(q: &Question, settings: &Settings) -> [f64; 2] {
    let sim = engine::find("sim").expect("the simulator");
    let runs = runs(q, &[("s", *settings)], sim, &mut ToTheEnd);
    let runs = runs.unwrap_or_else(|failed| panic!("{failed:?}")).expect("to the end");
    let rate = |run: &Proven| run.mbit.unwrap_or(0.0);
    [rate(&runs[0]), rate(&runs[1])]
}

/// All settings that are tried: buffers in powers of four, with a read-ahead of half of them; sizes, slots and connections.
fn grid(q: &Question) -> Vec<Settings> {
    let plan = planned(q);
    let slots: &[u64] = match q.version {
        NfsVersion::V3 => &[16, 65536],
        NfsVersion::V4_2 => &[16, 64, 160],
    };
    let mut all = Vec::new();
    for size in [256 << 10, 1 << 20] {
        for &slots in slots {
            for nconnect in [1, 4] {
                for mib in [1, 4, 16, 64, 256, 1024] {
                    let buffers = Buffers { receive: mib << 20, send: mib << 20 };
                    let ends = Settings { client: buffers, server: buffers, ..plan.settings };
                    all.push(Settings {
                        size,
                        slots,
                        nconnect,
                        readahead: (mib << 20) / 2,
                        ..ends
                    });
                }
            }
        }
    }
    all
}

/// What became of a plan.
struct Kept {
    q: Question,
    /// Mb/s of today's settings, of the planned ones, and the most of all, of writing and of reading.
    today: [f64; 2],
    planned: [f64; 2],
    best: [f64; 2],
    /// Bytes of the buffers that data passes, both ways together: planned, and the least that reach 95 % of the best.
    memory: u64,
    needed: u64,
}

/// Of the best rate that a plan has to reach.
const ENOUGH: f64 = 0.95;
/// Of the memory that is needed for it, a plan may take so much.
const TIMES: f64 = 2.0;

fn kept(q: Question) -> Kept {
    let plan = planned(&q);
    let planned = both(&q, &plan.settings);
    let mut best = planned;
    for settings in grid(&q) {
        let rates = both(&q, &settings);
        best = [best[0].max(rates[0]), best[1].max(rates[1])];
    }
    let buffers = BUFFERS.map(|buffer| *buffer(&mut plan.settings.clone()));
    let needed = BUFFERS.map(|buffer| needed(&q, &plan.settings, buffer, best));
    Kept {
        q,
        today: both(&q, &plan.today),
        planned,
        best,
        memory: buffers.iter().sum(),
        needed: needed.iter().sum(),
    }
}

/// The buffers that data passes: those of writing, and those of reading.
const BUFFERS: [fn(&mut Settings) -> &mut u64; 4] = [
    |s| &mut s.client.send,
    |s| &mut s.server.receive,
    |s| &mut s.server.send,
    |s| &mut s.client.receive,
];

/// The least of one buffer, to a tenth of it, with which the rates are nearly the best, all else as planned.
fn needed(
    q: &Question,
    planned: &Settings,
    buffer: fn(&mut Settings) -> &mut u64,
    best: [f64; 2],
) -> u64 {
    let is_enough = |bytes: u64| {
        let mut own = *planned;
        *buffer(&mut own) = bytes;
        let rates = both(q, &own);
        rates.iter().zip(best).all(|(rate, best)| *rate >= ENOUGH * best)
    };
    let mut enough = *buffer(&mut planned.clone());
    let mut little = 4096;
    while enough - little > enough / 10 {
        let middle = u64::midpoint(little, enough);
        if is_enough(middle) { enough = middle } else { little = middle }
    }
    enough
}

impl Kept {
    fn row(&self) -> String {
        let q = &self.q;
        let version = if q.version == NfsVersion::V3 { "3" } else { "4.2" };
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let pair = |rates: [f64; 2]| format!("{:.0} / {:.0}", rates[0], rates[1]);
        format!(
            "| {version} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |\n",
            q.path.rate,
            q.path.rtt,
            q.path.mtu,
            pair(self.today),
            pair(self.planned),
            pair(self.best),
            mib(self.memory),
            mib(self.needed)
        )
    }

    /// What of its promises it does not keep.
    fn broken(&self) -> Option<String> {
        let slow = (0..2).any(|way| self.planned[way] < ENOUGH * self.best[way]);
        // The kernel's own buffers are no cost of the plan.
        let own = BUFFERS.map(|buffer| *buffer(&mut planned(&self.q).today)).iter().sum::<u64>();
        let dear = self.memory > own.max((TIMES * self.needed as f64) as u64);
        (slow || dear).then(|| self.row())
    }
}

fn promised(seed: u64, count: usize) -> (String, Vec<String>) {
    let mut draws = Draws(seed);
    let paths: Vec<Question> = (0..count).map(|_| path(&mut draws)).collect();
    let middle = paths.len() / 2;
    let told = |q: &Question| {
        let kept = kept(*q);
        eprint!("{}", kept.row());
        kept
    };
    let all = |paths: &[Question]| paths.iter().map(told).collect::<Vec<_>>();
    let (first, second) = std::thread::scope(|scope| {
        let half = scope.spawn(|| all(&paths[..middle]));
        (all(&paths[middle..]), half.join().expect("no panic"))
    });
    let kept: Vec<Kept> = second.into_iter().chain(first).collect();
    let rows = kept.iter().map(Kept::row).collect();
    (rows, kept.iter().filter_map(Kept::broken).collect())
}

const HEAD: &str = "| version | rate | RTT | MTU | today, Mb/s, write / read | planned | best of all | planned buffers, MiB | needed |\n\
                    |---|---|---|--:|--:|--:|--:|--:|--:|\n";

/// A write of a file of seven seconds fills four fifths of the line with a plan, slow start included, and so does a read; where nothing was set both are far below.
#[test]
fn a_plan_fills_its_path() {
    let q = Question { file: 256 << 20, ..ask(Rate::mbit(300), Time::ms(120)) };
    let plan = planned(&q);
    let line = plan.path.payload_mbit;
    let (today, own) = (both(&q, &plan.today), both(&q, &plan.settings));
    for way in 0..2 {
        assert!(
            own[way] > 0.8 * line && today[way] < 0.8 * own[way],
            "{today:?} {own:?} of {line}"
        );
    }
}

/// Fifty random paths (`make plan-nfs`).
#[test]
#[ignore = "searches for many minutes"]
fn fifty_plans_keep_their_promise() {
    let (rows, broken) = promised(1, 50);
    println!("{HEAD}{rows}");
    assert!(broken.is_empty(), "{broken:?}");
}
