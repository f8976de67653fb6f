// One scenario of this directory on ns-3 3.37: two hosts, one link, bulk flows in one direction.
//
// Arguments are key=value, as scenario.py derives them from the scenario: times in s, rates in bit/s,
// sizes in bytes; `flow=START,STOP` once per flow. Prints what it did, one "key value" per line. It ends
// at the scenario's end, at its limit of CPU seconds, or on Ctrl-C, and always says how far it came.
//
// What is modelled is the least that the scenario needs, in ns-3's favour: the sender's interface is the
// bottleneck itself, without a router, and without the traffic control layer in front of it.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <csignal>
#include <iostream>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <sys/resource.h>

using namespace ns3;

namespace {

// Headers of IPv4 and TCP with timestamps, and what PPP adds to an IP packet, bytes.
constexpr uint32_t kHeaders = 52;
constexpr uint16_t kPort = 5001;

volatile std::sig_atomic_t g_stop = 0;

void OnSignal(int) { g_stop = 1; }

// The arguments of the command line.
struct Arguments {
    std::map<std::string, std::string> values;
    std::list<std::pair<double, double>> flows;

    double Number(const std::string& key) const { return std::stod(values.at(key)); }
    uint64_t Whole(const std::string& key) const { return std::stoull(values.at(key)); }
};

Arguments Parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        auto equals = word.find('=');
        std::string key = word.substr(0, equals), value = word.substr(equals + 1);
        if (key == "flow") {
            auto comma = value.find(',');
            arguments.flows.emplace_back(std::stod(value), std::stod(value.substr(comma + 1)));
        } else {
            arguments.values[key] = value;
        }
    }
    return arguments;
}

// What the senders did.
struct Totals {
    uint64_t data = 0;
    uint64_t retransmitted = 0;
    uint64_t dropped = 0;
    uint64_t lost = 0;
};

// Follows the data segments of one flow.
struct Watch {
    Totals* totals;
    SequenceNumber32 next{1};

    void Sent(Ptr<const Packet> payload, const TcpHeader& header, Ptr<const TcpSocketBase>) {
        if (g_stop) {
            Simulator::Stop();
        }
        uint32_t size = payload->GetSize();
        if (size == 0) {
            return;
        }
        totals->data++;
        SequenceNumber32 end = header.GetSequenceNumber() + size;
        if (end > next) {
            next = end;
        } else {
            totals->retransmitted++;
        }
    }
};

void Connect(Watch* watch, Ptr<BulkSendApplication> application) {
    auto socket = application->GetSocket();
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&Watch::Sent, watch));
}

void Dropped(Totals* totals, Ptr<const Packet>) { totals->dropped++; }
void Lost(Totals* totals, Ptr<const Packet>) { totals->lost++; }

// As Linux 2.6.20 where ns-3 lets us: SACK, timestamps, delayed ACKs, least timeout, CUBIC's beta.
void SetDefaults(const Arguments& arguments) {
    bool cubic = arguments.values.at("congestion") == "cubic";
    auto type = cubic ? TcpCubic::GetTypeId() : TcpLinuxReno::GetTypeId();
    uint32_t mtu = arguments.Whole("mtu");
    uint32_t window = arguments.Whole("window");
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(type));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mtu - kHeaders));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(arguments.Whole("initial_cwnd")));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpCubic::Beta", DoubleValue(0.8));
}

NetDeviceContainer Link(const Arguments& arguments, const NodeContainer& hosts, Totals* totals) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(arguments.Whole("rate"))));
    link.SetDeviceAttribute("Mtu", UintegerValue(arguments.Whole("mtu")));
    // The channel's delay is the same both ways.
    link.SetChannelAttribute("Delay", TimeValue(Seconds(arguments.Number("rtt") / 2)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                  StringValue(arguments.values.at("queue") + "B"));
    auto devices = link.Install(hosts);
    auto sender = DynamicCast<PointToPointNetDevice>(devices.Get(0));
    sender->GetQueue()->TraceConnectWithoutContext("Drop", MakeBoundCallback(&Dropped, totals));
    double loss = arguments.Number("loss");
    if (loss > 0) {
        auto model = CreateObject<RateErrorModel>();
        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(loss);
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(model));
        devices.Get(1)->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&Lost, totals));
    }
    return devices;
}

void Flows(const Arguments& arguments, Ptr<Node> host, Ipv4Address to, std::list<Watch>& watches,
           Totals* totals) {
    for (auto [start, stop] : arguments.flows) {
        BulkSendHelper helper("ns3::TcpSocketFactory", InetSocketAddress(to, kPort));
        helper.SetAttribute("SendSize", UintegerValue(65536));
        auto application = DynamicCast<BulkSendApplication>(helper.Install(host).Get(0));
        application->SetStartTime(Seconds(start));
        application->SetStopTime(Seconds(stop));
        watches.push_back({totals});
        Simulator::Schedule(Seconds(start) + NanoSeconds(1), &Connect, &watches.back(), application);
    }
}

void Limit(rlim_t cpu_seconds) {
    std::signal(SIGXCPU, OnSignal);
    std::signal(SIGINT, OnSignal);
    std::signal(SIGTERM, OnSignal);
    struct rlimit limit = {cpu_seconds, cpu_seconds + 30};
    setrlimit(RLIMIT_CPU, &limit);
}

} // namespace

int main(int argc, char** argv) {
    Arguments arguments = Parse(argc, argv);
    Limit(arguments.Whole("cpu_limit"));
    SetDefaults(arguments);

    Totals totals;
    NodeContainer hosts(2);
    InternetStackHelper().Install(hosts);
    auto devices = Link(arguments, hosts, &totals);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);

    PacketSinkHelper reader("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
    auto sink = DynamicCast<PacketSink>(reader.Install(hosts.Get(1)).Get(0));
    std::list<Watch> watches;
    Flows(arguments, hosts.Get(0), interfaces.GetAddress(1), watches, &totals);

    Simulator::Stop(Seconds(arguments.Number("end")));
    Simulator::Run();
    std::cout << "simulated_s " << Simulator::Now().GetSeconds() << "\n"
              << "data_packets " << totals.data << "\n"
              << "retransmitted " << totals.retransmitted << "\n"
              << "dropped " << totals.dropped << "\n"
              << "lost " << totals.lost << "\n"
              << "delivered_bytes " << sink->GetTotalRx() << "\n"
              << "events " << Simulator::GetEventCount() << "\n";
    std::cout.flush();
    // Taking a hundred thousand packets apart again would be measured too.
    std::_Exit(0);
}
