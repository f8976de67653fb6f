//! Guests with a clock that stands still. A shell stands in for the kernel. The real kernel is stopped, too, where it
//! has been built.

use super::*;
use crate::kernel::Family;
use crate::{Following, Samples, Stop, built, lower};
use fullpipe_base::trace::Control;
use fullpipe_base::units::Time;
use fullpipe_observe::flow::SendingEnd;
use fullpipe_scenario::{Resolved, Source};
use fullpipe_trace::recording::Recording;
use std::path::Path;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(1);
const SCENARIO: &str = "title = \"x\"\nduration = \"100s\"\n[path]\nrate = \"10Mbit\"\n\
    delay = { forward = \"5ms\", back = \"5ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\nhz = 1000\n[hosts.receiver]\nkernel = \"6.12\"\nhz = 1000\n\
    [[flow]]\nname = \"bulk\"\ncongestion = \"reno\"\nduration = \"100s\"\n";

fn resolved() -> Resolved {
    let source = Source::text("my.toml", SCENARIO);
    let scenario = fullpipe_scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    scenario.plans()[0].resolved.clone()
}

/// Follows `kernel`; `prepare` gets its directory before it starts. Returns the error's text.
fn failure(
    kernel: &Path,
    patience: Patience,
    prepare: impl Fn(&Path),
    control: impl FnOnce(u32) -> Stopper,
) -> String {
    let run = resolved();
    let mut asked = lower::lower(&run, Family::V6_12).expect("a plan");
    // A real kernel prints something then.
    asked.words.push("loglevel=7".into());
    let parts = Parts {
        kernel,
        memory_mib: asked.memory_mib,
        memory_directory: &memory::directory(),
        seed: 1,
        words: &asked.words,
    };
    let rootfs = RootFs::new(&asked.plan).expect("files");
    prepare(rootfs.path());
    let machine = Machine::start(&parts, rootfs, patience).expect("it starts");
    let mut control = control(machine.child.id());
    let samples = Samples::new(
        asked.stages,
        &[SendingEnd::default()],
        run.turns(),
        run.mss(),
        run.report.sample.0,
        run.duration.0,
    );
    let following = Following { machine, samples, records: None, reached: Time::ZERO };
    match following.follow(&mut Recording::default(), &mut control) {
        Err(Stop::Failed(why)) => why,
        Err(Stop::Refused(refusal)) => panic!("{refusal:?}"),
        Ok(outcome) => panic!("{outcome:?}"),
    }
}

/// Stops a process when the run has got to `at`.
struct Stopper {
    process: u32,
    at: Time,
}

impl Control for Stopper {
    fn go_on(&mut self, now: Time) -> bool {
        if now >= self.at {
            // SAFETY: kill takes two numbers.
            assert_eq!(unsafe { libc::kill(self.process as libc::pid_t, libc::SIGSTOP) }, 0);
        }
        true
    }
}

fn never(process: u32) -> Stopper {
    Stopper { process, at: Time(u64::MAX) }
}

/// A shell as the kernel: the first word of a kernel's command line is the script's name to it.
fn failure_of_script(script: &str, patience: Patience) -> String {
    let write = |rootfs: &Path| {
        std::fs::write(rootfs.join("uml_dir=uml"), script).expect("a script");
    };
    failure(Path::new("/bin/sh"), patience, write, never)
}

#[test]
fn a_guest_that_says_nothing_is_given_up_with_what_its_console_said() {
    let begun = Instant::now();
    let script = "for n in 1 2 3 4 5 6 7 8 9; do echo \"line $n \"; echo; done; kill -STOP $$";
    let why = failure_of_script(script, Patience { busy: LONG, silent: SHORT });
    assert!(begun.elapsed() >= SHORT && begun.elapsed() < LONG);
    assert!(
        why.starts_with("the guest's clock stands at 0 s for 1 s, in which it used 0 s"),
        "{why}"
    );
    let lines: Vec<&str> = why.lines().skip(1).collect();
    let last: Vec<String> = (2..=9).map(|n| format!("    line {n}")).collect();
    assert_eq!(lines, last);
}

#[test]
fn a_guest_that_spins_is_given_up_before_a_silent_one() {
    let begun = Instant::now();
    let script = "echo spinning; while :; do :; done";
    let why = failure_of_script(script, Patience { busy: SHORT, silent: LONG });
    assert!(begun.elapsed() < LONG);
    assert!(why.contains("it used 1 s of CPU\n    spinning"), "{why}");
}

/// The patience starts anew at each report of progress: this guest ends by itself after more than the patience.
#[test]
fn a_guest_whose_clock_moves_may_take_its_time() {
    let script = "n=0; while [ $n -lt 30 ]; do n=$((n + 1)); printf \"%08d\" $n > progress; \
        i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; /bin/sleep 0.1; done; exit 7";
    let patience = Patience { busy: SHORT, silent: SHORT };
    let why = failure_of_script(script, patience);
    assert_eq!(why, "at 0 s the guest ended with exit code 7");
}

/// Programs that a kernel has begun and stopped end with it, whether it is given up or ends by itself.
#[test]
fn a_guests_programs_end_with_it() {
    for last in ["kill -STOP $$", "exit 7"] {
        let script = format!("/bin/sleep 1000 & kill -STOP $!; echo $!; {last}");
        let why = failure_of_script(&script, Patience { busy: LONG, silent: SHORT });
        let program = why.lines().last().expect("its number").trim();
        let begun = Instant::now();
        while lives(program) {
            assert!(begun.elapsed() < LONG, "{why}");
            std::thread::sleep(SHORT / 100);
        }
    }
}

/// Whether a process is there and no corpse.
fn lives(process: &str) -> bool {
    assert!(process.parse::<u32>().is_ok(), "{process}");
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_kernel_that_is_stopped_is_given_up_with_its_time() {
    let kernel = match built(&resolved(), Family::V6_12) {
        Ok(kernel) => kernel,
        Err(why) => {
            assert!(std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none(), "{why}");
            return println!("skipped: {why}");
        }
    };
    let stopper = |process| Stopper { process, at: Time(500_000_000) };
    let patience = Patience { busy: LONG, silent: 3 * SHORT };
    let why = failure(&kernel, patience, |_| {}, stopper);
    let (said, console) = why.split_once('\n').expect("lines of the console");
    let at =
        said.strip_prefix("the guest's clock stands at ").and_then(|rest| rest.split(' ').next());
    let at: f64 = at.and_then(|at| at.parse().ok()).unwrap_or_else(|| panic!("{why}"));
    assert!((0.5..100.0).contains(&at) && said.contains(" s for 3 s, in which"), "{why}");
    assert!(console.lines().all(|line| line.starts_with("    ") && line.len() > 8), "{why}");
}
