//! `fullpipe plan`: the settings that a path asks for, as text, and those of NFS mounts.

pub mod nfs;
pub mod text;
