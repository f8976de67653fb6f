//! `fullpipe completions` and `fullpipe man`: the command's arguments for shells and for man(1).

use crate::args::{Arguments, TEMPLATE};
use crate::failure::Failure;
use crate::output::{Output, note};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the program.
const NAME: &str = "fullpipe";

/// Options of `fullpipe completions`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe completions bash > ~/.local/share/bash-completion/completions/fullpipe
  fullpipe completions zsh > ~/.zfunc/_fullpipe
  fullpipe completions fish > ~/.config/fish/completions/fullpipe.fish\n\n")]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// Options of `fullpipe man`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe man ~/.local/share/man/man1                 then: man fullpipe-run\n\n")]
pub struct ManArguments {
    /// The directory for the pages, which replace older ones; it is made where there is none
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// Prints the completions of a shell.
pub fn completions(arguments: &CompletionsArguments, output: &Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), NAME, &mut script);
    output.print(&String::from_utf8_lossy(&script))
}

/// Writes a page for the program and for each of its commands.
pub fn man(arguments: &ManArguments) -> Result<(), Failure> {
    let mut command = Arguments::command().disable_help_subcommand(true);

    // `build` fills in the names that the pages print.
    command.build();
    let cannot = |path: &Path, e: io::Error| {
        Failure::environment(format!("cannot write {}", path.display()), e)
    };
    fs::create_dir_all(&arguments.dir).map_err(|e| cannot(&arguments.dir, e))?;

    let pages = pages(&command).map_err(|e| cannot(&arguments.dir, e))?;
    for (name, page) in &pages {
        let path = arguments.dir.join(name);
        fs::write(&path, page).map_err(|e| cannot(&path, e))?;
    }
    note(&format!("{} man pages: {}", pages.len(), arguments.dir.display()));
    Ok(())
}

/// File name and text of a command's page, and of the pages of those below it.
fn pages(command: &Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    text.extend(examples(command).into_bytes());

    let mut all = vec![(page.get_filename(), text)];
    for below in command.get_subcommands() {
        all.extend(pages(below)?);
    }
    Ok(all)
}

/// The examples of a command's help as a section of its page.
fn examples(command: &Command) -> String {
    let help = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().skip(1).filter(|line| !line.trim().is_empty());
    let escaped = lines.map(|line| format!("{}\n", line.replace('\\', "\\e").replace('-', "\\-")));
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", escaped.collect::<String>())
}
