//! Words that the command does not know: the message with a way out.

use crate::args::Arguments;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error};
use fullpipe::scenario::{near_names, recipes};
use std::ffi::OsString;
use std::path::Path;

/// The error with near names, or with the place where the names are listed.
pub fn with_way_out(mut error: Error, words: &[OsString]) -> Error {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let mut root = Arguments::command();
    root.build();
    let command = command_of(&root, &words);
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command(&mut error, command),
        ErrorKind::UnknownArgument => unknown_argument(&mut error, command, &words),
        _ => {}
    }
    error
}

/// The command that the words name, as far as they name one.
fn command_of<'a>(root: &'a Command, words: &[&str]) -> &'a Command {
    let named = words.iter().skip(1);
    named
        .map_while(|word| Some(word).filter(|word| !word.starts_with('-')))
        .fold(root, |at, word| at.find_subcommand(word).unwrap_or(at))
}

fn unknown_command(error: &mut Error, command: &Command) {
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return;
    }
    let Some(word) = text(error, ContextKind::InvalidSubcommand) else { return };

    // A scenario without `run` is the most frequent slip.
    if command.get_name() == Arguments::command().get_name() && is_scenario(&word) {
        return tip(error, format!("to run it: fullpipe run {word}"));
    }

    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();

    // clap has no suggestion: near names are searched here.
    let near = near_names(&word, names.iter().copied());
    match near.is_empty() {
        true => tip(error, format!("the commands are {}", names.join(", "))),
        false => {
            let near = near.into_iter().map(String::from).collect();
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
        }
    }
}

/// Whether a word is a negative number, maybe with a unit.
fn is_negative(word: &str) -> bool {
    let number = word.strip_prefix('-').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

fn unknown_argument(error: &mut Error, command: &Command, words: &[&str]) {
    let Some(word) = text(error, ContextKind::InvalidArg) else { return };

    // clap takes a negative value for an option.
    let negative = words.iter().find(|word| is_negative(word));
    if let Some(value) = negative.filter(|value| value.starts_with(&word)) {
        return tip(
            error,
            format!("{value} is negative; write the value without a sign: {}", &value[1..]),
        );
    }

    // clap's own suggestion is better where it has one.
    if error.get(ContextKind::SuggestedArg).is_some() {
        return;
    }

    let options = command.get_arguments().filter_map(|one| one.get_long());
    let path = command.get_bin_name().unwrap_or("fullpipe");
    let near = word.strip_prefix("--").map(|option| near_names(option, options));
    match near.unwrap_or_default().first() {
        Some(near) => tip(error, format!("a near option is --{near}")),
        None => tip(error, format!("`{path} --help` lists what it takes")),
    }
}

/// Whether a word is a recipe or a file.
fn is_scenario(word: &str) -> bool {
    recipes().iter().any(|recipe| recipe.name == word) || Path::new(word).is_file()
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Replaces the parser's own tip.
fn tip(error: &mut Error, text: String) {
    let text = vec![StyledStr::from(text)];
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(text));
}
