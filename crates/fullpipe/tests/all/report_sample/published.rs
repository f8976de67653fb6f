//! Rows of Bill Fink's runs of May 2007 (netdev, "2.6.20.7 TCP cubic (and bic) initial slow start way
//! too slow?"): MiB delivered in each second.

/// A published run.
pub struct Rows {
    pub name: &'static str,
    pub congestion: &'static str,
    pub total_mbit: f64,
    pub mib: &'static [f64],
}

pub const RUNS: [Rows; 4] = [
    Rows {
        name: "reno",
        congestion: "reno",
        total_mbit: 6554.4883,
        mib: &[
            69.9829, 844.387, 862.7568, 859.5725, 860.1365, 865.394, 863.9678, 864.7493, 864.666,
        ],
    },
    Rows {
        name: "bic, initial_ssthresh 100",
        congestion: "bic",
        total_mbit: 4984.0068,
        mib: &[
            9.9548, 47.2021, 92.4304, 134.3774, 194.3286, 280.0598, 404.3201, 559.1594, 792.71,
            857.2241, 852.6912, 852.6968, 851.3162, 851.4927, 850.8782, 852.7119, 852.3879,
            850.2163, 849.834,
        ],
    },
    Rows {
        name: "cubic, initial_ssthresh 100",
        congestion: "cubic",
        total_mbit: 3012.3936,
        mib: &[
            6.8188, 16.2097, 25.4553, 35.5127, 43.0066, 50.321, 59.0796, 69.1284, 76.6479, 90.6189,
            109.4348, 128.3105, 150.4932, 175.9229, 205.9412, 240.813, 282.179, 318.1841, 372.6814,
            440.8411, 524.8633, 614.3542, 718.9917, 829.0474, 867.3289, 865.7759, 864.4795,
            864.5425, 867.3372,
        ],
    },
    Rows {
        name: "cubic, initial_ssthresh 0",
        congestion: "cubic",
        total_mbit: 6386.2622,
        mib: &[
            69.9829, 843.1467, 844.3655, 842.2671, 839.9204, 840.178, 834.1475, 835.5972, 835.8152,
            830.9333,
        ],
    },
];
