// Places relayed packets in the stream that sends them: its sequence numbers and timestamps go on from what
// it sent before, and the distances between the source's own packets are kept. A loss before us stays a gap,
// which the far end sees; a number that is left out on purpose leaves none.
#ifndef PARLEY_MEDIA_JOIN_RELAY_NUMBERS_H_
#define PARLEY_MEDIA_JOIN_RELAY_NUMBERS_H_

#include <cstddef>
#include <cstdint>

#include "audio/voice_codec.h"
#include "media/replay_window.h"

namespace parley {

struct RelayedPacket {
  enum Kind : uint8_t {
    kSound,
    kComfortNoise,
    kLeftOut,  // a number that the other side must not miss: a key, or a payload that it does not understand
  };
  Kind kind;
  bool marker;
  uint32_t source;  // changes where numbers and timestamps begin anew
  uint32_t bytes;   // of the payload
  uint32_t timestamp;
  uint64_t sequence;  // extended
  int64_t arrival_ns;
};

// The next packet and the next tick of a stream.
struct StreamPlace {
  uint16_t sequence;
  uint32_t timestamp;
};

class RelayNumbers {
 public:
  struct Place {
    uint16_t sequence;
    uint32_t timestamp;
    bool begins;  // nothing of this source was relayed just before it
    bool late;    // packets with greater numbers left before it
  };

  // False: there is nothing to send. The packet was relayed before or is from before the beginning
  // (`*repeated` is true then), or its number is left out. The numbers begin anew where the source changes,
  // and where the stream sent something else since the last packet.
  bool Map(const RelayedPacket& packet, const StreamPlace& next, Place* place, bool* repeated);

 private:
  void Begin(const RelayedPacket& packet, const StreamPlace& next);

  bool begun_ = false;
  uint32_t source_ = 0;
  uint64_t first_ = 0;  // the source's number that it began with, or the one after the last left out
  uint64_t next_ = 0;   // the number after the greatest one that came of the source
  uint16_t sequence_offset_ = 0;  // ours less the source's
  uint32_t timestamp_offset_ = 0;
  ReplayWindow relayed_;
};

// Ticks of the RTP timestamp in a payload. 0 if it is malformed.
uint32_t TicksIn(VoiceCodec codec, const uint8_t* payload, size_t bytes);

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_RELAY_NUMBERS_H_
