//! The report as a browser shows it: drawings and texts under the pointer are the document's values, and nothing is
//! loaded from outside.
//!
//! Needs chromium and chromedriver; without them each test says `skipped: ...`, and fails when
//! FULLPIPE_REQUIRE_CHROMIUM=1.

pub mod browser;
mod controls;
mod drawing;
mod expected;
mod isolation;
mod labels;
mod many;
mod over_time;
pub mod page;
mod picture;
mod values;
mod webdriver;
