//! A headless Chromium that looks at a report.

use crate::report_chromium::page::Page;
use crate::report_chromium::webdriver;
use std::io::Write;

/// Packages to install where a test was skipped.
const MISSING: &str = "chromium not found (apt-get install chromium chromium-driver)";

/// Opens a page made of `html`. None, after saying so, where no Chromium is installed.
///
/// # Panics
/// When Chromium is missing although FULLPIPE_REQUIRE_CHROMIUM=1, or does not work.
pub fn open(html: &str) -> Option<Page> {
    let required = std::env::var("FULLPIPE_REQUIRE_CHROMIUM").is_ok_and(|value| value == "1");
    match webdriver::Session::start() {
        Some(session) => Some(Page::open(session, html)),
        None if required => panic!("{MISSING}"),
        None => {
            // Past the test runner's capture: a skipped test must not look like one that ran.
            let _ = writeln!(std::io::stderr(), "skipped: {MISSING}");
            None
        }
    }
}
