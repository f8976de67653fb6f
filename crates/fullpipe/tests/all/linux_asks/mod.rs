//! What the engine `linux` asks of the kernel, and what it answers to keys that it cannot do.

mod hosts;
mod path;
mod refusals;
mod show;
