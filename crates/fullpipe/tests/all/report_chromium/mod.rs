//! The report as a browser shows it: what is drawn and what appears under the pointer are the
//! document's values, and nothing comes from outside.
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
