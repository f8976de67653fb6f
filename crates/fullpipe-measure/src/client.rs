//! The client: it asks for a test, and decides its end.

use crate::control::{ANSWER, Control, Lost};
use crate::data::{Flow, Link};
use crate::datagrams;
use crate::inbox::{COOKIE, cookie};
use crate::outcome::{Ended, Outcome, Stream, Watch};
use crate::parameters::{LARGEST_DATAGRAM, Parameters, Protocol};
use crate::results::{LONGEST, Results};
use crate::running::{End, Ends, Plan, Running, text};
use crate::socket;
use crate::state::{State, stream_id};
use crate::wrong::Wrong;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use std::io::Read;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Longest wait for a connection.
const CONNECTS: Duration = Duration::from_secs(10);
/// Longest wait for the first answer, which says whether a server of this protocol is there.
const GREETS: Duration = Duration::from_secs(10);

/// A wanted test.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Name or address of the server.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// Parameters.
    pub parameters: Parameters,
    /// Time from one interval to the next; none: there is one interval.
    pub every: Option<Duration>,
}

impl Wanted {
    fn name(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// Makes a test.
///
/// # Errors
/// The test cannot begin. One that has begun has an outcome.
pub fn run(wanted: &Wanted, watch: &mut dyn Watch) -> Result<Outcome, Wrong> {
    if let Some(congestion) = &wanted.parameters.congestion {
        check_congestion(congestion)?;
    }
    let name = wanted.name();
    let mut wanted = wanted.clone();
    let mut client = Client::open(&wanted, &name)?;
    client.fit(&mut wanted.parameters);
    let peer = client.control.peer;
    let flows = client.streams(&wanted, watch)?;
    let mut test = Running::new(wanted.parameters.clone(), flows);

    let plan = Plan { every: wanted.every, decides: true };
    let end = test.run(&mut client.control, &plan, watch, &mut |watch| !watch.is_stopped());
    if end == End::Through {
        test.flush(&mut || !watch.is_stopped());
    }
    let ends = Ends { is_server: false, cookie: text(&client.cookie), peer };
    let own = test.results(false);
    let (other, ended) = client.finish(&end, &own, watch);
    Ok(Outcome { other, ended, ..test.outcome(ends, own) })
}

/// A client with its control connection.
struct Client<'a> {
    control: Control,
    cookie: [u8; COOKIE],
    name: &'a str,
}

impl<'a> Client<'a> {
    /// Connects, and says the cookie.
    fn open(wanted: &Wanted, name: &'a str) -> Result<Client<'a>, Wrong> {
        let socket = connect_any(&wanted.host, wanted.port, name)?;
        let cookie = cookie(random().map_err(|why| Wrong::during("/dev/urandom", why))?);
        let control = Control::new(socket).map_err(|why| Wrong::during(name, why))?;
        let mut client = Client { control, cookie, name };

        // A server that is busy says so and closes before it reads anything.
        let _ = client.control.send(&cookie);
        Ok(client)
    }

    /// Sets the size of datagrams where none is asked for: what the path takes in one packet.
    fn fit(&self, asked: &mut Parameters) {
        if asked.len == 0 {
            let segment = self.control.segment().unwrap_or(1448);
            asked.len = segment.min(LARGEST_DATAGRAM);
        }
    }

    /// Answers the server's states until the test runs; returns its streams.
    fn streams(&mut self, wanted: &Wanted, watch: &mut dyn Watch) -> Result<Vec<Flow>, Wrong> {
        let mut flows = Vec::new();
        let mut limit = GREETS;
        let mut is_known = false;
        loop {
            let heard = self.control.state(limit, &mut || !watch.is_stopped());
            let state = match heard {
                Ok(state) => state,
                Err(why) if is_known => return Err(self.lost(&why)),
                Err(why) => return Err(self.stranger(&why)),
            };
            is_known = true;
            limit = ANSWER;
            match state {
                State::ParamExchange => {
                    let sent = self.control.send_json(&wanted.parameters.write());
                    sent.map_err(|why| self.lost(&why))?;
                }
                State::CreateStreams if flows.is_empty() => flows = self.connect(wanted, watch)?,
                State::TestStart => {}
                State::TestRunning if !flows.is_empty() => return Ok(flows),
                State::AccessDenied => {
                    return Err(Wrong::Environment(format!(
                        "{} is busy with another test: wait until it is over",
                        self.name
                    )));
                }
                State::ServerTerminate => {
                    return Err(Wrong::Environment(format!(
                        "the server {} was stopped",
                        self.name
                    )));
                }
                State::ServerError => return Err(Wrong::Environment(self.refusal())),
                other => {
                    return Err(Wrong::Environment(format!(
                        "{} has sent {other:?} before the test; this end speaks the protocol of \
                         iperf3 3.7 to 3.21",
                        self.name
                    )));
                }
            }
        }
    }

    /// Opens the streams, one after the other: both ends number them by that order.
    fn connect(&mut self, wanted: &Wanted, watch: &mut dyn Watch) -> Result<Vec<Flow>, Wrong> {
        let asked = &wanted.parameters;
        let mut flows = Vec::new();
        for place in 0..asked.streams() {
            let failed = |why: std::io::Error| {
                let number = place + 1;
                Wrong::during(format!("stream {number} to {}", self.name), why)
            };
            if asked.protocol == Protocol::Udp {
                let own = datagrams::greet(self.control.peer, &mut || !watch.is_stopped());
                let own = own.map_err(failed)?;
                let here = own.local_addr().map_err(failed)?;
                let stream = self.stream(asked, place, here);
                flows.push(Flow::new(Link::Udp(own), stream).map_err(failed)?);
                continue;
            }
            let socket = connect(self.control.peer, asked)?;
            socket::connected(&socket, asked).map_err(failed)?;
            let mut control = Control::new(socket.try_clone().map_err(failed)?).map_err(failed)?;
            control.send(&self.cookie).map_err(|why| self.lost(&why))?;
            if !asked.nodelay {
                sockopt::set_tcp_nodelay(&socket, false).map_err(|why| failed(why.into()))?;
            }
            let stream = self.stream(asked, place, socket.local_addr().map_err(failed)?);
            flows.push(Flow::new(Link::Tcp(socket), stream).map_err(failed)?);
        }
        Ok(flows)
    }

    fn stream(&self, asked: &Parameters, place: usize, here: SocketAddr) -> Stream {
        let there = self.control.peer;
        Stream { id: stream_id(place), sends: asked.client_sends(place), here, there }
    }

    /// Exchanges results, as far as the end allows it.
    fn finish(
        &mut self,
        end: &End,
        own: &Results,
        watch: &mut dyn Watch,
    ) -> (Option<Results>, Ended) {
        let exchanged = match end {
            End::Through => self.exchange(own, watch),
            End::Lost(why) => Err(why.clone()),
            End::Said(State::ServerTerminate) => return (None, Ended::ByPeer),
            End::Said(State::ServerError) => return (None, Ended::Broken(self.refusal())),
            End::Said(other) => {
                let why = format!("{} has sent {other:?} while data flowed", self.name);
                return (None, Ended::Broken(why));
            }
            End::Stream(why) => {
                return (None, Ended::Broken(format!("a stream to {} broke: {why}", self.name)));
            }
            End::Silent => {
                let why = format!("no data to or from {} moved for two minutes", self.name);
                return (None, Ended::Broken(why));
            }
        };
        let name = self.name;
        self.control.settle(exchanged, State::ClientTerminate, |why| gone(name, why))
    }

    fn exchange(&mut self, own: &Results, watch: &mut dyn Watch) -> Result<Results, Lost> {
        let mut go_on = || !watch.is_stopped();
        self.control.send_state(State::TestEnd)?;
        self.expect(State::ExchangeResults, &mut go_on)?;
        self.control.send_json(&own.write())?;
        let value = self.control.json(LONGEST, &mut go_on)?;
        let other = Results::read(&value).map_err(Lost::Malformed)?;
        self.expect(State::DisplayResults, &mut go_on)?;

        // The test is whole: a server that is gone already loses nothing.
        let _ = self.control.send_state(State::IperfDone);
        Ok(other)
    }

    fn expect(&mut self, wanted: State, go_on: &mut dyn FnMut() -> bool) -> Result<(), Lost> {
        match self.control.state(ANSWER, go_on)? {
            own if own == wanted => Ok(()),
            State::ServerError => Err(Lost::Malformed(self.refusal())),
            own => Err(Lost::Malformed(format!("it has sent {own:?} instead of {wanted:?}"))),
        }
    }

    /// Numbers behind a server's error. They differ between versions of iperf3.
    fn refusal(&mut self) -> String {
        const LIMIT: Duration = Duration::from_secs(2);
        let numbers = self.control.wait(LIMIT, &mut || true, |inbox| Ok(inbox.take(8)));
        let why = numbers.map_or(String::new(), |own| {
            let number =
                |at: usize| own[at..at + 4].iter().fold(0, |all, own| all << 8 | i64::from(*own));
            let (error, errno) = (number(0), number(4));
            let errno = match i32::try_from(errno).ok().filter(|own| *own > 0) {
                Some(own) => format!(", {}", std::io::Error::from_raw_os_error(own)),
                None => String::new(),
            };
            format!(" (iperf3's error {error}{errno})")
        });
        format!("the server {} refuses the test{why}: its own output says why", self.name)
    }

    /// The server was there before.
    fn lost(&self, why: &Lost) -> Wrong {
        match why {
            Lost::Stopped => Wrong::Environment("stopped before the test began".into()),
            why => Wrong::Environment(gone(self.name, why)),
        }
    }

    /// The first answer is none of this protocol.
    fn stranger(&self, why: &Lost) -> Wrong {
        let advice = "start `fullpipe measure --server` or `iperf3 -s` there";
        let name = self.name;
        Wrong::Environment(match why {
            Lost::Stopped => "stopped before the test began".into(),
            Lost::Closed(_) => {
                format!(
                    "{name} has closed the connection without an answer: it is no iperf3 server, or one that allows other hosts only; {advice}"
                )
            }
            Lost::Late(limit) => format!(
                "{name} takes connections and does not answer within {} s: it is no iperf3 server; {advice}",
                limit.as_secs()
            ),
            Lost::Malformed(_) => {
                let said = self.control.inbox.shown();
                format!("{name} is no iperf3 server: it answers \"{said}\"; {advice}")
            }
        })
    }
}

fn gone(name: &str, why: &Lost) -> String {
    format!("the server {name} is lost: {why}")
}

/// Connects to the first address of a host that answers.
fn connect_any(host: &str, port: u16, name: &str) -> Result<TcpStream, Wrong> {
    let found = (host, port).to_socket_addrs();
    let found: Vec<SocketAddr> = match found {
        Ok(found) => found.collect(),
        Err(why) => {
            let text = format!(
                "the host {host:?} is not known ({why}): check its name, or use its address"
            );
            return Err(Wrong::Request(text));
        }
    };
    let mut failure = None;
    for address in found {
        match TcpStream::connect_timeout(&address, CONNECTS) {
            Ok(socket) => return Ok(socket),
            Err(why) => failure = Some(why),
        }
    }
    Err(Wrong::Environment(match failure {
        Some(why) => unreachable(name, &why),
        None => format!("the host {host:?} has no address"),
    }))
}

fn unreachable(name: &str, why: &std::io::Error) -> String {
    use std::io::ErrorKind::{ConnectionRefused, TimedOut};
    match why.kind() {
        ConnectionRefused => format!(
            "{name} refuses the connection: no server listens there; start `fullpipe measure --server` or `iperf3 -s`, or name its port with -p"
        ),
        TimedOut => format!(
            "{name} does not answer within {} s: check the address, whether the host is up, and firewalls on the way",
            CONNECTS.as_secs()
        ),
        _ => format!("{name}: {why}"),
    }
}

/// Connects a stream, with the options that its handshake shows.
fn connect(peer: SocketAddr, asked: &Parameters) -> Result<TcpStream, Wrong> {
    let failed = |why: std::io::Error| Wrong::Environment(unreachable(&peer.to_string(), &why));
    let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None);
    let socket = socket.map_err(|why| failed(why.into()))?;
    socket::before_handshake(&socket, asked)
        .map_err(|why| Wrong::Request(format!("-w or -M is not possible here: {why}")))?;
    if let Some(name) = &asked.congestion {
        let set = sockopt::set_tcp_congestion(&socket, name);
        set.map_err(|why| no_congestion(name, why))?;
    }
    match rustix::net::connect(&socket, &peer) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(why) => return Err(failed(why.into())),
    }
    crate::control::ready(&socket, PollFlags::OUT, CONNECTS);
    match sockopt::socket_error(&socket) {
        Ok(Ok(())) => {}
        Ok(Err(why)) | Err(why) => return Err(failed(why.into())),
    }
    let socket = TcpStream::from(socket);
    socket.peer_addr().map_err(|_| failed(std::io::ErrorKind::TimedOut.into()))?;
    Ok(socket)
}

/// Whether this host has that congestion control, before a server is asked for anything.
fn check_congestion(name: &str) -> Result<(), Wrong> {
    let failed = |why| Wrong::during("a socket", why);
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None);
    let set = sockopt::set_tcp_congestion(socket.map_err(failed)?, name);
    set.map_err(|why| no_congestion(name, why))
}

/// The congestion control is not there.
fn no_congestion(name: &str, why: Errno) -> Wrong {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let known = known.unwrap_or_default();
    Wrong::Request(format!(
        "-C {name}: this host does not take it ({why}); it has {}. `modprobe tcp_{name}` loads a module",
        known.trim()
    ))
}

fn random() -> std::io::Result<[u8; COOKIE - 1]> {
    let mut bytes = [0; COOKIE - 1];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
