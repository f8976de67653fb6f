//! Promise of a plan, on the simulator: nearly the best rate of all settings, for little more memory than this rate
//! needs.

use super::{ask, planned};
use crate::marked;
use fullpipe::engine;
use fullpipe::plan::nfs::settings::{Buffers, Settings};
use fullpipe::plan::nfs::{Question, scenario};
use fullpipe::scenario::{NfsVersion, Source, load};
use fullpipe_sim::trace::{Control, Event, EventKind, FlowSample, Sink, StageInfo, StageSample};
use fullpipe_sim::units::{Rate, Time};
use std::cell::Cell;
use std::path::Path;
use std::sync::Mutex;

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
    let time = LEAST_TIME.max(rtt.as_secs_f64() * ROUND_TRIPS);
    q.file = q.file.min((rate.0 as f64 / 8.0 * time) as u64).next_multiple_of(1 << 20);
    q
}

/// Least seconds and round trips of a file at the path's rate, where the plan's own proof has no less.
const LEAST_TIME: f64 = 2.0;
const ROUND_TRIPS: f64 = 100.0;

/// The page with the results.
const PAGE: &str = "docs/nfs.md";

/// Ways of a file.
const WAYS: [&str; 2] = ["write", "read"];

/// When a program began, and when it was done: on all of its connections at once.
#[derive(Default)]
struct Program {
    began: Cell<Option<Time>>,
    done: Cell<Option<Time>>,
}

impl Sink for &Program {
    fn stages(&mut self, _stages: &[StageInfo]) {}
    fn flow(&mut self, _sample: &FlowSample) {}
    fn stage(&mut self, _sample: &StageSample) {}

    fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::Accepted => self.began.set(Some(event.time)),
            EventKind::Finished => self.done.set(Some(event.time)),
            _ => {}
        }
    }
}

/// Control that stops a run when a program is done, or after a time.
struct Until<'a>(&'a Program, Time);

impl Control for Until<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        let late = self.0.began.get().is_some_and(|began| now > began + self.1);
        self.0.done.get().is_none() && !late
    }
}

/// Mb/s of a file that way, if that is more than `bar`: slower runs are given up when they are late.
fn faster(q: &Question, settings: &Settings, way: usize, bar: f64) -> Option<f64> {
    let text = scenario::scenario(q, &[("s", *settings)]);
    let scenario = load(&Source::text("plan.toml", &text), &[], &[]).expect("a plan's scenario");
    let name = format!("s, {}", WAYS[way]);
    let plan = scenario.plans().iter().find(|plan| plan.name() == name).expect("both ways");
    // No test reads the samples.
    let mut run = plan.resolved.clone();
    run.report.sample = run.report.interval;
    let program = Program::default();
    let bits = q.file as f64 * 8.0;
    let mut until = Until(&program, Time::secs(1 + (bits / (bar * 1e6)).min(1e6) as u64));
    let engine = engine::find("sim").expect("the simulator");
    engine.run(&run, &mut &program, &mut until).unwrap_or_else(|failed| panic!("{failed:?}"));
    let took = program.done.get()? - program.began.get()?;
    Some(bits / took.as_secs_f64() / 1e6).filter(|rate| *rate > bar)
}

fn both(q: &Question, settings: &Settings) -> [f64; 2] {
    [0, 1].map(|way| faster(q, settings, way, 0.0).expect("to the end"))
}

/// All settings that are tried: buffers in powers of four, with a read-ahead of half of them; sizes, slots and connections.
fn grid(q: &Question) -> Vec<Settings> {
    let plan = planned(q);
    let slots: &[u64] = match q.version {
        NfsVersion::V3 => &[16, 65536],
        NfsVersion::V4_2 => &[16, 64],
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

/// Result of a plan.
struct Kept {
    q: Question,
    /// Mb/s of today's settings and of the planned ones, of writing and of reading.
    today: [f64; 2],
    planned: [f64; 2],
    /// The most of all settings; none where the planned ones have nearly all that the line carries, so that none can be much better.
    best: [Option<f64>; 2],
    /// Bytes of the buffers that data passes, both ways together: planned, and the least that reach 95 % of the best.
    memory: u64,
    needed: u64,
}

/// Share of the best rate that a plan has to reach.
const ENOUGH: f64 = 0.95;
/// Ratio of a plan's memory to the needed memory, at most.
const TIMES: f64 = 2.0;

fn kept(q: Question) -> Kept {
    let plan = planned(&q);
    let planned = both(&q, &plan.settings);
    let best = [0, 1].map(|way| {
        let own = planned[way];
        let better = |best, settings: &Settings| faster(&q, settings, way, best).unwrap_or(best);
        (own < ENOUGH * plan.path.payload_mbit).then(|| grid(&q).iter().fold(own, better))
    });
    let own = |own: Buffer| *(own.buffer)(&mut plan.settings.clone());
    // Where the best rate is unknown the planned rate replaces it, which needs no more.
    let most = [0, 1].map(|way| best[way].unwrap_or(planned[way]));
    let needed = BUFFERS.map(|own| needed(&q, &plan.settings, own, most[own.way]));
    Kept {
        q,
        today: both(&q, &plan.today),
        planned,
        best,
        memory: BUFFERS.map(own).iter().sum(),
        needed: needed.iter().sum(),
    }
}

/// A buffer of a direction of data.
#[derive(Clone, Copy)]
struct Buffer {
    way: usize,
    buffer: fn(&mut Settings) -> &mut u64,
}

const BUFFERS: [Buffer; 4] = [
    Buffer { way: 0, buffer: |s| &mut s.client.send },
    Buffer { way: 0, buffer: |s| &mut s.server.receive },
    Buffer { way: 1, buffer: |s| &mut s.server.send },
    Buffer { way: 1, buffer: |s| &mut s.client.receive },
];

/// The least size of one buffer, to a tenth of it, at which its data is nearly as fast as the best, all else as
/// planned.
fn needed(q: &Question, planned: &Settings, own: Buffer, best: f64) -> u64 {
    let Buffer { way, buffer } = own;
    let is_enough = |bytes: u64| {
        let mut settings = *planned;
        *buffer(&mut settings) = bytes;
        faster(q, &settings, way, ENOUGH * best).is_some()
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
        let best = self.best.map(|best| best.map_or("–".into(), |best| format!("{best:.0}")));
        let line = planned(q).path.payload_mbit;
        format!(
            "| {version} | {} | {} | {} | {line:.0} | {} | {} | {} | {:.1} | {:.1} |\n",
            q.path.rate,
            q.path.rtt,
            q.path.mtu,
            pair(self.today),
            pair(self.planned),
            best.join(" / "),
            mib(self.memory),
            mib(self.needed)
        )
    }

    /// Promises that it does not keep.
    fn broken(&self) -> Option<String> {
        let slow =
            (0..2).any(|way| self.best[way].is_some_and(|best| self.planned[way] < ENOUGH * best));
        // The kernel's own buffers are no cost of the plan.
        let own = BUFFERS.map(|own| *(own.buffer)(&mut planned(&self.q).today)).iter().sum::<u64>();
        let dear = self.memory > own.max((TIMES * self.needed as f64) as u64);
        (slow || dear).then(|| self.row())
    }
}

/// The random paths, with their numbers.
fn paths() -> Vec<(usize, Question)> {
    let mut draws = Draws(1);
    (0..50).map(|at| (at, path(&mut draws))).collect()
}

/// Results of the promises. Two are searched at a time, and printed as they are done.
fn promised() -> Vec<Kept> {
    let left = Mutex::new(paths().into_iter());
    let search = || {
        let mut all = Vec::new();
        let next = || left.lock().expect("no panic").next();
        while let Some((at, q)) = next() {
            let kept = kept(q);
            eprint!("{}", kept.row());
            all.push((at, kept));
        }
        all
    };
    let mut all = std::thread::scope(|scope| {
        let other = scope.spawn(search);
        let mut all = search();
        all.extend(other.join().expect("no panic"));
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, kept)| kept).collect()
}

const HEAD: &str = "| version | rate | RTT | MTU | line carries, Mb/s | today, write / read | planned | best of all | planned buffers, MiB | needed |\n\
                    |---|---|---|--:|--:|--:|--:|--:|--:|--:|\n";

/// A write of a file of seven seconds fills four fifths of the line with a plan, slow start included, and so does a
/// read. With the defaults both are far below.
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

/// Two of them, with and without a grid, are as the page has them.
#[test]
fn two_of_the_fifty_keep_it_still() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = std::fs::read_to_string(page).expect("the page");
    for (_, q) in paths().into_iter().filter(|(at, _)| [22, 40].contains(at)) {
        let kept = kept(q);
        assert!(page.contains(&kept.row()), "`make plan-nfs`: {}", kept.row());
        assert_eq!(kept.broken(), None);
    }
}

/// Fifty random paths (`make plan-nfs`), which the page reports.
#[test]
#[ignore = "searches for many minutes"]
fn fifty_plans_keep_their_promise() {
    let all = promised();
    let table = format!("{HEAD}{}", all.iter().map(Kept::row).collect::<String>());
    println!("{table}");
    marked::rewritten(PAGE, "nfs-plans", &table);
    let broken: Vec<String> = all.iter().filter_map(Kept::broken).collect();
    assert!(broken.is_empty(), "{broken:?}");
}
