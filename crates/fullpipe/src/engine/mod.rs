//! Engines: each turns a resolved scenario into a trace. A new engine is a module and one line in
//! [`engines`].
//!
//! Nothing right of the trace knows which engine made it.

pub mod sim;

pub use crate::scenario::engine::{Engine, Failed, Outcome, Support};
pub use crate::scenario::without;
pub use fullpipe_linux as linux;

static ENGINES: [&dyn Engine; 3] = [&sim::Simulator, &linux::LINUX, &linux::host::HOST];

/// All engines, the default one first.
pub fn engines() -> &'static [&'static dyn Engine] {
    &ENGINES
}

/// The engine called `name`.
pub fn find(name: &str) -> Option<&'static dyn Engine> {
    engines().iter().copied().find(|engine| engine.name() == name)
}
