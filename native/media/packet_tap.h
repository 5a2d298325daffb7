// Copies the packets of one call's sockets, as they are on the wire, for packet capture: all that were sent,
// and all that arrived.
//
// Each direction has a ring with one reader. Its writers take turns (a stream's clock, and the thread that
// sends BYE or STUN from the same socket). The clock never waits for its turn: a copy that it cannot write,
// or that finds no room, is dropped and counted.
#ifndef PARLEY_MEDIA_PACKET_TAP_H_
#define PARLEY_MEDIA_PACKET_TAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "media/receive/address.h"
#include "media/record_ring.h"

namespace parley {

// The head of one packet in a ring: a copy in a PacketTap, or a packet that a capturing target (wire.h) hands
// to JavaScript and not to the network.
struct PacketInfo {
  uint64_t stream;  // handle; 0 in a tap
  int64_t at_ns;    // when it left, or arrived
  uint32_t bytes;
  bool rtcp;
  Address remote;  // unknown with a capturing target
};

// One thread writes at a time, and one reads; neither takes a lock.
using PacketRing = RecordRing<PacketInfo>;

struct TappedPacket {
  bool sent;       // otherwise received
  bool rtcp_port;  // on our RTCP port, if RTCP has a port of its own
  int64_t at_ns;
  Address remote;
  std::vector<uint8_t> data;
};

class PacketTap {
 public:
  static constexpr size_t kBytes = size_t{1} << 18;  // each way: some twenty seconds of G.711

  // kForTurn: until the writer before is done, which takes it one copy.
  enum class Wait : bool { kNo, kForTurn };

  void Sent(const Address& to, bool rtcp_port, int64_t at_ns, const uint8_t* data, size_t len, Wait wait) {
    Put(sent_, {0, at_ns, static_cast<uint32_t>(len), rtcp_port, to}, data, wait);
  }
  void Received(const Address& from, bool rtcp_port, int64_t at_ns, const uint8_t* data, size_t len) {
    Put(received_, {0, at_ns, static_cast<uint32_t>(len), rtcp_port, from}, data, Wait::kForTurn);
  }

  // Everything since the last time, both ways in the order of time.
  std::vector<TappedPacket> Take();
  // Copies that were not made.
  uint64_t missed() const { return missed_.load(); }

 private:
  struct Way {
    PacketRing ring{kBytes};
    std::atomic<bool> writing{false};
  };

  void Put(Way& way, const PacketInfo& info, const uint8_t* data, Wait wait);

  Way sent_, received_;
  std::atomic<uint64_t> missed_{0};
  std::mutex reading_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_PACKET_TAP_H_
