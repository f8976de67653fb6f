//! The first and only process of the guest.

fn main() {}
