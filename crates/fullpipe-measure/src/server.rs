//! The server: one test at a time, and others are turned away meanwhile.

use crate::control::{ANSWER, Control, Lost, SLICE, plain, ready};
use crate::data::{Flow, Link};
use crate::datagrams;
use crate::inbox::COOKIE;
use crate::outcome::{Ended, Outcome, Stream, Watch};
use crate::parameters::{self, Parameters, Protocol};
use crate::results::{LONGEST, Results};
use crate::running::{End, Ends, Plan, Running, text};
use crate::socket;
use crate::state::{State, stream_id};
use crate::wrong::Wrong;
use rustix::event::PollFlags;
use rustix::net::sockopt;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Longest wait for a client's first bytes.
const GREETS: Duration = Duration::from_secs(5);
/// Longest wait for all streams.
const STREAMS: Duration = Duration::from_secs(30);
/// Number of iperf3 for "not implemented" (IEUNIMP of src/iperf_api.h).
const NOT_BUILT: u32 = 13;

/// Events of a server.
#[derive(Debug)]
pub enum Served {
    /// A test that has begun is over.
    Test(Box<Outcome>),
    /// A client did not get as far as a test, for this reason.
    Nothing(String),
    /// The caller has stopped the server.
    Stopped,
}

/// A server.
pub struct Server {
    listener: TcpListener,
    port: u16,
    every: Option<Duration>,
    /// Whether a client's options stick to the listener.
    is_stained: bool,
}

impl Server {
    /// Listens at a port, on all addresses of both families; 0: at a free one. `every`: time from one interval to the next.
    ///
    /// # Errors
    /// The port is taken, or not allowed.
    pub fn bind(port: u16, every: Option<Duration>) -> Result<Server, Wrong> {
        let listener = listen(port)?;
        let port = listener.local_addr().map_err(|why| Wrong::during("the listener", why))?.port();
        Ok(Server { listener, port, every, is_stained: false })
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for a client, and serves it.
    ///
    /// # Errors
    /// The server cannot listen any more.
    pub fn serve(&mut self, watch: &mut dyn Watch) -> Result<Served, Wrong> {
        if self.is_stained {
            self.renew()?;
        }
        let (socket, peer) = loop {
            if watch.is_stopped() {
                return Ok(Served::Stopped);
            }
            match self.listener.accept() {
                Ok(accepted) => break accepted,
                Err(why) if is_passing(why.kind()) => {
                    ready(&self.listener, PollFlags::IN, 5 * SLICE)
                }
                Err(why) => return Err(Wrong::during("accepting a client", why)),
            }
        };
        let peer = plain(peer);
        let control = match Control::new(socket) {
            Ok(control) => control,
            Err(why) => return Ok(Served::Nothing(format!("client {peer}: {why}"))),
        };
        let mut test = Test { server: self, control, cookie: Vec::new(), ours: Vec::new() };
        Ok(match test.serve(watch) {
            Ok(outcome) => Served::Test(Box::new(outcome)),
            Err(Lost::Stopped) => {
                let _ = test.control.send_state(State::ServerTerminate);
                Served::Stopped
            }
            Err(why) => Served::Nothing(format!("client {peer}: {why}")),
        })
    }

    /// Listens anew, without the options of the last client.
    fn renew(&mut self) -> Result<(), Wrong> {
        // The port is free only when the old listener is gone.
        let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        self.listener = any.map_err(|why| Wrong::during("a listener", why))?;
        self.listener = listen(self.port)?;
        self.is_stained = false;
        Ok(())
    }
}

fn listen(port: u16) -> Result<TcpListener, Wrong> {
    let both = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port));
    let listener = both.or_else(|why| match why.kind() {
        ErrorKind::AddrInUse | ErrorKind::PermissionDenied => Err(why),
        _ => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
    });
    let listener = listener.map_err(|why| {
        let text = match why.kind() {
            ErrorKind::AddrInUse => {
                format!("port {port} is taken: another server runs there; -p names another port")
            }
            ErrorKind::PermissionDenied => format!("port {port} needs root; -p names another port"),
            _ => format!("port {port}: {why}"),
        };
        Wrong::Environment(text)
    })?;
    listener.set_nonblocking(true).map_err(|why| Wrong::during("the listener", why))?;
    Ok(listener)
}

/// Whether another attempt may succeed.
fn is_passing(kind: ErrorKind) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(kind, WouldBlock | Interrupted | ConnectionAborted | ConnectionReset)
}

/// A connection that may become a stream.
struct Candidate {
    control: Control,
    socket: TcpStream,
    since: Instant,
    /// Whether it has said the cookie.
    is_ours: bool,
}

/// A test with its client.
struct Test<'a> {
    server: &'a mut Server,
    control: Control,
    cookie: Vec<u8>,
    ours: Vec<Candidate>,
}

impl Test<'_> {
    fn serve(&mut self, watch: &mut dyn Watch) -> Result<Outcome, Lost> {
        let asked = self.parameters(watch)?;
        let flows = self.streams(&asked, watch)?;
        self.control.send_state(State::TestStart)?;
        let mut test = Running::new(asked, flows);
        self.control.send_state(State::TestRunning)?;

        let plan = Plan { every: self.server.every, decides: false };
        let listener = &self.server.listener;
        let end = test.run(&mut self.control, &plan, watch, &mut |watch| goes_on(listener, watch));
        let is_over = end == End::Said(State::TestEnd);
        if is_over {
            test.drain(&mut || goes_on(listener, watch));
        }
        let own = test.results(is_over);

        // iperf3 takes the end of its streams for the server's answer to the end.
        let ends = Ends { is_server: true, cookie: text(&self.cookie), peer: self.control.peer };
        let outcome = test.outcome(ends, own.clone());
        let (other, ended) = self.finish(&end, &own, watch);
        Ok(Outcome { other, ended, ..outcome })
    }

    /// The cookie, then the parameters.
    fn parameters(&mut self, watch: &mut dyn Watch) -> Result<Parameters, Lost> {
        let listener = &self.server.listener;
        let mut go_on = || goes_on(listener, watch);
        let cookie = self.control.wait(GREETS, &mut go_on, |inbox| Ok(inbox.take(COOKIE)));
        self.cookie = cookie.map_err(|why| match why {
            Lost::Late(_) => {
                Lost::Malformed("it says nothing, so it is no client of iperf3".into())
            }
            why => why,
        })?;
        self.control.send_state(State::ParamExchange)?;
        let value = self.control.json(parameters::LONGEST, &mut go_on)?;
        let asked = Parameters::read(&value).map_err(|why| self.refuse(&why))?;
        watch.asked(self.control.peer, &asked);
        let mut unbuilt = asked.unbuilt.clone();
        if asked.protocol == Protocol::Udp && asked.window.is_some() {
            unbuilt.push("the window of datagrams".into());
        }
        match unbuilt.is_empty() {
            true => Ok(asked),
            false => {
                let names = unbuilt.join(", ");
                Err(self.refuse(&format!("it asks for {names}: not built yet")))
            }
        }
    }

    /// Turns the client away with an error.
    fn refuse(&mut self, why: &str) -> Lost {
        let numbers = [NOT_BUILT.to_be_bytes(), 0_u32.to_be_bytes()].concat();
        let _ = self.control.send_state(State::ServerError);
        let _ = self.control.send(&numbers);
        Lost::Malformed(why.into())
    }

    /// Accepts the streams, in the order of their connections.
    fn streams(&mut self, asked: &Parameters, watch: &mut dyn Watch) -> Result<Vec<Flow>, Lost> {
        if asked.protocol == Protocol::Udp {
            return self.datagrams(asked, watch);
        }
        let prepared = socket::before_handshake(&self.server.listener, asked);
        self.server.is_stained = asked.window.is_some() || asked.mss.is_some();
        prepared
            .map_err(|why| self.refuse(&format!("its options are not possible here: {why}")))?;
        self.control.send_state(State::CreateStreams)?;

        let begun = Instant::now();
        let count = asked.streams();
        while self.ours.iter().filter(|own| own.is_ours).count() < count {
            if watch.is_stopped() {
                return Err(Lost::Stopped);
            }
            if begun.elapsed() > STREAMS {
                let (here, limit) = (self.ours.len(), STREAMS.as_secs());
                let text = format!("{here} of {count} streams came within {limit} s");
                return Err(Lost::Malformed(text));
            }

            self.listen()?;
            self.accept(watch);
        }

        let mut flows = Vec::new();
        let ours = std::mem::take(&mut self.ours);
        for (place, own) in ours.into_iter().filter(|own| own.is_ours).enumerate() {
            let failed = |why: std::io::Error| Lost::Closed(format!("stream {}: {why}", place + 1));
            let (here, there) = (own.control.here().map_err(failed)?, own.control.peer);
            let _ = sockopt::set_tcp_nodelay(&own.socket, false);
            socket::connected(&own.socket, asked).map_err(failed)?;
            if let Some(name) = &asked.congestion {
                // As iperf3: a name that this end lacks leaves the default, and the results say which one it is.
                let _ = sockopt::set_tcp_congestion(&own.socket, name);
            }
            let sends = !asked.client_sends(place);
            let stream = Stream { id: stream_id(place), sends, here, there };
            flows.push(Flow::new(Link::Tcp(own.socket), stream).map_err(failed)?);
        }
        Ok(flows)
    }

    /// The client says nothing while its streams begin, unless it gives up.
    fn listen(&mut self) -> Result<(), Lost> {
        match self.control.state(Duration::ZERO, &mut || true) {
            Err(Lost::Late(_)) => Ok(()),
            Err(why) => Err(why),
            Ok(State::ClientTerminate) => {
                Err(Lost::Closed("it was stopped before the test began".into()))
            }
            Ok(other) => {
                let text = format!("it has sent {other:?} before its streams were there");
                Err(Lost::Malformed(text))
            }
        }
    }

    /// Takes the streams of UDP: the first datagram of each opens it, in their order.
    fn datagrams(&mut self, asked: &Parameters, watch: &mut dyn Watch) -> Result<Vec<Flow>, Lost> {
        let failed = |why: std::io::Error| Lost::Closed(format!("UDP: {why}"));
        let (peer, port) = (self.control.peer.ip(), self.server.port);
        let mut next = datagrams::bind(peer, port).map_err(failed)?;
        self.control.send_state(State::CreateStreams)?;

        let (begun, mut flows) = (Instant::now(), Vec::new());
        while flows.len() < asked.streams() {
            if !goes_on(&self.server.listener, watch) {
                return Err(Lost::Stopped);
            }
            if begun.elapsed() > STREAMS {
                let (here, all, limit) = (flows.len(), asked.streams(), STREAMS.as_secs());
                let text = format!("datagrams of {here} of {all} streams came within {limit} s");
                return Err(Lost::Malformed(text));
            }
            self.listen()?;
            ready(&next, PollFlags::IN, Duration::from_millis(2));
            if !datagrams::welcome(&next, peer).map_err(failed)? {
                continue;
            }

            // The socket of the next stream has to be there before the client may open it.
            let own = std::mem::replace(&mut next, datagrams::bind(peer, port).map_err(failed)?);
            datagrams::answer(&own).map_err(failed)?;
            let (here, there) =
                (own.local_addr().map_err(failed)?, own.peer_addr().map_err(failed)?);
            let place = flows.len();
            let sends = !asked.client_sends(place);
            let (here, there) = (plain(here), plain(there));
            let stream = Stream { id: stream_id(place), sends, here, there };
            flows.push(Flow::new(Link::Udp(own), stream).map_err(failed)?);
        }
        Ok(flows)
    }

    /// Takes connections that say the cookie, and turns others away.
    fn accept(&mut self, watch: &mut dyn Watch) {
        ready(&self.server.listener, PollFlags::IN, Duration::from_millis(2));
        if let Ok((socket, _)) = self.server.listener.accept()
            && let Ok(twin) = socket.try_clone()
            && let Ok(control) = Control::new(twin)
        {
            self.ours.push(Candidate { control, socket, since: Instant::now(), is_ours: false });
        }
        let cookie = &self.cookie;
        self.ours.retain_mut(|own| {
            if own.is_ours {
                return true;
            }
            let said =
                own.control.wait(Duration::ZERO, &mut || true, |inbox| Ok(inbox.take(COOKIE)));
            match said {
                Ok(said) if said == *cookie => {
                    own.is_ours = true;
                    true
                }
                Err(Lost::Late(_)) if own.since.elapsed() < GREETS => true,
                _ => {
                    let _ = own.control.send_state(State::AccessDenied);
                    watch.refused(own.control.peer);
                    false
                }
            }
        });
    }

    /// Exchanges results, as far as the end allows it.
    fn finish(
        &mut self,
        end: &End,
        own: &Results,
        watch: &mut dyn Watch,
    ) -> (Option<Results>, Ended) {
        let exchanged = match end {
            End::Said(State::TestEnd) => self.exchange(own, watch),
            End::Lost(why) => Err(why.clone()),
            End::Said(State::ClientTerminate) => return (None, Ended::ByPeer),
            End::Said(other) => {
                return (
                    None,
                    Ended::Broken(format!("the client has sent {other:?} while data flowed")),
                );
            }
            End::Stream(why) => return (None, Ended::Broken(format!("a stream broke: {why}"))),
            End::Silent | End::Through => {
                let why = "the client is silent: no data, and no end of the test";
                return (None, Ended::Broken(why.into()));
            }
        };
        let broken = |why: &Lost| format!("the client is lost: {why}");
        self.control.settle(exchanged, State::ServerTerminate, broken)
    }

    fn exchange(&mut self, own: &Results, watch: &mut dyn Watch) -> Result<Results, Lost> {
        let listener = &self.server.listener;
        let mut go_on = || goes_on(listener, watch);
        self.control.send_state(State::ExchangeResults)?;
        let value = self.control.json(LONGEST, &mut go_on)?;
        let other = Results::read(&value).map_err(Lost::Malformed)?;
        self.control.send_json(&own.write())?;
        self.control.send_state(State::DisplayResults)?;

        // All is said; a client that closes without a word has all it needs.
        let _ = self.control.state(ANSWER, &mut go_on);
        Ok(other)
    }
}

/// Tells clients that come while a test runs that the server is busy. Returns whether the test is to go on.
fn goes_on(listener: &TcpListener, watch: &mut dyn Watch) -> bool {
    while let Ok((mut socket, peer)) = listener.accept() {
        let _ = socket.write(&[State::AccessDenied.byte()]);
        watch.refused(plain(peer));
    }
    !watch.is_stopped()
}
