//! Random streams: one per element, derived from the run's seed and the element's name.

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and good enough to decide about packets.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of the element `name` in a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Rng {
        // FNV-1a of the name keeps streams of different elements apart.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut rng = Rng(seed ^ hash);
        // The first number mixes seed and hash.
        rng.next_u64();
        rng
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea and Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1]: never zero, so that its logarithm exists.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Failures before the first success of trials with probability `p`; `u64::MAX` for p = 0.
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p <= 0.0 {
            return u64::MAX;
        }
        if p >= 1.0 {
            return 0;
        }
        // The inverse of the geometric distribution; log1p keeps a small probability exact.
        let draws = libm::floor(libm::log(self.unit()) / libm::log1p(-p));
        if draws >= 1e18 { u64::MAX } else { draws as u64 }
    }

    /// A normally distributed number with mean 0 and deviation 1 (Box and Muller 1958, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }
}

/// Random numbers in (0, 1]. Each is the share `correlation` of the previous one and a new one for the rest, as in
/// netem (Linux 6.1 `get_crandom`). With a correlation they lie closer to the middle. So a number below a probability p
/// is rarer than p says, for p below a half.
#[derive(Clone, Debug)]
pub struct Correlated {
    rng: Rng,
    correlation: f64,
    last: f64,
}

impl Correlated {
    /// The stream of the element `name` in a run with `seed`; `correlation` is 0 to 1.
    pub fn new(seed: u64, name: &str, correlation: f64) -> Correlated {
        let mut rng = Rng::new(seed, name);
        let last = rng.unit();
        Correlated { rng, correlation, last }
    }

    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "there is no end")]
    pub fn next(&mut self) -> f64 {
        self.last = (1.0 - self.correlation) * self.rng.unit() + self.correlation * self.last;
        self.last
    }
}
