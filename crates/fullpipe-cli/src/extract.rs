//! `fullpipe packets`: one connection of a capture as a file that people can share.

use crate::choice::Choice;
use crate::diagnose::captured::{Reading, nothing};
use crate::diagnose::inputs::Inputs;
use crate::failure::Failure;
use crate::interrupt::{self, Temporary};
use crate::output::note;
use crate::packets_arguments::PacketsArguments;
use fullpipe::capture::Share;
use fullpipe::captured::{self, Connection, extract};
use fullpipe::numbers::count;
use std::io::{IsTerminal, stdout};
use std::path::Path;

/// The name that means standard output.
const STDOUT: &str = "-";
/// Text that the first signal prints.
const STOPPING: &str = "stopping; nothing is written (once more to quit at once)";

/// Writes the packets of one connection.
pub fn packets(arguments: &PacketsArguments) -> Result<(), Failure> {
    let to_stdout = arguments.out.as_os_str() == STDOUT;
    if to_stdout && stdout().is_terminal() {
        let why = "standard output is a terminal; name a file, or a program after |";
        return Err(Failure::Input(format!("--out {STDOUT}: {why}")));
    }
    interrupt::listen(STOPPING)?;
    let files = Inputs::open(&arguments.files)?;
    if !files.are_captures()? {
        let name = files.all().first().map_or("", |own| &own.name);
        return Err(Failure::Input(format!("{name} is no capture (pcap, pcapng, .gz, .zst)")));
    }
    let mut watch = Reading::new(arguments.quiet);
    let inputs = captured::in_order(files.all().to_vec());
    let overview = captured::overview(&inputs, &mut watch).map_err(Failure::Input)?;

    // The busiest of those that are wanted.
    let wanted =
        Choice { pid: None, port: arguments.port, dst: arguments.dst.clone(), netns: None };
    let chosen = overview.busiest(&wanted.selection(&[]));
    let Some(index) = chosen.first() else {
        return Err(Failure::Input(nothing(&overview, &wanted.sought(&[]))));
    };
    let connection = &overview.connections.all()[*index];
    let comment = comment(connection, arguments.hide);
    let mut share = match to_stdout {
        true => Share::stream(Box::new(stdout()), &comment),
        false => Share::create(&arguments.out, &comment)?,
    };
    let _removed_by_signal = share.hidden().map(Temporary::new);
    extract::extract(&inputs, &overview, *index, arguments.hide, &mut share, &mut watch)
        .map_err(Failure::Input)?;
    if interrupt::stopped() {
        return Err(Failure::Interrupted);
    }
    let packets = share.finish()?;
    if !arguments.quiet {
        note(&written(&arguments.out, packets, connection, arguments.hide));
    }
    Ok(())
}

/// Comment of the file.
fn comment(own: &Connection, hides: bool) -> String {
    let [from, to] = own.ends;
    match hides {
        true => "One connection, without payload. Addresses and checksums were changed.".into(),
        false => format!("The connection {from} > {to}, without payload."),
    }
}

/// What was written, in a line.
fn written(path: &Path, packets: u64, own: &Connection, hides: bool) -> String {
    let [from, to] = own.ends;
    let kept = if hides {
        "addresses are hidden; ports and times are not"
    } else {
        "addresses are those of the capture; --hide changes them"
    };
    format!(
        "{}: {} packets of {from} > {to}, without payload; {kept}",
        path.display(),
        count(packets)
    )
}
