// Packets on their way out: written into one of a few buffers, committed, and
// sent together when the next one goes another way, when all buffers are in
// use, or at the end of the clock's turn. Consecutive packets of one socket
// share a system call. Nothing here waits: a packet that the socket does not
// take at once is lost and counted by its owner, as the network would lose it.
// Territory of the clock; nothing is allocated after construction.
#ifndef PARLEY_MEDIA_WIRE_H_
#define PARLEY_MEDIA_WIRE_H_

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "media/packet_ring.h"
#include "media/target.h"
#include "media/time_source.h"

namespace parley {

enum class PacketKind : uint8_t { kVoice, kSilence, kDigit, kRtcp };

class PacketOwner;

struct Outgoing {
  PacketOwner* owner;
  const Target* target;
  uint64_t stream;  // handle
  int64_t due_ns;
  uint32_t bytes;
  uint32_t payload_bytes;  // without headers and tags
  PacketKind kind;
};

enum class SendResult : uint8_t { kSent, kRefused, kCaptureFull };

class PacketOwner {
 public:
  // The packet has left, or is lost; `at_ns` is the moment after the call that sent it.
  virtual void OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) = 0;

 protected:
  ~PacketOwner() = default;
};

class Wire {
 public:
  static constexpr size_t kBufferBytes = 2048;
  static constexpr size_t kBuffers = 32;

  explicit Wire(const TimeSource& time) : time_(time) {}

  // kBufferBytes for the next packet, until Commit.
  uint8_t* Buffer();
  void Commit(const Outgoing& packet) { packets_[count_++] = packet; }
  void Flush();

  // Must be set before a target captures. The ring outlives the wire's use of it.
  void SetCapture(PacketRing* ring) { capture_.store(ring); }

 private:
  void SendRun(size_t from, size_t to);
  void CaptureRun(size_t from, size_t to);

  const TimeSource& time_;
  std::atomic<PacketRing*> capture_{nullptr};
  size_t count_ = 0;
  std::array<Outgoing, kBuffers> packets_{};
  alignas(64) std::array<std::array<uint8_t, kBufferBytes>, kBuffers> buffers_{};
};

// One packet sent now, at `at_ns`, from any thread that owns it; false when the socket refused it.
bool SendNow(const Target& target, const uint8_t* data, size_t bytes, int64_t at_ns);

}  // namespace parley

#endif  // PARLEY_MEDIA_WIRE_H_
