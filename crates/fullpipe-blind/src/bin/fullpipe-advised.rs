//! The command `fullpipe-advised`: measures advice, and prints a page in Markdown.

use clap::{Args, Parser, Subcommand};
use fullpipe_blind::{advised, folder, work};
use std::path::PathBuf;
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
  fullpipe-advised cures --dir target/blind/1-500\n\n"
)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Advice on random paths without loss
    Paths(Drawn),
    /// Advice beside fasterdata's, tuned's and perfSONAR's values
    Lists(Drawn),
    /// Sizes of buffers by arithmetic beside bisected ones, on random paths
    Sizes(Drawn),
    /// Advice on the cases of a folder of blind cases
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
    match run(&Arguments::parse().what) {
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

fn run(what: &What) -> Result<String, String> {
    work::listen()?;
    let jobs = available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let about = |own: &Drawn| {
        format!("Seed {}, {} paths, simulator, worst of three seeds.", own.seed, own.count)
    };
    match what {
        What::Paths(own) => {
            let all = work::all("paths", own.count, jobs, |n| advised::path(own.seed, n))?;
            Ok(advised::paths_page(&about(own), &all))
        }
        What::Lists(own) => {
            let all = work::all("paths", own.count, jobs, |n| advised::listed(own.seed, n))?;
            Ok(advised::lists_page(&about(own), &all))
        }
        What::Sizes(own) => {
            let all = work::all("paths", own.count, jobs, |n| advised::sizes(own.seed, n))?;
            Ok(advised::sizes_page(&about(own), &all.concat()))
        }
        What::Cures { dir } => {
            let cases = folder::read(dir)?;
            let all = work::all("cases", cases.len(), jobs, |n| advised::cure(&cases[n]))?;
            Ok(advised::cures_page(&format!("{} cases.", all.len()), &all))
        }
    }
}
