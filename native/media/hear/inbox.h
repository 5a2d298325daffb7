// The packets of a call's far end on their way from the thread that receives them to the one that listens.
// It exists only while somebody listens, and its memory is fixed: a packet without room is dropped and
// counted.
#ifndef PARLEY_MEDIA_HEAR_INBOX_H_
#define PARLEY_MEDIA_HEAR_INBOX_H_

#include <cstddef>
#include <cstdint>

#include "media/counters.h"
#include "media/hear/caller_sound.h"
#include "media/record_ring.h"

namespace parley {

class Inbox {
 public:
  static constexpr size_t kBytes = size_t{1} << 15;  // two seconds of G.711

  // Writer, one at a time. `source` changes where the far end's numbers begin anew.
  void Put(const HeardPacket& packet, uint32_t source) {
    const Head head{packet.kind,       packet.codec,     packet.redundant,
                    packet.clock_rate, source,           static_cast<uint32_t>(packet.bytes),
                    packet.sequence,   packet.timestamp, packet.arrival_ns};
    if (!ring_.Write(head, packet.payload)) dropped_.Add();
  }

  // Reader: the oldest packet, valid until Pop(). False when there is none.
  bool Front(HeardPacket* packet, uint32_t* source) {
    Head head;
    const uint8_t* payload = nullptr;
    if (!ring_.Front(&head, &payload)) return false;
    *packet = {head.kind,       head.codec, head.clock_rate, head.sequence, head.timestamp,
               head.arrival_ns, payload,    head.bytes,      head.redundant};
    *source = head.source;
    return true;
  }
  void Pop() { ring_.Pop(); }

  uint64_t dropped() const { return dropped_.value(); }

 private:
  struct Head {
    HeardPacket::Kind kind;
    VoiceCodec codec;
    bool redundant;
    uint32_t clock_rate;
    uint32_t source;
    uint32_t bytes;
    uint64_t sequence;
    uint64_t timestamp;
    int64_t arrival_ns;
  };

  RecordRing<Head> ring_{kBytes};
  Counter dropped_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_INBOX_H_
