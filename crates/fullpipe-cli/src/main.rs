//! The command `fullpipe`.
fn main() {}
