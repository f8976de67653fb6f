//! Facts from a trace, computed once, and the document they end in.

pub mod document;
