//! The command `fullpipe-advised`: measures advice, and prints a page in Markdown.

use clap::{Args, Parser, Subcommand};
use fullpipe_blind::advised::{self, Measured, record};
use fullpipe_blind::{folder, work};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;

/// Measures advice: on random paths, beside fixed lists, and on blind cases
#[derive(Debug, Parser)]
#[command(
    name = "fullpipe-advised",
    before_help = "Examples:
  fullpipe-advised paths --seed 1 --count 60
  fullpipe-advised lists --seed 2 --count 50
  fullpipe-advised sizes --seed 3 --count 30
  fullpipe-advised show --seed 1 --number 6 > path.toml
  fullpipe-advised cures --dir target/blind/1-500\n\n"
)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Keep what was measured in this file, which must be new: a line of JSON for each path or case
    #[arg(long, value_name = "FILE", global = true)]
    record: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Advice on random paths without loss
    Paths(Drawn),
    /// Advice beside fasterdata's, tuned's and perfSONAR's values
    Lists(Drawn),
    /// Sizes of buffers by arithmetic beside bisected ones, on random paths
    Sizes(Drawn),
    /// The scenario of one random path, for `fullpipe advise`
    Show {
        /// Seed of the set
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Number of the path: its name begins with it
        #[arg(long)]
        number: usize,
    },
    /// Advice on the cases of a folder of blind cases that a setting cures, and where nothing is to be set
    Cures {
        /// The folder
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
    },
}

/// A set of random paths.
#[derive(Debug, Args)]
struct Drawn {
    /// Seed of the set
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Paths
    #[arg(long, default_value_t = 60)]
    count: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(page) => {
            print!("{page}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(if why.ends_with(work::STOPPED) { 130 } else { 2 })
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, String> {
    work::listen()?;
    // Before anything is measured, so that no measurement is lost.
    let file = arguments.record.as_deref().map(new).transpose()?;
    match &arguments.what {
        What::Paths(own) => done(file, &own.about(), &own.each(advised::path)?),
        What::Lists(own) => done(file, &own.about(), &own.each(advised::listed)?),
        What::Sizes(own) => done(file, &own.about(), &own.each(advised::sizes)?.concat()),
        What::Show { seed, number } => Ok(advised::drawn(*seed, *number).1),
        What::Cures { dir } => {
            let mut cases = folder::read(dir)?;
            cases.retain(advised::is_judged);
            let all = work::all("cases", cases.len(), jobs(), |n| advised::cure(&cases[n]))?;
            done(file, &format!("{} cases.", all.len()), &all)
        }
    }
}

impl Drawn {
    fn about(&self) -> String {
        format!("Seed {}, {} paths, simulator, worst of three seeds.", self.seed, self.count)
    }

    fn each<T: Send>(
        &self,
        measure: impl Fn(u64, usize) -> Result<T, String> + Sync,
    ) -> Result<Vec<T>, String> {
        work::all("paths", self.count, jobs(), |n| measure(self.seed, n))
    }
}

fn jobs() -> usize {
    available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// The page, once the record is kept.
fn done<T: Measured>(file: Option<File>, about: &str, all: &[T]) -> Result<String, String> {
    if let Some(mut file) = file {
        let kept = file.write_all(record::written(all).as_bytes());
        kept.map_err(|why| format!("cannot write the record: {why}"))?;
    }
    Ok(advised::page(about, all))
}

fn new(file: &Path) -> Result<File, String> {
    File::create_new(file).map_err(|why| format!("cannot write {}: {why}", file.display()))
}
