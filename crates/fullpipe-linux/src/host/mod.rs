//! The engine `host`: this machine's kernel in real time, on an emulated path (`emulator/`).
//!
//! | file | concern |
//! |---|---|
//! | `support.rs` | the keys of a scenario that this machine does otherwise |
//! | `container.rs` | the guest as a process in namespaces of its own |

mod container;
mod support;

use super::emulator::{self, Emulator};
use super::machine::{Machine, PATIENCE};
use super::rootfs::{self, RootFs};
use super::samples::Samples;
use super::{Following, Stop, lower, memory, refused};
use fullpipe_base::trace::{Control, Sink};
use fullpipe_base::units::Time;
use fullpipe_scenario::Resolved;
use fullpipe_scenario::engine::{Engine, Failed, Outcome, Support};

/// The engine `host`.
pub struct ThisKernel;

/// The engine that runs scenarios on this machine's kernel.
pub static HOST: ThisKernel = ThisKernel;

impl Engine for ThisKernel {
    fn name(&self) -> &'static str {
        "host"
    }

    /// A run takes the time that it describes; this is the rate of a path of 10 Gb/s.
    fn pace(&self) -> f64 {
        8e5
    }

    fn support(&self, resolved: &Resolved) -> Vec<(String, Support)> {
        support::support(resolved)
    }

    fn ready(&self, _resolved: &Resolved) -> Result<(), String> {
        if !rootfs::has_init() {
            return Err("this program was built without the guest of the engine host".into());
        }
        rootfs::check()
    }

    fn run(
        &self,
        resolved: &Resolved,
        sink: &mut dyn Sink,
        control: &mut dyn Control,
    ) -> Result<Outcome, Failed> {
        let plan = lower::bare(resolved);
        let mut samples = Samples::of_run(emulator::stages(resolved), resolved, sink);
        let rootfs = RootFs::new(&plan).map_err(|e| Failed::Machine(rootfs::cannot_write(&e)))?;
        let (command, socket) = container::command(rootfs.path())
            .map_err(|e| Failed::Machine(format!("a socket: {e}")))?;
        let machine = Machine::spawn(command, rootfs, memory::directory(), PATIENCE)
            .map_err(Failed::Machine)?;
        samples.emulator = Some(Emulator::start(socket, resolved));
        let following = Following { machine, samples, records: None, reached: Time::ZERO };
        following.follow(sink, control).map_err(|stop| match stop {
            Stop::Refused(refusal) => refused::failed_on_this_kernel(&refusal, resolved),
            Stop::Failed(why) => Failed::Machine(why),
        })
    }
}
