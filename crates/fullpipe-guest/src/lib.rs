//! The guest of the engine `linux`, and the formats between them: [`plan`] is its input, [`record`] its output,
//! [`boot`] starts it. [`refusal`] names a value of the plan that the kernel refuses. Both sides are built from one
//! source, so that there is one version of them.

pub mod boot;
pub mod plan;
pub mod record;
pub mod refusal;

#[cfg(test)]
mod tests {
    use fullpipe_base::sockopt::Sockopt;

    #[test]
    fn numbers_of_socket_options_are_those_of_libc() {
        for (name, number) in [
            ("IP_TOS", (libc::IPPROTO_IP, libc::IP_TOS)),
            ("SO_MAX_PACING_RATE", (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE)),
            ("SO_PRIORITY", (libc::SOL_SOCKET, libc::SO_PRIORITY)),
            ("SO_RCVLOWAT", (libc::SOL_SOCKET, libc::SO_RCVLOWAT)),
            ("TCP_CORK", (libc::IPPROTO_TCP, libc::TCP_CORK)),
            ("TCP_NODELAY", (libc::IPPROTO_TCP, libc::TCP_NODELAY)),
            ("TCP_NOTSENT_LOWAT", (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT)),
            ("TCP_QUICKACK", (libc::IPPROTO_TCP, libc::TCP_QUICKACK)),
            ("TCP_SYNCNT", (libc::IPPROTO_TCP, libc::TCP_SYNCNT)),
            ("TCP_THIN_LINEAR_TIMEOUTS", (libc::IPPROTO_TCP, libc::TCP_THIN_LINEAR_TIMEOUTS)),
            ("TCP_USER_TIMEOUT", (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT)),
            ("TCP_WINDOW_CLAMP", (libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP)),
        ] {
            assert_eq!(Sockopt::find(name).map(|known| known.number), Some(number), "{name}");
        }
    }
}
