//! Starts the kernel with the guest in a directory, and reads what it leaves there.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use fullpipe_guest::boot::{self, Parts};
use fullpipe_guest::plan::{self, Plan};
use fullpipe_guest::record::{self, Head};

/// A record.
pub struct Record {
    /// Head of the record.
    pub head: Head,
    /// Body, as the kernel gave it.
    pub body: Vec<u8>,
}

/// Results of a run.
pub struct Run {
    /// The file of records.
    pub bytes: Vec<u8>,
}

impl Run {
    /// Its records.
    pub fn records(&self) -> Vec<Record> {
        let mut rest = &self.bytes[..];
        let mut records = Vec::new();
        while !rest.is_empty() {
            let head = Head::from_bytes(rest).expect("a whole head");
            let end = Head::SIZE + head.len as usize;
            records.push(Record { head, body: rest[Head::SIZE..end].to_vec() });
            rest = &rest[end..];
        }
        records
    }
}

/// Longest that a run may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a plan; none, and a word about it, if there is no kernel.
pub fn run(plan: &Plan) -> Option<Run> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let (Some(kernel), Some(init)) =
        (variable("FULLPIPE_TEST_KERNEL"), variable("FULLPIPE_TEST_INIT"))
    else {
        println!("skipped: FULLPIPE_TEST_KERNEL and FULLPIPE_TEST_INIT are not set");
        return None;
    };
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("fullpipe-in-kernel-{}-{number}", std::process::id());
    let root = env::temp_dir().join(name);
    let bytes = run_in(&root, &kernel, &init, plan);
    let removed = fs::remove_dir_all(&root);
    let bytes = bytes.expect("the guest runs");
    removed.expect("its directory can be removed");
    Some(Run { bytes })
}

fn run_in(root: &Path, kernel: &Path, init: &Path, plan: &Plan) -> io::Result<Vec<u8>> {
    for dir in boot::DIRECTORIES {
        fs::create_dir_all(root.join(dir))?;
    }
    fs::copy(init, root.join(boot::INIT))?;
    fs::write(root.join(plan::FILE), serde_json::to_string(plan)?)?;
    let words = ["panic=-1".to_string()];
    let memory_directory = Path::new("/dev/shm");
    let parts = Parts { kernel, memory_mib: 1024, memory_directory, seed: 1, words: &words };
    let mut command = boot::command(&parts, root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    wait(command.spawn()?)?;
    fs::read(root.join(record::FILE))
}

fn wait(mut kernel: Child) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        if let Some(status) = kernel.try_wait()? {
            // 6.12 says "Power down" and 6.1 "System halted"; for both it is a good end.
            let bad = || io::Error::other(format!("the guest ends with {status}"));
            return status.success().then_some(()).ok_or_else(bad);
        }
        if begin.elapsed() > PATIENCE {
            kernel.kill()?;
            kernel.wait()?;
            return Err(io::Error::other("the guest does not end"));
        }
        thread::sleep(Duration::from_millis(10));
    }
}
