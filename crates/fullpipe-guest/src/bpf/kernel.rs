//! Maps and programs of eBPF in the kernel.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys;

const MAP_CREATE: i32 = 0;
const MAP_LOOKUP_ELEM: i32 = 1;
const MAP_UPDATE_ELEM: i32 = 2;
const PROG_LOAD: i32 = 5;
const HASH: u32 = 1;
const ARRAY: u32 = 2;
const SCHED_CLS: u32 = 3;

/// `union bpf_attr`, filled in place.
struct Attributes([u8; 72]);

impl Attributes {
    fn new() -> Attributes {
        Attributes([0; 72])
    }

    fn u32(mut self, at: usize, value: u32) -> Attributes {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn address<T: ?Sized>(mut self, at: usize, value: *const T) -> Attributes {
        let address = value.cast::<u8>() as u64;
        self.0[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        self
    }

    /// # Safety
    /// The addresses must point to the structures that the command needs.
    unsafe fn call(mut self, command: i32) -> io::Result<i32> {
        // SAFETY: promised by the caller.
        unsafe { sys::bpf(command, &mut self.0) }
    }
}

/// A map with values of 64 bits, or of several times that.
pub struct Map(OwnedFd);

impl Map {
    fn make(kind: u32, key_size: u32, value_size: u32, entries: u32) -> io::Result<Map> {
        let attributes = Attributes::new()
            .u32(0, kind)
            .u32(4, key_size)
            .u32(8, value_size)
            .u32(12, entries.max(1));
        // SAFETY: no addresses.
        let fd = unsafe { attributes.call(MAP_CREATE) }?;
        sys::bpf_descriptor(fd).map(Map)
    }

    /// Counters, by a number of 32 bits.
    pub fn counters(entries: u32) -> io::Result<Map> {
        Map::make(ARRAY, 4, 8, entries)
    }

    /// A set of numbers of 64 bits.
    pub fn set(members: &[u64]) -> io::Result<Map> {
        let map = Map::make(HASH, 8, 8, members.len() as u32)?;
        for member in members {
            // SAFETY: key and value have 8 bytes, as the map was made with.
            unsafe { map.set_entry(member, &1_u64) }?;
        }
        Ok(map)
    }

    /// Consecutive words of 64 bits; their key is 0, of 32 bits.
    pub fn record<const WORDS: usize>(words: [u64; WORDS]) -> io::Result<Map> {
        let map = Map::make(ARRAY, 4, 8 * WORDS as u32, 1)?;
        // SAFETY: the key has 4 bytes, the value as many words as the map was made with.
        unsafe { map.set_entry(&0_u32, &words) }?;
        Ok(map)
    }

    /// # Safety
    /// Key and value must be as large as the map was made with.
    unsafe fn set_entry<K, V>(&self, key: &K, value: &V) -> io::Result<()> {
        let attributes =
            Attributes::new().u32(0, self.descriptor() as u32).address(8, key).address(16, value);
        // SAFETY: promised by the caller.
        unsafe { attributes.call(MAP_UPDATE_ELEM) }.map(drop)
    }

    /// A counter of [`Map::counters`].
    pub fn counter(&self, number: u32) -> io::Result<u64> {
        let mut value = 0_u64;
        let attributes = Attributes::new()
            .u32(0, self.descriptor() as u32)
            .address(8, &number)
            .address(16, &raw mut value);
        // SAFETY: the key has 4 bytes, the value 8, as the map was made with.
        unsafe { attributes.call(MAP_LOOKUP_ELEM) }?;
        Ok(value)
    }

    /// Descriptor by which a program names the map.
    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// Gives the kernel a program for packets. On failure the error has the end of the verifier's text.
pub fn load(code: &[u8]) -> Result<OwnedFd, String> {
    let mut log = vec![0_u8; 65_536];
    let attributes = Attributes::new()
        .u32(0, SCHED_CLS)
        .u32(4, (code.len() / 8) as u32)
        .address(8, code.as_ptr())
        .address(16, c"Dual MIT/GPL".as_ptr())
        .u32(24, 1)
        .u32(28, log.len() as u32)
        .address(32, log.as_mut_ptr());
    // SAFETY: code, licence and log are as long as said and live until the call returns.
    let loaded = unsafe { attributes.call(PROG_LOAD) }.and_then(sys::bpf_descriptor);
    loaded.map_err(|error| {
        // The verifier gives its reason at the end of the log.
        let text: Vec<u8> = log.into_iter().take_while(|byte| *byte != 0).collect();
        let end = text[text.len().saturating_sub(500)..].to_vec();
        format!("{error}; {}", String::from_utf8_lossy(&end))
    })
}
