# One scenario of this directory on ns-2 2.35 with its TCP-Linux agent: two hosts, one link, bulk flows in
# one direction.
#
# Arguments are key=value, as scenario.py derives them from the scenario: times in s, rates in bit/s, sizes
# in bytes; `flow=START,STOP` once per flow. Prints what it did, one "key value" per line, at the scenario's
# end or at its limit of CPU seconds; on standard error, because the agent talks on standard output.

set flows {}
foreach word $argv {
    regexp {^([^=]+)=(.*)$} $word all key value
    if {$key eq "flow"} {
        lappend flows [split $value ,]
    } else {
        set given($key) $value
    }
}

# A packet that carries only the headers in use takes a tenth of the memory.
remove-all-packet-headers
add-packet-header IP TCP Flags

# Headers of IPv4 and TCP with timestamps, bytes. ns-2 adds TCP's own to packetSize_.
set headers 52
set mss [expr {$given(mtu) - $headers}]

Agent/TCP set useHeaders_ true
Agent/TCP/Linux set timestamps_ true
Agent/TCP/Linux set packetSize_ $mss
Agent/TCP/Linux set window_ [expr {$given(window) / $mss}]
Agent/TCP/Linux set windowInit_ $given(initial_cwnd)
Agent/TCP/Linux set minrto_ 0.2
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink/Sack1/DelAck set interval_ 40ms
Queue/DropTail set queue_in_bytes_ true
Queue/DropTail set mean_pktsize_ $given(mtu)

set ns [new Simulator]
set sender [$ns node]
set receiver [$ns node]
$ns simplex-link $sender $receiver $given(rate) [expr {$given(rtt) / 2.0}] DropTail
$ns simplex-link $receiver $sender $given(rate) [expr {$given(rtt) / 2.0}] DropTail
$ns queue-limit $sender $receiver [expr {$given(queue) / $given(mtu)}]

if {$given(loss) > 0} {
    set loss [new ErrorModel]
    $loss unit pkt
    $loss set rate_ $given(loss)
    $loss ranvar [new RandomVariable/Uniform]
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $sender $receiver
}

set agents {}
foreach flow $flows {
    lassign $flow start stop
    set tcp [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $sender $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0 "$tcp select_ca $given(congestion)"
    $ns at $start "$ftp start"
    $ns at $stop "$ftp stop"
    lappend agents $tcp
}
if {$given(congestion) eq "cubic"} {
    $ns at 0 "[lindex $agents 0] set_ca_default_param cubic initial_ssthresh 0"
}

# CPU seconds of this process: fields 14 and 15 of its stat, hundredths of a second.
proc cpu_s {} {
    set file [open /proc/self/stat]
    set fields [split [lindex [split [read $file] )] end]]
    close $file
    return [expr {([lindex $fields 12] + [lindex $fields 13]) / 100.0}]
}

proc total {field} {
    global agents
    set sum 0
    foreach tcp $agents {
        set sum [expr {$sum + [$tcp set $field]}]
    }
    return $sum
}

proc finish {} {
    global ns mss
    puts stderr "simulated_s [$ns now]"
    puts stderr "data_packets [expr {int([total ndatapack_])}]"
    puts stderr "retransmitted [expr {int([total nrexmitpack_])}]"
    # ack_ is the number of the last packet acknowledged, from 0.
    puts stderr "delivered_bytes [expr {int(([total ack_]) * double($mss))}]"
    puts stderr "timeouts [expr {int([total nrexmit_])}]"
    exit 0
}

proc watch {interval} {
    global ns given
    if {[cpu_s] >= $given(cpu_limit)} finish
    $ns at [expr {[$ns now] + $interval}] "watch $interval"
}

set interval [expr {$given(end) / 1000.0}]
$ns at $interval "watch $interval"
$ns at $given(end) finish
$ns run
