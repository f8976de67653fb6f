//! `ethtool -S` and `ethtool -g` in words.

use super::lines::Line;

/// A counter of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardCounter {
    /// Name of the driver.
    pub name: String,
    /// Value.
    pub value: u64,
    /// Line.
    pub line: usize,
}

/// Sizes of a card's rings, descriptors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// Device.
    pub device: String,
    /// Receive ring now.
    pub rx: Option<u32>,
    /// Largest receive ring.
    pub rx_max: Option<u32>,
    /// Transmit ring now.
    pub tx: Option<u32>,
    /// Largest transmit ring.
    pub tx_max: Option<u32>,
    /// Line of the receive ring now.
    pub line: usize,
}

/// The counters of a text.
pub fn counters(lines: &[Line]) -> Vec<CardCounter> {
    let mut all = Vec::new();
    let mut within = false;
    for line in lines {
        let text = line.text.trim();
        if text == "NIC statistics:" {
            within = true;
            continue;
        }
        let own = text.split_once(':').filter(|_| within);
        let own = own.and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
        match own {
            Some((name, value)) => {
                all.push(CardCounter { name: name.into(), value, line: line.number });
            }
            // Queues have titles of their own.
            None => within &= line.is_indented() || text.ends_with(':'),
        }
    }
    all
}

/// The rings of a text.
pub fn rings(lines: &[Line]) -> Vec<Ring> {
    let mut all: Vec<Ring> = Vec::new();
    let mut is_now = false;
    for line in lines {
        let text = line.text.trim();
        if let Some(device) = text.strip_prefix("Ring parameters for ") {
            let device = device.trim_end_matches(':').into();
            all.push(Ring { device, ..Ring::default() });
            is_now = false;
        }
        is_now |= text.starts_with("Current hardware settings");
        let (Some(own), Some((name, value))) = (all.last_mut(), text.split_once(':')) else {
            continue;
        };
        let value = value.trim().parse().ok();
        match (name, is_now) {
            ("RX", true) => (own.rx, own.line) = (value, line.number),
            ("RX", false) => own.rx_max = value,
            ("TX", true) => own.tx = value,
            ("TX", false) => own.tx_max = value,
            _ => {}
        }
    }
    all.retain(|own| own.line > 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    #[test]
    fn counters_end_with_the_list() {
        let text = "NIC statistics:
     rx_packets: 100
     rx_missed_errors: 7
     queue 0:
       drops: 2
$ date
     uptime: 5
";
        let all: Vec<(String, u64)> =
            counters(&clean(text)).into_iter().map(|own| (own.name, own.value)).collect();
        let expected = [("rx_packets", 100), ("rx_missed_errors", 7), ("drops", 2)];
        assert_eq!(all, expected.map(|(name, value)| (name.to_string(), value)));
    }

    #[test]
    fn rings_have_a_size_and_a_largest_one() {
        let text = "Ring parameters for eth0:
Pre-set maximums:
RX:\t\t4096
RX Mini:\tn/a
TX:\t\t4096
Current hardware settings:
RX:\t\t256
TX:\t\t512
";
        let own = &rings(&clean(text))[0];
        assert_eq!((own.rx, own.rx_max, own.tx, own.line), (Some(256), Some(4096), Some(512), 7));
    }
}
