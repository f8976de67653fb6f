//! The real kernel in virtual time: user-mode Linux with a clock that stands still while it computes.
//!
//! | file | concern |
//! |---|---|
//! | `lower/`, `topology.rs`, `nic.rs` | the guest's plan: hosts, flows, the path as routers with qdiscs, the hosts' cards |
//! | `realise/` | the guest's elements for each [`fullpipe_scenario::Impairment`] of a path element |
//! | `kernel/` | the kernel: built on the user's machine from the distribution's source |
//! | `rootfs.rs`, `memory.rs`, `machine.rs` | the guest's files, its memory and its process |
//! | `refused.rs` | values that the kernel does not take, by the scenario's keys |
//! | `records.rs`, `samples.rs`, `flows.rs`, `counters.rs` | its records, as the trace's rows |
//! | `host/`, `emulator/` | the engine `host`: this machine's kernel, and the path in front of it |
//!
//! The guest itself is the crate `fullpipe-guest`.

mod counters;
pub mod doctor;
mod emulator;
mod flows;
pub mod host;
pub mod kernel;
mod lower;
mod machine;
mod memory;
mod nic;
mod realise;
mod records;
mod refused;
mod rootfs;
mod samples;
mod topology;
mod trial;

pub use memory::directory as memory_directory;
pub use trial::boot;

use fullpipe_base::trace::{Control, Sink};
use fullpipe_base::units::Time;
use fullpipe_guest::boot::Parts;
use fullpipe_guest::plan::Plan;
use fullpipe_guest::refusal::Refusal;
use fullpipe_scenario::Resolved;
use fullpipe_scenario::engine::{Engine, Failed, Outcome, Support};
use kernel::{Cache, Contents, Family, Hz, Wanted};
use lower::Lowered;
use machine::{Machine, PATIENCE, Patience, State};
use records::Records;
use rootfs::RootFs;
use samples::Samples;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Pause between two looks at the guest's records.
const PAUSE: Duration = Duration::from_millis(5);

/// The engine `linux`: runs scenarios on user-mode Linux.
pub struct Linux {
    /// The kernel that runs scenarios of all kernels; none: each one's own, where there is one.
    as_kernel: Option<Family>,
}

/// The engine that runs scenarios on their own kernels.
pub static LINUX: Linux = Linux { as_kernel: None };

/// An engine for each of [`Family::ALL`].
static AS_KERNEL: [Linux; Family::ALL.len()] = {
    let mut all = [const { Linux { as_kernel: None } }; Family::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at].as_kernel = Some(Family::ALL[at]);
        at += 1;
    }
    all
};

impl Linux {
    /// The kernel for `resolved`.
    fn family(&self, resolved: &Resolved) -> Family {
        self.as_kernel
            .or_else(|| resolved.hosts.sender.config.kernel.parse().ok())
            .unwrap_or_default()
    }
}

impl Engine for Linux {
    fn name(&self) -> &'static str {
        "linux"
    }

    /// 140,000 frames were measured (10 Gb/s, MTU 1500 and 9000); a third of them are ACKs.
    fn pace(&self) -> f64 {
        7e4
    }

    fn kernels(&self) -> Vec<&'static str> {
        Family::ALL.map(Family::name).into()
    }

    fn kernel(&self, resolved: &Resolved) -> Option<&'static str> {
        Some(self.family(resolved).name())
    }

    fn as_kernel(&self, version: &str) -> Option<&'static dyn Engine> {
        let family = version.parse().ok();
        let found = AS_KERNEL.iter().find(|engine| family.is_some() && engine.as_kernel == family);
        found.map(|engine| engine as &dyn Engine)
    }

    fn support(&self, resolved: &Resolved) -> Vec<(String, Support)> {
        lower::support(resolved, self.family(resolved))
    }

    fn ready(&self, resolved: &Resolved) -> Result<(), String> {
        if !rootfs::has_init() {
            return Err("this program was built without the guest of the engine linux".into());
        }
        rootfs::check()?;
        memory::check()?;
        built(resolved, self.family(resolved)).map(drop)
    }

    fn check(&self, resolved: &Resolved) -> Result<(), String> {
        lower::lower(resolved, self.family(resolved)).map(drop)
    }

    fn run(
        &self,
        resolved: &Resolved,
        sink: &mut dyn Sink,
        control: &mut dyn Control,
    ) -> Result<Outcome, Failed> {
        let kernel = built(resolved, self.family(resolved)).map_err(Failed::Machine)?;
        self.run_on(&kernel, PATIENCE, resolved, sink, control)
    }
}

impl Linux {
    /// Runs `resolved` on that kernel, a program of this engine's family.
    fn run_on(
        &self,
        kernel: &Path,
        patience: Patience,
        resolved: &Resolved,
        sink: &mut dyn Sink,
        control: &mut dyn Control,
    ) -> Result<Outcome, Failed> {
        let family = self.family(resolved);
        let asked = lower::lower(resolved, family).map_err(Failed::Scenario)?;
        let Lowered { plan, words, stages, memory_mib } = asked;
        let samples = Samples::of_run(stages, resolved, sink);
        let parts = Parts {
            kernel,
            memory_mib,
            memory_directory: &memory::directory(),
            seed: resolved.seed,
            words: &words,
        };

        // The guest finds its init and its plan in its root directory, and writes its records there.
        let rootfs = RootFs::new(&plan).map_err(|e| Failed::Machine(rootfs::cannot_write(&e)))?;
        let machine = Machine::start(&parts, rootfs, patience).map_err(Failed::Machine)?;
        let following = Following { machine, samples, records: None, reached: Time::ZERO };
        following.follow(sink, control).map_err(|stop| match stop {
            Stop::Refused(refusal) => refused::failed(&refusal, resolved, family),
            Stop::Failed(why) => Failed::Machine(why),
        })
    }
}

/// The plan of the guest for `resolved`, of which [`Engine::support`] refuses nothing.
///
/// # Errors
/// The key that is refused after all.
pub fn plan(resolved: &Resolved) -> Result<Plan, String> {
    lower::lower(resolved, LINUX.family(resolved)).map(|asked| asked.plan)
}

/// Words of the kernel's command line for `resolved`: parameters of modules.
///
/// # Errors
/// As [`plan`].
pub fn words(resolved: &Resolved) -> Result<Vec<String>, String> {
    lower::lower(resolved, LINUX.family(resolved)).map(|asked| asked.words)
}

/// Release of the built kernel that runs `resolved`, for instance "6.12.117"; none where it is not known.
pub fn release(resolved: &Resolved) -> Option<String> {
    let wanted = wanted(resolved, LINUX.family(resolved)).ok()?;
    let entry = Cache::of_user().ok()?.find(&wanted)?;
    entry.record.ok().map(|record| record.source_version)
}

/// The kernel for `resolved`, with the HZ of its hosts, and with NFS where that is asked for.
fn wanted(resolved: &Resolved, family: Family) -> Result<Wanted, String> {
    let contents = if resolved.nfs.is_empty() { Contents::Tcp } else { Contents::Nfs };
    Ok(Wanted { hz: resolved.hosts.sender.config.hz.to_string().parse()?, family, contents })
}

/// Path of the built kernel that the run needs.
fn built(resolved: &Resolved, family: Family) -> Result<PathBuf, String> {
    let wanted = wanted(resolved, family)?;
    let cache = Cache::of_user().map_err(|e| e.to_string())?;
    let found = cache.find(&wanted).map(|entry| entry.kernel());
    found.ok_or_else(|| {
        Missing { wanted, others: others(&cache, wanted) }
            .describe(|hz| format!("--set hosts.sender.hz={hz} --set hosts.receiver.hz={hz}"))
    })
}

/// The HZ of the built kernels that are else as wanted.
fn others(cache: &Cache, wanted: Wanted) -> Vec<Hz> {
    Hz::ALL.into_iter().filter(|hz| cache.find(&Wanted { hz: *hz, ..wanted }).is_some()).collect()
}

/// A kernel that has not been built.
pub struct Missing {
    wanted: Wanted,
    /// HZ of similar kernels that have been built.
    others: Vec<Hz>,
}

impl Missing {
    /// The kernel that `resolved` needs, if it is missing.
    pub fn of(resolved: &Resolved) -> Option<Missing> {
        let family = LINUX.family(resolved);
        let (wanted, cache) = (wanted(resolved, family).ok()?, Cache::of_user().ok()?);
        let missing = cache.find(&wanted).is_none();
        missing.then(|| Missing { wanted, others: others(&cache, wanted) })
    }

    /// Text on what is missing, and how to get it; `option` makes the option for another HZ.
    pub fn describe(&self, option: impl Fn(Hz) -> String) -> String {
        let Missing { wanted, others } = self;
        let Wanted { family, hz, contents } = wanted;
        let mut build = format!("fullpipe kernel build --version {family} --hz {hz}");
        if *contents != Contents::default() {
            build += &format!(" --config {contents}");
        }
        let others: String = others
            .iter()
            .map(|hz| format!("; there is one with HZ {hz}, to run that: {}", option(*hz)))
            .collect();
        format!("{wanted} has not been built; to build it: {build}{others}")
    }
}

/// An end before the time.
enum Stop {
    /// The kernel does not take a value.
    Refused(Refusal),
    /// Something went wrong.
    Failed(String),
}

/// A guest that is listened to.
struct Following {
    machine: Machine,
    samples: Samples,
    /// The guest's records, from when it begins.
    records: Option<Records>,
    /// Up to which moment that is.
    reached: Time,
}

impl Following {
    /// Passes the guest's records on to the sink, until its end. Control is asked whether there are samples or not: a
    /// guest that stands still has none.
    fn follow(mut self, sink: &mut dyn Sink, control: &mut dyn Control) -> Result<Outcome, Stop> {
        loop {
            let state = self.machine.state().map_err(|e| self.failed(e.to_string()))?;
            let more = self.read().map_err(|e| self.failed(e.to_string()))?;

            // A machine that has ended may have left records that are not read yet.
            let ended = matches!(state, State::Ended(_)) && !more;
            if let Some(time) = self.samples.emit(sink, ended) {
                self.reached = time;
            }
            if !control.go_on(self.reached) {
                return Ok(self.outcome(false));
            }
            if let Some(outcome) = self.judge(state, more)? {
                return Ok(outcome);
            }
            if !more {
                sleep(PAUSE);
            }
        }
    }

    /// Reads the records that have arrived; whether there were any.
    fn read(&mut self) -> io::Result<bool> {
        if self.records.is_none() {
            self.records = self.machine.records().ok().map(Records::new);
        }
        let Some(records) = &mut self.records else { return Ok(false) };
        let more = records.read_on()?;
        while let Some((head, body)) = records.next() {
            self.samples.take(head, body);
        }
        Ok(more)
    }

    /// The end of the run, if `state` is one; not while there is more to read.
    fn judge(&mut self, state: State, more: bool) -> Result<Option<Outcome>, Stop> {
        // The guest's own reasons are better than those that its machine shows.
        if let Some(refusal) = self.samples.refused.take() {
            return Err(Stop::Refused(refusal));
        }
        if let Some(why) = self.samples.failed.take() {
            return Err(self.failed(format!("in the guest: {why}")));
        }
        match state {
            State::Hopeless(why) => Err(self.failed(why)),
            State::Ended(_) if more => Ok(None),
            State::Ended(_) if self.samples.done => Ok(Some(self.outcome(true))),
            State::Ended(status) => {
                let (at, how) = (self.reached.as_secs_f64(), self.machine.end(status));
                Err(self.failed(format!("at {at} s {how}")))
            }
            State::Running => Ok(None),
        }
    }

    fn outcome(&self, complete: bool) -> Outcome {
        Outcome { end: self.reached, complete, segments: self.samples.segments }
    }

    /// An end for this reason, with the kernel's last words.
    fn failed(&self, why: String) -> Stop {
        let cause = self.machine.cause().unwrap_or_default();
        Stop::Failed(format!("{cause}{why}{}", self.machine.last_lines()))
    }
}
