//! Looks at sockets that somebody else has taken: a file with the text of `ss -tinm`, printed again and again.

use super::search::Watched;
use crate::diagnose_arguments::DiagnoseArguments;
use crate::failure::Failure;
use fullpipe::base::units::Time;
use fullpipe::observation::{Manner, Observation, live, ss};
use fullpipe::trace::recording::Recording;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Command that prints such a text.
const AGAIN: &str = "while sleep 0.1; do ss -tinmH dst HOST; done > FILE";

/// Reads the looks of a file, or of standard input ("-").
pub fn observe(
    file: &Path,
    every: Time,
    arguments: &DiagnoseArguments,
) -> Result<Watched, Failure> {
    let text = text(file).map_err(|why| Failure::Input(format!("{}: {why}", file.display())))?;
    let selection = arguments.selection();
    let mut looks = ss::looks(&text);
    looks.iter_mut().for_each(|look| look.retain(|own| selection.fits(own)));
    looks.retain(|look| !look.is_empty());
    if looks.len() < 2 {
        let count = looks.len();
        return Err(Failure::Input(format!(
            "{} has {count} looks at a {}; two are the least. To make some: {AGAIN}",
            file.display(),
            arguments.sought()
        )));
    }

    let mut recording = Recording::default();
    let followed = live::replay(&looks, every, &mut recording);
    let judged = followed.subjects.len().min(usize::from(arguments.top));
    let every = Duration::from_nanos(every.as_ns());
    let manner = Manner { every, lasts: every * u32::try_from(looks.len()).unwrap_or(u32::MAX) };
    Ok(Watched::Seen(Box::new(Observation { followed, recording, judged, manner })))
}

fn text(file: &Path) -> std::io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file)
}
