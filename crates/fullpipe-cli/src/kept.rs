//! Results of a call: the document, its place on disk, and everything that failed.

use crate::failure::Failure;
use fullpipe::analysis::document::Document;
use fullpipe::report::time_sequence;
use fullpipe::results::rundir::REPORT;
use fullpipe::trace::folders::folders;
use std::path::PathBuf;

/// Number of runs up to which each page of packets has a line of its own.
const EACH_PAGE: usize = 4;

/// The results of a call.
pub struct Kept {
    /// The runs that were made.
    pub document: Document,
    /// Why runs failed.
    pub failures: Vec<Failure>,
    /// Why files are missing, of finished runs or of their result.
    pub unkept: Vec<Failure>,
    /// Whether the result was printed.
    pub shown: bool,
    /// Where the results are; none: not where they should be, and a reason in `unkept` names the place.
    pub directory: Option<PathBuf>,
}

impl Kept {
    /// Lines that name the places of the results.
    pub fn places(&self) -> Vec<String> {
        let Some(directory) = &self.directory else { return Vec::new() };
        let report = directory.join(REPORT);
        let mut lines = vec![format!("results: {}", directory.display())];
        if report.exists() {
            lines.push(format!("report: {}", report.display()));
        }

        // Many runs would fill the screen with their pages.
        let pages = self.packet_pages();
        let more = pages.len().saturating_sub(EACH_PAGE);
        let named = pages.iter().take(EACH_PAGE);
        lines.extend(named.map(|page| format!("packets: {}", page.display())));
        if more > 0 {
            lines.push(format!(
                "packets: {more} more pages, {} in each run's folder",
                time_sequence::FILE
            ));
        }
        lines
    }

    /// The time-sequence graphs of runs with kept packets.
    fn packet_pages(&self) -> Vec<PathBuf> {
        let Some(directory) = &self.directory else { return Vec::new() };
        let names: Vec<String> = self.document.runs.iter().map(|run| run.variant.clone()).collect();
        let runs = self.document.runs.iter().zip(folders(&names));
        let kept = runs.filter(|(run, _)| run.packets.is_some());
        let pages = kept.map(|(_, folder)| directory.join(folder).join(time_sequence::FILE));
        pages.filter(|page| page.exists()).collect()
    }

    /// The end of the call. Runs that are not whole are not judged.
    pub fn judge(self) -> Result<(), Failure> {
        // Failures go before an interrupt: they need the user.
        if !self.failures.is_empty() || !self.unkept.is_empty() {
            let others = Some(self.what_is_there());
            let failures = self.failures.into_iter().chain(self.unkept).collect();
            return Err(Failure::Runs { failures, others });
        }
        if self.document.partial {
            return Err(Failure::Interrupted);
        }
        let mut expectations = self.document.runs.iter().flat_map(|run| &run.expectations);
        match expectations.all(|expectation| expectation.passed) {
            true => Ok(()),
            false => Err(Failure::Expectation),
        }
    }

    /// The fate of the runs, in one line.
    fn what_is_there(&self) -> String {
        let (failed, missing) = (self.failures.len(), self.document.missing.len());

        // Runs that failed are missing as well, so they are not counted twice.
        let (all, not_begun) = (self.document.runs.len() + missing, missing.saturating_sub(failed));
        let runs = match (failed, not_begun) {
            (0, 0) => String::new(),
            (0, _) => format!("{not_begun} of {all} runs were not begun; "),
            _ => format!("{failed} of {all} runs failed, {not_begun} were not begun; "),
        };
        match &self.directory {
            Some(directory) => format!("{runs}what was done is kept: {}", directory.display()),
            None if self.shown => format!("{runs}the result of what was done is printed above"),
            None => format!("{runs}the result of what was done could not be printed either"),
        }
    }
}
