//! The command `fullpipe`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fullpipe_cli::main_with(std::env::args_os())
}
