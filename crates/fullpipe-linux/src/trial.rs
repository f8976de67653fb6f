//! Boots a cached kernel for a moment, which shows whether runs on it can begin on this machine.

use super::kernel::Entry;
use super::machine::Patience;
use super::{LINUX, Linux};
use fullpipe_base::trace::Control;
use fullpipe_base::units::Time;
use fullpipe_scenario::engine::{Engine, Failed, Support};
use fullpipe_scenario::{Resolved, Source};
use fullpipe_trace::recording::Recording;
use std::time::{Duration, Instant};

/// Longest time that a boot may take before it is given up: CPU time, and time without any sign of life.
const PATIENCE: Patience =
    Patience { busy: Duration::from_secs(30), silent: Duration::from_secs(60) };

/// Boots the kernel of `entry`, has its guest move data for 10 ms of virtual time, and lets it end. Returns the
/// wall time that this takes.
///
/// # Errors
/// The guest did not start or did not reach its end; says why, with the kernel's last lines.
pub fn boot(entry: &Entry) -> Result<Duration, String> {
    let begun = Instant::now();
    let resolved = scenario(entry)?;
    let linux = Linux { as_kernel: Some(entry.family) };
    refused(&linux, &resolved)?;
    let (mut trace, mut to_the_end) = (Recording::default(), ToTheEnd);
    let ended = linux.run_on(&entry.kernel(), PATIENCE, &resolved, &mut trace, &mut to_the_end);

    match ended {
        Ok(_) => Ok(begun.elapsed()),
        Err(Failed::Scenario(why) | Failed::Machine(why)) => Err(why),
    }
}

/// A short path for that kernel.
fn scenario(entry: &Entry) -> Result<Resolved, String> {
    let host = format!("kernel = \"{}\"\nhz = {}\n", entry.family, entry.hz);
    let text = format!(
        "title = \"boot\"\nduration = \"10ms\"\n[path]\nrate = \"100Mbit\"\n\
         delay = {{ forward = \"1ms\", back = \"1ms\" }}\n\
         [hosts.sender]\n{host}[hosts.receiver]\n{host}\
         [[flow]]\nname = \"hello\"\ncongestion = \"reno\"\nduration = \"10ms\"\n"
    );
    let scenario = fullpipe_scenario::load(&Source::text("boot.toml", &text), &[], &[]);
    let scenario = scenario.map_err(|errors| errors.to_string())?;
    Ok(scenario.plans()[0].resolved.clone())
}

/// Fails if the engine refuses a key of the path.
fn refused(linux: &Linux, resolved: &Resolved) -> Result<(), String> {
    let mut keys = linux.support(resolved).into_iter();
    match keys.find(|(_, support)| matches!(support, Support::Refused(_))) {
        Some((key, _)) => Err(format!("{} refuses {key}", LINUX.name())),
        None => Ok(()),
    }
}

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _: Time) -> bool {
        true
    }
}
