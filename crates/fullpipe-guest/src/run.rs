//! State that the threads of a run share.

use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use fullpipe_guest::plan::Plan;
use fullpipe_guest::record;

use crate::error::{Context, Error, Result};
use crate::out::Out;
use crate::sys;

/// Time of CLOCK_MONOTONIC at which a run starts, ns: long after the path is set up, and the same in each run.
const START: u64 = 10_000_000_000;
/// Start of a run with a mount, ns of CLOCK_MONOTONIC: nfsd lets no client open files in the first 10 s of its life.
const START_WITH_MOUNT: u64 = 20_000_000_000;

static STARTS: AtomicU64 = AtomicU64::new(START);

/// Time from the end of the set-up to the start of a run in real time, ns; each flow adds to it.
const UNTIL_START: u64 = 50_000_000;
/// Time that the start of a flow's threads takes, ns.
const EACH_FLOW: u64 = 1_000_000;

static OUT: OnceLock<Mutex<Out>> = OnceLock::new();
static EVENTS: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// Something that happened to a flow.
pub struct Event {
    /// ns from the run's start.
    pub time_ns: u64,
    /// Number of the flow.
    pub flow: usize,
    /// Number of the event in [`record`].
    pub number: u64,
    /// Value of the event in [`record`].
    pub value: u64,
    /// Further bytes of the event in [`record`].
    pub more: Vec<u8>,
}

impl Event {
    /// An event of this moment, without further bytes.
    pub fn now(flow: usize, number: u64, value: u64) -> Event {
        Event { time_ns: time(), flow, number, value, more: Vec::new() }
    }
}

/// Sets the run's plan, before the first call of [`start`].
pub fn follow(plan: &Plan) {
    STARTS.store(if plan.nfs.is_empty() { START } else { START_WITH_MOUNT }, Ordering::Relaxed);
}

/// Sets the start of a run in real time, once its path is made.
pub fn begin(plan: &Plan) {
    let flows = plan.connections() + plan.datagrams.len();
    let start = sys::now() + UNTIL_START + flows as u64 * EACH_FLOW;
    STARTS.store(start, Ordering::Relaxed);
}

/// Time of CLOCK_MONOTONIC at which the run starts, ns.
pub fn start() -> u64 {
    STARTS.load(Ordering::Relaxed)
}

/// Opens the records; once, before anything can fail.
pub fn open() -> Result<()> {
    let out = Out::create(Path::new("/")).at(|| "the files of records and progress")?;
    let _ = OUT.set(Mutex::new(out));
    Ok(())
}

/// The records.
pub fn out() -> Result<MutexGuard<'static, Out>> {
    let out = OUT.get().ok_or_else(|| Error::new("records", "not open"))?;
    Ok(out.lock().unwrap_or_else(PoisonError::into_inner))
}

/// ns since the run's start. A look at the clock takes 1 ns in this kernel.
pub fn time() -> u64 {
    sys::now().saturating_sub(start())
}

/// Remembers that something happened.
pub fn remember(event: Event) {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner).push(event);
}

/// Records the events so far.
pub fn record_events(out: &mut Out) {
    let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    for event in events.drain(..) {
        let mut body = [event.number.to_ne_bytes(), event.value.to_ne_bytes()].concat();
        body.extend(event.more);
        out.record(record::EVENT, event.flow, event.time_ns, &body);
    }
}

/// Records a failure and ends the kernel.
pub fn fail(error: &Error) -> ! {
    println!("fullpipe-init: {error}");
    let (kind, text) = error.record();
    if let Some(out) = OUT.get() {
        // The thread that failed may hold the lock itself; the record then follows the file's contents.
        match out.try_lock() {
            Ok(mut out) => end_with(&mut out, kind, &text),
            Err(std::sync::TryLockError::Poisoned(out)) => {
                end_with(&mut out.into_inner(), kind, &text)
            }
            Err(std::sync::TryLockError::WouldBlock) => append(kind, &text),
        }
    }
    sys::power_off()
}

fn end_with(out: &mut Out, kind: u16, text: &str) {
    out.record(kind, 0, time(), text.as_bytes());
    if let Err(error) = out.flush() {
        println!("fullpipe-init: records: {error}");
    }
}

fn append(kind: u16, text: &str) {
    use std::io::Write;
    let mut body = text.as_bytes().to_vec();
    body.resize(body.len().next_multiple_of(8), 0);
    let len = body.len() as u32;
    let time_ns = time();
    let head = record::Head { kind, index: 0, len, time_ns };
    let bytes = [&head.to_bytes()[..], &body].concat();
    let file = std::fs::OpenOptions::new().append(true).open(Path::new("/").join(record::FILE));
    if let Err(error) = file.and_then(|mut file| file.write_all(&bytes)) {
        println!("fullpipe-init: records: {error}");
    }
}

/// A panic of any thread is a failure.
pub fn fail_on_panic() {
    panic::set_hook(Box::new(|info| fail(&Error::new("the guest", info))));
}
