//! The plan of the engine `linux` for the kernel, and its answers to keys that it cannot do.

mod hosts;
mod path;
mod refusals;
mod show;
