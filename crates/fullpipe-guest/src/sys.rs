//! System calls that the standard library does not offer: through rustix, and through libc where rustix lacks them.
//! More unsafe code is in `uring.rs` (io_uring), in `bpf/kernel.rs` (programs are loaded), in `batch.rs` (many messages
//! at once), and in `boot.rs`, which is the host's side: between fork and exec.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::thread::JoinHandleExt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{self, epoll};
use rustix::fs::Advice;
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType,
};
use rustix::process::{Resource, Rlimit};
use rustix::system::RebootCommand;
use rustix::thread::{LinkNameSpaceType, UnshareFlags};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
};
use rustix::{net, thread, time};

/// `value`, or the kernel's error if it is negative.
pub fn check(value: i32) -> io::Result<usize> {
    usize::try_from(value).map_err(|_| io::Error::last_os_error())
}

fn check_long(value: isize) -> io::Result<usize> {
    usize::try_from(value).map_err(|_| io::Error::last_os_error())
}

fn owned(fd: i32) -> io::Result<OwnedFd> {
    check(fd)?;
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Gives this thread the highest priority.
pub fn go_first() -> io::Result<()> {
    schedule(libc::SCHED_FIFO, 1)
}

/// Gives this thread the highest priority, and those that it starts the usual one.
pub fn go_first_alone() -> io::Result<()> {
    schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Gives this thread the usual priority.
pub fn go_with_others() -> io::Result<()> {
    schedule(libc::SCHED_OTHER, 0)
}

fn schedule(policy: i32, priority: i32) -> io::Result<()> {
    // SAFETY: the structure is read only.
    check(unsafe { libc::sched_setscheduler(0, policy, &parameters(priority)) }).map(|_| ())
}

/// Gives another thread the highest priority.
pub fn let_go_first(thread: &JoinHandle<()>) -> io::Result<()> {
    // SAFETY: the handle keeps the thread's number valid, and the structure is read only.
    let errno = unsafe {
        libc::pthread_setschedparam(thread.as_pthread_t(), libc::SCHED_FIFO, &parameters(1))
    };
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

fn parameters(priority: i32) -> libc::sched_param {
    // SAFETY: all zero is a value of this structure.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    parameters
}

/// Release of the kernel, as `uname -r` prints it.
pub fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Mounts a file system without a device.
pub fn mount(kind: &str, at: &str) -> io::Result<()> {
    mount_with(kind, kind, at, "")
}

/// Mounts a file system of a kind from a source, with options.
pub fn mount_with(kind: &str, source: &str, at: &str, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    Ok(rustix::mount::mount(source, at, kind, MountFlags::empty(), &*options)?)
}

/// Whether the kernel is this machine's, which must not end.
static IS_MACHINES_OWN: AtomicBool = AtomicBool::new(false);

/// Whether the kernel is this machine's, which must not end.
pub fn is_machines_own() -> bool {
    IS_MACHINES_OWN.load(Ordering::Relaxed)
}

/// Keeps [`power_off`] from ending the kernel: it ends the process alone.
pub fn spare_the_kernel() {
    IS_MACHINES_OWN.store(true, Ordering::Relaxed);
}

/// Writes buffered data, then ends the kernel, or the process where the kernel is the machine's own.
pub fn power_off() -> ! {
    if is_machines_own() {
        std::process::exit(0);
    }
    rustix::fs::sync();
    let _ = rustix::system::reboot(RebootCommand::PowerOff);
    std::process::exit(1)
}

/// Makes a copy of this process: 0 in the copy, else the copy's number.
pub fn fork() -> io::Result<i32> {
    // SAFETY: no other thread runs, so that the copy may go on.
    let child = unsafe { libc::fork() };
    check(child)?;
    Ok(child)
}

/// Lets the kernel end this process when the process that forked it ends.
pub fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Exit code of a child, once it has ended; 1 where a signal ended it.
pub fn wait_for_end(child: i32) -> io::Result<u8> {
    let mut status = 0;
    // SAFETY: it writes one number.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        let failed = io::Error::last_os_error();
        if failed.kind() != io::ErrorKind::Interrupted {
            return Err(failed);
        }
    }
    Ok(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) as u8 } else { 1 })
}

/// Keeps later mounts in this mount namespace.
pub fn keep_mounts_private() -> io::Result<()> {
    use rustix::mount::MountPropagationFlags as Flags;
    Ok(rustix::mount::mount_change("/", Flags::REC | Flags::PRIVATE)?)
}

/// The socket that the process which started this one has left to it.
pub fn handed_down() -> BorrowedFd<'static> {
    // SAFETY: it is open in a guest in real time, and nothing closes it.
    unsafe { BorrowedFd::borrow_raw(fullpipe_guest::plan::SOCKET) }
}

/// Sends bytes with copies of two descriptors.
pub fn send_descriptors(
    to: &impl AsFd,
    bytes: &[u8],
    descriptors: &[OwnedFd; 2],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = net::SendAncillaryBuffer::new(&mut space);
    let borrowed = descriptors.each_ref().map(AsFd::as_fd);
    ancillary.push(net::SendAncillaryMessage::ScmRights(&borrowed));
    net::sendmsg(to, &[io::IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Gives a socket a receive buffer of that size, or the largest that the user may have.
pub fn receive_buffer(fd: &OwnedFd, bytes: i32) -> io::Result<()> {
    set_number(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
        .or_else(|_| set_number(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes))
}

/// Gives a socket a send buffer of that size, or the largest that the user may have.
pub fn send_buffer(fd: &OwnedFd, bytes: i32) -> io::Result<()> {
    set_number(fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, bytes)
        .or_else(|_| set_number(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes))
}

/// Makes timers of the caller, and of threads that it starts, fire when they are due, not up to 50 us later.
pub fn sharp_timers() -> io::Result<()> {
    Ok(thread::set_current_timer_slack(NonZeroU64::new(TIMER_SLACK_NS))?)
}

/// Puts the calling thread into a new network namespace.
pub fn unshare_net() -> io::Result<()> {
    // SAFETY: threads still share their descriptors.
    Ok(unsafe { thread::unshare_unsafe(UnshareFlags::NEWNET) }?)
}

/// Puts the calling thread into that network namespace.
pub fn enter_net(namespace: &OwnedFd) -> io::Result<()> {
    let network = Some(LinkNameSpaceType::Network);
    Ok(thread::move_into_link_name_space(namespace.as_fd(), network)?)
}

/// ns of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    let at = time::clock_gettime(ClockId::Monotonic);
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Lets the process have as many files and sockets open as the kernel allows any.
pub fn many_files(most: u64) -> io::Result<()> {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    Ok(rustix::process::setrlimit(Resource::Nofile, limit)?)
}

/// Lateness of timers after [`sharp_timers`], ns: no process can have 0.
const TIMER_SLACK_NS: u64 = 1;

/// Sleeps until that time of CLOCK_MONOTONIC, through signals.
pub fn sleep_until(ns: u64) {
    // The kernel's timer is set for the end of the slack. It fires earlier with another timer, and where there is no
    // slack.
    wait_for(ns.saturating_sub(TIMER_SLACK_NS));
    if now() < ns {
        wait_for(ns);
    }
}

fn wait_for(ns: u64) {
    let at = timespec(ns);
    while thread::clock_nanosleep_absolute(ClockId::Monotonic, &at) == Err(Errno::INTR) {}
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// A timer that interrupts the thread that made it; it is gone when this is dropped.
pub struct Interruption(libc::timer_t);

impl Drop for Interruption {
    fn drop(&mut self) {
        // SAFETY: the timer was made with this value, and is deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Interrupts the calling thread's system call at that time of CLOCK_MONOTONIC (EINTR, or less is done than
/// asked for).
pub fn interrupt_at(ns: u64) -> io::Result<Interruption> {
    // SAFETY: zeros are a valid value of these structures; the pointers are to locals of the right types; the
    // handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        check(libc::sigaction(libc::SIGUSR1, &action, ptr::null_mut()))?;
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGUSR1;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = ptr::null_mut();
        check(libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer))?;
        let mut when: libc::itimerspec = std::mem::zeroed();
        when.it_value.tv_sec = (ns / 1_000_000_000) as i64;
        when.it_value.tv_nsec = (ns % 1_000_000_000) as i64;
        let timer = Interruption(timer);
        check(libc::timer_settime(timer.0, libc::TIMER_ABSTIME, &when, ptr::null_mut()))?;
        Ok(timer)
    }
}

/// A socket of IPv4.
pub fn socket(kind: SocketType) -> io::Result<OwnedFd> {
    Ok(net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)?)
}

/// A TCP socket.
pub fn tcp_socket() -> io::Result<OwnedFd> {
    socket(SocketType::STREAM)
}

/// A netlink socket with that number.
pub fn netlink_socket(protocol: Option<Protocol>, number: u32) -> io::Result<OwnedFd> {
    let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
    let socket = net::socket_with(family, SocketType::RAW, flags, protocol)?;
    net::bind(&socket, &SocketAddrNetlink::new(number, 0))?;
    Ok(socket)
}

/// Sets an option of bytes.
pub fn set_option(fd: &OwnedFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: it reads `len` bytes of `value`.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), len) })?;
    Ok(())
}

/// Sets an option of one number.
pub fn set_number(fd: &OwnedFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    set_option(fd, level, name, &value.to_ne_bytes())
}

/// Reads an option into `value`, as much of it as fits; the rest of `value` stays.
pub fn option(fd: &OwnedFd, level: i32, name: i32, value: &mut [u8]) -> io::Result<usize> {
    let mut len = value.len() as libc::socklen_t;
    let to = value.as_mut_ptr().cast();
    // SAFETY: it writes at most `len` bytes to `value`.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, to, &mut len) })?;
    Ok(len as usize)
}

/// `struct tcp_info` of a socket, with the kernel's length.
pub fn tcp_info(socket: &OwnedFd) -> io::Result<Vec<u8>> {
    const ROOM: usize = 1024;
    let mut info = vec![0; ROOM];
    let length = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    info.truncate(length);
    Ok(info)
}

/// Memory of a socket, an array of u32 (SK_MEMINFO_), as long as the kernel has it.
pub fn memory(socket: &OwnedFd) -> io::Result<Vec<u8>> {
    const ROOM: usize = 256;
    let mut memory = vec![0; ROOM];
    let length = option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut memory)?;
    memory.truncate(length);
    Ok(memory)
}

/// Error of a socket since the last call (SO_ERROR).
pub fn failure(socket: &OwnedFd) -> io::Result<()> {
    Ok(net::sockopt::socket_error(socket)??)
}

/// Changes of a socket's state (edge-triggered epoll).
pub struct Changes(OwnedFd);

impl Changes {
    /// Watches a socket to which no more is written: it is always writable, so that epoll reports each change.
    pub fn of(socket: &OwnedFd) -> io::Result<Changes> {
        let changes = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let reported = epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(&changes, socket, epoll::EventData::new_u64(0), reported)?;
        Ok(Changes(changes))
    }

    /// Waits for one; the first time it returns at once.
    pub fn wait(&self) -> io::Result<()> {
        epoll::wait(&self.0, &mut [MaybeUninit::uninit()], None)?;
        Ok(())
    }
}

/// Binds to an IPv4 address.
pub fn bind(fd: &OwnedFd, ip: Ipv4Addr, port: u16) -> io::Result<()> {
    Ok(net::bind(fd, &SocketAddrV4::new(ip, port))?)
}

/// Connects to an IPv4 address.
pub fn connect(fd: &OwnedFd, ip: Ipv4Addr, port: u16) -> io::Result<()> {
    Ok(net::connect(fd, &SocketAddrV4::new(ip, port))?)
}

/// Listens for one connection at a time.
pub fn listen(fd: &OwnedFd) -> io::Result<()> {
    Ok(net::listen(fd, 1)?)
}

/// Waits for a connection.
pub fn accept(fd: &OwnedFd) -> io::Result<OwnedFd> {
    Ok(net::accept(fd)?)
}

/// Sends; says how much.
pub fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(net::send(fd, bytes, SendFlags::NOSIGNAL)?)
}

/// Receives; says how much.
pub fn receive(fd: &impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    Ok(net::recv(fd, into, RecvFlags::empty())?.1)
}

/// Receives what is there; none: nothing is.
pub fn receive_now(fd: &OwnedFd, into: &mut [u8]) -> io::Result<Option<usize>> {
    match net::recv(fd, into, RecvFlags::DONTWAIT) {
        Ok((_, came)) => Ok(Some(came)),
        Err(Errno::AGAIN) => Ok(None),
        Err(failed) => Err(failed.into()),
    }
}

/// Waits until there is something to receive.
pub fn wait_to_receive(fd: &OwnedFd) -> io::Result<()> {
    let mut wanted = [event::PollFd::new(fd, event::PollFlags::IN)];
    loop {
        match event::poll(&mut wanted, None) {
            Err(Errno::INTR) => {}
            other => return Ok(other.map(drop)?),
        }
    }
}

/// Lets calls on a descriptor return at once.
pub fn never_wait(fd: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(fd, true)?)
}

/// Waits until `bytes` bytes have come (or the other side has ended), and throws them away; says how many.
///
/// All of it happens inside the kernel. A reader that gets back to user space for each packet costs more than
/// TCP itself.
pub fn discard(fd: &OwnedFd, bytes: usize) -> io::Result<usize> {
    throw_away(fd, bytes, libc::MSG_TRUNC | libc::MSG_WAITALL)
}

/// Waits until something has come (or the other side has ended), and throws away up to `bytes` of it; says how many.
pub fn discard_some(fd: &OwnedFd, bytes: usize) -> io::Result<usize> {
    throw_away(fd, bytes, libc::MSG_TRUNC)
}

fn throw_away(fd: &OwnedFd, bytes: usize, flags: i32) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC TCP writes nothing.
    check_long(unsafe { libc::recv(fd.as_raw_fd(), ptr::null_mut(), bytes, flags) })
}

/// Says that no more will be sent.
pub fn end_writing(fd: &OwnedFd) -> io::Result<()> {
    Ok(net::shutdown(fd, Shutdown::Write)?)
}

/// Sets a feature of a device (`ETHTOOL_S...`).
pub fn ethtool(any_socket: &OwnedFd, device: &str, command: u32, value: u32) -> io::Result<()> {
    let mut data = [command, value];
    // SAFETY: zeros are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // Names of devices have at most 15 bytes (IFNAMSIZ).
    for (to, from) in request.ifr_name[..15].iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = data.as_mut_ptr().cast();
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    // SAFETY: the kernel reads and writes one ifreq and the two numbers it points to (`struct ethtool_value`).
    check(unsafe { libc::ioctl(any_socket.as_raw_fd(), SIOCETHTOOL, &mut request) })?;
    Ok(())
}

/// bpf(2). The addresses within `attributes` are the caller's to get right.
///
/// # Safety
/// What `attributes` points to must be as the command wants it.
pub unsafe fn bpf(command: i32, attributes: &mut [u8]) -> io::Result<i32> {
    // SAFETY: `attributes` is as long as said; the rest is promised.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_mut_ptr(), attributes.len()) };
    check_long(result as isize).map(|value| value as i32)
}

/// Descriptor that bpf(2) has opened.
pub fn bpf_descriptor(fd: i32) -> io::Result<OwnedFd> {
    owned(fd)
}

/// Writes what the kernel holds back of a file and waits for that. Processes of one kernel see it without.
pub fn write_back(file: &std::fs::File) -> io::Result<()> {
    if is_machines_own() {
        return Ok(());
    }
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: it takes no pointers.
    check(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, all) })?;
    Ok(())
}

/// Lets the kernel forget what it holds of a file.
pub fn forget(file: &std::fs::File) {
    // Advice that is not taken does no harm.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

/// A timer that goes off first at that time of CLOCK_MONOTONIC, and then each `interval` ns. It can be read
/// without waiting.
pub fn ticks(first_ns: u64, interval_ns: u64) -> io::Result<OwnedFd> {
    let when =
        Itimerspec { it_interval: timespec(interval_ns), it_value: timespec(first_ns.max(1)) };
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
    time::timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &when)?;
    Ok(timer)
}

/// Two sockets of messages, joined.
#[cfg(test)]
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (unix, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    Ok(net::socketpair(unix, kind, SocketFlags::empty(), None)?)
}
