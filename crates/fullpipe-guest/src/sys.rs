//! Calls of the kernel that the standard library does not offer. More unsafe code is in `uring.rs` (io_uring), in
//! `bpf/kernel.rs` (programs are loaded), in `batch.rs` (many messages at once), and in `boot.rs`, which is the host's
//! side: between fork and exec.

use std::ffi::CString;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

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

fn length<T>() -> libc::socklen_t {
    size_of::<T>() as libc::socklen_t
}

/// Lets this thread go on before all others as soon as it can.
pub fn go_first() -> io::Result<()> {
    // SAFETY: all zero is a value of this structure.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = 1;
    // SAFETY: the structure is read only.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) }).map(|_| ())
}

/// Mounts a file system without a device.
pub fn mount(kind: &str, at: &str) -> io::Result<()> {
    mount_with(kind, kind, at, "")
}

/// Mounts a file system of a kind from a source, with options.
pub fn mount_with(kind: &str, source: &str, at: &str, options: &str) -> io::Result<()> {
    let text = |text: &str| CString::new(text);
    let (kind, source, at, options) = (text(kind)?, text(source)?, text(at)?, text(options)?);
    let data = options.as_ptr().cast();
    // SAFETY: strings that end.
    check(unsafe { libc::mount(source.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, data) })?;
    Ok(())
}

/// Writes what is held back, then ends the kernel.
pub fn power_off() -> ! {
    // SAFETY: they take no pointers.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
    std::process::exit(1)
}

/// Lets the caller's timers (and those of the threads that it starts) go off when asked, not up to 50 us later.
pub fn sharp_timers() -> io::Result<()> {
    // SAFETY: it takes no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, TIMER_SLACK_NS) })?;
    Ok(())
}

/// Puts the calling thread into a new network namespace.
pub fn unshare_net() -> io::Result<()> {
    // SAFETY: it takes no pointers.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    Ok(())
}

/// Puts the calling thread into that network namespace.
pub fn enter_net(namespace: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: it takes no pointers.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })?;
    Ok(())
}

/// ns of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut at) };
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Lets the process have as many files and sockets open as the kernel allows any.
pub fn many_files(most: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: it reads one structure.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    Ok(())
}

/// How late timers are by [`sharp_timers`], ns: no process can have 0.
const TIMER_SLACK_NS: u64 = 1;

/// Sleeps until that time of CLOCK_MONOTONIC, through signals.
pub fn sleep_until(ns: u64) {
    // The kernel's timer is set for the end of the slack; it comes earlier with another one, and where there is no slack.
    wait_for(ns.saturating_sub(TIMER_SLACK_NS));
    if now() < ns {
        wait_for(ns);
    }
}

fn wait_for(ns: u64) {
    let at = timespec(ns);
    let wait = || {
        // SAFETY: it reads one timespec; with TIMER_ABSTIME it writes none.
        unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &at, ptr::null_mut())
        }
    };
    while wait() == libc::EINTR {}
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// Interrupts the calling thread's system call at that time of CLOCK_MONOTONIC (EINTR, or less is done than
/// asked for).
pub fn interrupt_at(ns: u64) -> io::Result<()> {
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
        let when = libc::itimerspec { it_interval: timespec(0), it_value: timespec(ns) };
        check(libc::timer_settime(timer, libc::TIMER_ABSTIME, &when, ptr::null_mut()))?;
    }
    Ok(())
}

/// A socket.
pub fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: it takes no pointers.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })
}

/// A TCP socket.
pub fn tcp_socket() -> io::Result<OwnedFd> {
    socket(libc::AF_INET, libc::SOCK_STREAM, 0)
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

/// Reads an option into `value`, as much of it as fits; what it does not fill stays.
pub fn option(fd: &OwnedFd, level: i32, name: i32, value: &mut [u8]) -> io::Result<usize> {
    let mut len = value.len() as libc::socklen_t;
    let to = value.as_mut_ptr().cast();
    // SAFETY: it writes at most `len` bytes to `value`.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, to, &mut len) })?;
    Ok(len as usize)
}

/// `struct tcp_info` of a socket, as long as the kernel has it.
pub fn tcp_info(socket: &OwnedFd) -> io::Result<Vec<u8>> {
    const ROOM: usize = 1024;
    let mut info = vec![0; ROOM];
    let length = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    info.truncate(length);
    Ok(info)
}

/// What has failed of a socket since the last time that it was asked (SO_ERROR).
pub fn failure(socket: &OwnedFd) -> io::Result<()> {
    let mut errno = [0; 4];
    option(socket, libc::SOL_SOCKET, libc::SO_ERROR, &mut errno)?;
    match i32::from_ne_bytes(errno) {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Tells of changes of a socket's state (edge-triggered epoll).
pub struct Changes(OwnedFd);

impl Changes {
    /// Those of a socket which no more is written to: it can always be written to, so that each change is told.
    pub fn of(socket: &OwnedFd) -> io::Result<Changes> {
        // SAFETY: it takes no pointers.
        let changes = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let mut event =
            libc::epoll_event { events: (libc::EPOLLOUT | libc::EPOLLET) as u32, u64: 0 };
        let (fd, add) = (socket.as_raw_fd(), libc::EPOLL_CTL_ADD);
        // SAFETY: it reads one epoll_event.
        check(unsafe { libc::epoll_ctl(changes.as_raw_fd(), add, fd, &mut event) })?;
        Ok(Changes(changes))
    }

    /// Waits for one; the first time it returns at once.
    pub fn wait(&self) -> io::Result<()> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: it writes one epoll_event.
        check(unsafe { libc::epoll_wait(self.0.as_raw_fd(), &mut event, 1, -1) })?;
        Ok(())
    }
}

fn address(ip: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) },
        sin_zero: [0; 8],
    }
}

/// Binds to an IPv4 address.
pub fn bind(fd: &OwnedFd, ip: Ipv4Addr, port: u16) -> io::Result<()> {
    let at = address(ip, port);
    // SAFETY: it reads one sockaddr_in.
    check(unsafe {
        libc::bind(fd.as_raw_fd(), (&raw const at).cast(), length::<libc::sockaddr_in>())
    })?;
    Ok(())
}

/// Connects to an IPv4 address.
pub fn connect(fd: &OwnedFd, ip: Ipv4Addr, port: u16) -> io::Result<()> {
    let at = address(ip, port);
    // SAFETY: it reads one sockaddr_in.
    check(unsafe {
        libc::connect(fd.as_raw_fd(), (&raw const at).cast(), length::<libc::sockaddr_in>())
    })?;
    Ok(())
}

/// Listens for one connection at a time.
pub fn listen(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: it takes no pointers.
    check(unsafe { libc::listen(fd.as_raw_fd(), 1) })?;
    Ok(())
}

/// Waits for a connection.
pub fn accept(fd: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: no address is asked for.
    owned(unsafe { libc::accept(fd.as_raw_fd(), ptr::null_mut(), ptr::null_mut()) })
}

/// Gives a netlink socket that number.
pub fn bind_netlink(fd: &OwnedFd, number: u32) -> io::Result<()> {
    // SAFETY: zeros are a valid sockaddr_nl.
    let mut at: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
    at.nl_family = libc::AF_NETLINK as u16;
    at.nl_pid = number;
    // SAFETY: it reads one sockaddr_nl.
    check(unsafe {
        libc::bind(fd.as_raw_fd(), (&raw const at).cast(), length::<libc::sockaddr_nl>())
    })?;
    Ok(())
}

/// Sends; says how much.
pub fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: it reads `bytes`.
    check_long(unsafe {
        libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    })
}

/// Receives; says how much.
pub fn receive(fd: &OwnedFd, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: it writes at most `into.len()` bytes to `into`.
    check_long(unsafe { libc::recv(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0) })
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
    // SAFETY: it takes no pointers.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) })?;
    Ok(())
}

/// Sets a feature of a device (`ETHTOOL_S...`).
pub fn ethtool(any_socket: &OwnedFd, device: &str, command: u32, value: u32) -> io::Result<()> {
    let mut data = [command, value];
    // SAFETY: zeros are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
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

/// What bpf(2) has opened.
pub fn bpf_descriptor(fd: i32) -> io::Result<OwnedFd> {
    owned(fd)
}

/// Writes what the kernel holds back of a file and waits for that.
pub fn write_back(file: &std::fs::File) -> io::Result<()> {
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: it takes no pointers.
    check(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, all) })?;
    Ok(())
}

/// Lets the kernel forget what it holds of a file.
pub fn forget(file: &std::fs::File) {
    // SAFETY: it takes no pointers. Advice that is not taken does no harm.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// A timer that goes off first at that time of CLOCK_MONOTONIC, and then each `interval` ns. It can be read
/// without waiting.
pub fn ticks(first_ns: u64, interval_ns: u64) -> io::Result<OwnedFd> {
    let when = libc::itimerspec {
        it_interval: timespec(interval_ns),
        it_value: timespec(first_ns.max(1)),
    };
    // SAFETY: it takes no pointers.
    let timer = owned(unsafe {
        libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC)
    })?;
    // SAFETY: it reads one itimerspec.
    check(unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &when, ptr::null_mut())
    })?;
    Ok(timer)
}

/// Two sockets of messages, joined.
#[cfg(test)]
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: it writes two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, fds.as_mut_ptr()) })?;
    Ok((owned(fds[0])?, owned(fds[1])?))
}
