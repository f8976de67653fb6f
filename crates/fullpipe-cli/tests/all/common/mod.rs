//! Runs the program in an empty directory.
#![allow(dead_code)] // each test file uses a part

pub mod guests;
pub mod linux;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Two seconds of one flow; runs in a blink.
pub const SHORT: &str = r#"
title = "A short one"

[path]
rate = "100Mbit"
delay = { forward = "10ms", back = "0s" }

[hosts.sender]
kernel = "2.6.20"

[hosts.receiver]
kernel = "2.6.20"

[[flow]]
name = "bulk"
congestion = "reno"
duration = "2s"
"#;

/// An empty directory in which the program is run.
pub struct Desk {
    directory: TempDir,
}

/// Results of a call of the program.
pub struct Call {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Desk {
    pub fn new() -> Desk {
        Desk { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// With [`SHORT`] as `short.toml`.
    pub fn with_short() -> Desk {
        let desk = Desk::new();
        desk.write("short.toml", SHORT);
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Names in a directory, hidden ones too, sorted.
    pub fn names(&self, directory: &str) -> Vec<String> {
        names(&self.path(directory))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fullpipe"));
        command.args(arguments).current_dir(self.directory.path());
        command.env_remove("COLUMNS").env_remove("NO_COLOR").stdin(Stdio::null());
        command
    }

    pub fn call(&self, arguments: &[&str]) -> Call {
        Call::of(self.command(arguments).output().expect("the program starts"))
    }

    /// Starts the program; its output is kept for [`Call::wait`].
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

impl Call {
    pub fn of(output: Output) -> Call {
        Call {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    pub fn wait(child: Child) -> Call {
        Call::of(child.wait_with_output().expect("the program ends"))
    }

    /// Checks that the call ended with `code`; on failure the message has the output of the call.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Call {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Standard error contains each of `parts`.
    #[track_caller]
    pub fn complains(self, parts: &[&str]) -> Call {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
        self
    }

    /// Standard output contains each of `parts`, wherever its lines break.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Call {
        let text = self.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(text.contains(part), "no {part:?} in: {}", self.stdout);
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }
}
