//! Texts of somebody else: looks at sockets, measured transfers, counters. Each is recognised by its content.

use super::pasted_text;
use super::search::Watched;
use crate::diagnose_arguments::DiagnoseArguments;
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::captured::Input;
use fullpipe::observation::{self, Judged, Manner, Observation, live};
use fullpipe::pasted::{self, Answer, KINDS, Named};
use fullpipe::trace::recording::Recording;
use std::io::Read;
use std::time::Duration;

/// Largest text that is read, bytes.
const LARGEST: u64 = 256 << 20;

/// Texts, and what they are.
pub struct Texts {
    texts: Vec<Named>,
    /// Looks at sockets that appear again and again: one observation for each text that has some.
    observations: Vec<Observation>,
}

impl Texts {
    /// Reads files.
    ///
    /// # Errors
    /// A file cannot be read, or nothing known is in any of them.
    pub fn read(files: &[Input], arguments: &DiagnoseArguments) -> Result<Texts, Failure> {
        let mut texts = Vec::new();
        for file in files {
            let bytes = bytes(file)?;
            texts.push(Named::new(&file.name, String::from_utf8_lossy(&bytes).into_owned()));
        }
        if let Some(own) = texts.iter().find(|own| own.text.is_empty()) {
            let why = match own.text.cut_off {
                Some(line) => format!(
                    "{}: its JSON ends too early, at line {line}: paste the whole document",
                    own.name
                ),
                None => format!(
                    "{} has none of what is read here: captured packets (pcap, pcapng), {KINDS}",
                    own.name
                ),
            };
            return Err(Failure::Input(why));
        }
        let observations = texts.iter().filter_map(|own| observe(own, arguments)).collect();
        Ok(Texts { texts, observations })
    }

    /// The looks at sockets, where the texts have nothing else.
    pub fn only_looks(&mut self) -> Option<Watched> {
        let is_plain = |own: &Named| {
            let text = &own.text;
            text.transfers.is_empty()
                && text.counters.is_empty()
                && text.queues.is_empty()
                && text.card.is_empty()
                && text.rings.is_empty()
        };
        let [_] = &self.observations[..] else { return None };
        let only = self.texts.len() == 1 && self.texts.iter().all(is_plain);
        only.then(|| self.observations.pop()).flatten().map(|own| Watched::Seen(Box::new(own)))
    }

    /// Prints the verdicts on all texts.
    ///
    /// # Errors
    /// No connection fits, or nothing can be printed.
    pub fn answer(&self, arguments: &DiagnoseArguments, output: &Output) -> Result<(), Failure> {
        if arguments.advise || arguments.save.is_some() || arguments.with.is_some() {
            let text = "--advise, --save and --with need looks at sockets alone: the text of `ss -tinm`, again and again";
            return Err(Failure::Input(text.into()));
        }
        let answers = pasted::answers(&self.texts, &arguments.selection(), self.looks());
        if answers.is_empty() {
            let text = format!("there is no {} in these texts", arguments.sought());
            return Err(Failure::Input(text));
        }
        match arguments.json {
            true => output.json(&pasted_text::document(&answers)),
            false => output.print(&pasted_text::text(&answers, output.style())),
        }
    }

    /// Verdicts on looks that appear again, with what the other end's looks say.
    fn looks(&self) -> Vec<Answer> {
        let mut judged: Vec<(Judged, String)> = Vec::new();
        for own in &self.observations {
            let about = |it: &Judged| pasted_text::about(own, it);
            judged.extend(own.runs().into_iter().map(|it| {
                let line = about(&it);
                (it, line)
            }));
        }
        let others: Vec<Judged> = judged.iter().map(|own| own.0.clone()).collect();
        for (at, (own, _)) in judged.iter_mut().enumerate() {
            for (place, other) in others.iter().enumerate() {
                let document = observation::document("", vec![other.run.clone()]);
                let mirrored = place != at && is_mirrored(&own.run.variant, &other.run.variant);
                let other = observation::other_end(&own.run, &document).filter(|_| mirrored);
                other.iter().for_each(|other| observation::join(&mut own.run, other));
            }
        }
        judged
            .into_iter()
            .map(|(own, about)| pasted::of_looks(&self.texts, own.run, about))
            .collect()
    }
}

/// Whether two names are those of one connection's ends.
fn is_mirrored(own: &str, other: &str) -> bool {
    own.split_once(" > ").is_some_and(|(here, there)| other == format!("{there} > {here}"))
}

/// The looks of a text at sockets that appear again; none where none does.
fn observe(own: &Named, arguments: &DiagnoseArguments) -> Option<Observation> {
    let looks = pasted::looks(std::slice::from_ref(own), &arguments.selection());
    if looks.len() < 2 {
        return None;
    }
    let every = arguments.every;
    let mut recording = Recording::default();
    let followed = live::replay(&looks, every, &mut recording);
    let judged = followed.subjects.len().min(usize::from(arguments.top));
    let every = Duration::from_nanos(every.as_ns());
    let lasts = every * u32::try_from(looks.len()).unwrap_or(u32::MAX);
    let manner = Manner { every, lasts, always_writes: false };
    Some(Observation { followed, recording, judged, manner })
}

/// Bytes of a file.
fn bytes(file: &Input) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&file.path);
    let read = read.and_then(|own| own.take(LARGEST).read_to_end(&mut bytes));
    read.map_err(|why| Failure::Input(format!("{}: {why}", file.name)))?;
    Ok(bytes)
}
