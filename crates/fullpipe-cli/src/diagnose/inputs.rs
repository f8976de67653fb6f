//! Files that are to be diagnosed, standard input among them.

use crate::failure::Failure;
use crate::interrupt;
use fullpipe::captured::{HEAD, Input, is_capture};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Name of standard input in messages.
const STDIN: &str = "standard input";

/// Time between two looks for a signal.
const LOOKS: Duration = Duration::from_millis(50);

/// Files, each of which can be read several times.
pub struct Inputs {
    all: Vec<Input>,
    /// Contents of standard input, in files that have no name.
    _kept: Vec<File>,
}

impl Inputs {
    /// Opens files; "-" is standard input, which is read to its end.
    ///
    /// # Errors
    /// Standard input cannot be read, or kept.
    pub fn open(files: &[PathBuf]) -> Result<Inputs, Failure> {
        let mut inputs = Inputs { all: Vec::new(), _kept: Vec::new() };
        for file in files {
            if file.as_os_str() != "-" {
                inputs.all.push(Input { name: file.display().to_string(), path: file.clone() });
                continue;
            }
            let kept = kept().map_err(|why| Failure::Input(format!("{STDIN}: {why}")))?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", kept.as_raw_fd()));
            inputs.all.push(Input { name: STDIN.into(), path });
            inputs._kept.push(kept);
        }
        Ok(inputs)
    }

    /// The files.
    pub fn all(&self) -> &[Input] {
        &self.all
    }

    /// Whether they are captures; false where there is none.
    ///
    /// # Errors
    /// A file cannot be read, or only some are captures.
    pub fn are_captures(&self) -> Result<bool, Failure> {
        let mut captures = Vec::new();
        for own in &self.all {
            let is = begins_as_capture(own)
                .map_err(|why| Failure::Input(format!("{}: {why}", own.name)))?;
            captures.push(is);
        }
        let is_any = captures.contains(&true);
        if let Some((own, _)) = self.all.iter().zip(&captures).find(|(_, is)| is_any && !**is) {
            let text = format!(
                "{} is no capture, and the others are: diagnose captures and texts apart",
                own.name
            );
            return Err(Failure::Input(text));
        }
        Ok(is_any)
    }
}

/// Standard input as a file without a name.
fn kept() -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    let mut copy = file.try_clone()?;
    let (done, wait) = mpsc::channel();

    // A pipe may stall for as long as it likes: a signal ends the wait, not the read.
    thread::spawn(move || done.send(io::copy(&mut io::stdin().lock(), &mut copy)));
    loop {
        match wait.recv_timeout(LOOKS) {
            Ok(copied) => {
                copied?;
                break;
            }
            Err(RecvTimeoutError::Timeout) if !interrupt::stopped() => {}
            Err(_) => break,
        }
    }
    file.rewind()?;
    Ok(file)
}

fn begins_as_capture(own: &Input) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(&own.path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(is_capture(&head))
}
