//! `fullpipe kernel list`: contents of the cache.

use crate::args::KernelListArguments;
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::engine::linux::kernel::{Cache, Entry, Record};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Version of the JSON document.
const FORMAT: u32 = 1;

/// The document.
#[derive(Serialize)]
struct Listing {
    format: u32,
    directory: PathBuf,
    kernels: Vec<Kernel>,
}

#[derive(Serialize)]
struct Kernel {
    version: String,
    hz: u32,
    /// Contents: "tcp" or "nfs".
    contents: &'static str,
    configuration: String,
    /// Whether this version of fullpipe would build the same.
    current: bool,
    path: PathBuf,
    /// Record of the build; absent if it is damaged.
    built: Option<Record>,
    /// Damage, as text.
    damage: Option<String>,
}

/// Prints the kernels.
pub fn list(
    arguments: &KernelListArguments,
    cache: &Cache,
    output: &Output,
) -> Result<(), Failure> {
    let kernels = cache.list().into_iter().map(Kernel::new).collect();
    let listing = Listing { format: FORMAT, directory: cache.directory().to_path_buf(), kernels };
    match arguments.json {
        true => output.json(&listing),
        false => output.print(&listing.text()),
    }
}

impl Kernel {
    fn new(entry: Entry) -> Kernel {
        Kernel {
            version: entry.family.to_string(),
            hz: entry.hz.get(),
            contents: entry.contents.name(),
            configuration: entry.hash.clone(),
            current: entry.is_current(),
            path: entry.kernel(),
            damage: entry.record.as_ref().err().map(ToString::to_string),
            built: entry.record.ok(),
        }
    }

    fn text(&self) -> String {
        let state = match (&self.built, &self.damage) {
            (Some(built), _) => {
                let size = built.bytes as f64 / 1e6;
                let old = if self.current { "" } else { ", made by another fullpipe and not used" };
                format!("{}, {size:.1} MB, built {}{old}", built.source_version, built.built)
            }
            (None, damage) => format!("damaged: {}", damage.as_deref().unwrap_or_default()),
        };
        let (path, kernel) = (self.path.display(), self.contents);
        format!("{:<5} HZ {:<4} {kernel} {state}\n  {path}\n", self.version, self.hz)
    }
}

impl Listing {
    /// Writing to a string cannot fail.
    fn text(&self) -> String {
        let mut out = String::new();
        for kernel in &self.kernels {
            out += &kernel.text();
        }
        if self.kernels.is_empty() {
            let directory = self.directory.display();
            let _ = writeln!(out, "no kernels in {directory}; `fullpipe kernel build` builds one");
        }
        out
    }
}
