//! `fullpipe --version`: the version, the commit, and the kernels.

use fullpipe::engine::engines;
use fullpipe::scenario;
use fullpipe::sim::tcp::profile::PROFILES;
use std::sync::LazyLock;

/// The version, and the commit of a release build from a checkout of git.
pub fn short() -> &'static str {
    static SHORT: LazyLock<String> = LazyLock::new(|| {
        let version = env!("CARGO_PKG_VERSION");
        match (env!("FULLPIPE_COMMIT"), cfg!(debug_assertions)) {
            ("", true) => format!("{version} (debug build)"),
            ("", false) => version.to_string(),
            (commit, _) => format!("{version} (commit {commit})"),
        }
    });
    &SHORT
}

/// The short version, and the kernels that there are.
pub fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let simulated = PROFILES.iter().map(|own| scenario::shown(own.name));
        let simulated = simulated.collect::<Vec<_>>().join(", ");
        let real: Vec<&str> = engines().iter().flat_map(|engine| engine.kernels()).collect();
        let real = real.join(", ");
        format!(
            "{}\nkernels of the simulator: {simulated}\nvalidated against the real kernel: {real}",
            short()
        )
    });
    &LONG
}
