// Packets on their way out: written into one of a few buffers, committed, and
// sent together when the next one goes another way, when all buffers are in
// use, or at the end of the clock's turn. Consecutive packets of one socket
// share a system call. Nothing here waits: a packet that the socket does not
// take at once is lost and counted by its owner, as the network would lose it.
// Territory of the clock; nothing is allocated after construction.
#ifndef PARLEY_MEDIA_WIRE_H_
#define PARLEY_MEDIA_WIRE_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "media/descriptor.h"
#include "media/packet_tap.h"
#include "media/path.h"
#include "media/receive/address.h"
#include "media/time.h"

namespace parley {

// The destination of a stream's packets: an address reached through a socket or a
// connection that another object owns, or the plane's capture ring. Immutable.
class Target {
 public:
  // Works on a dup() of `fd`, closed with the target, and marks the socket's
  // packets Expedited Forwarding (RFC 3246). Null with `problem` set when the
  // descriptor is no datagram socket or the address does not suit it.
  static std::unique_ptr<Target> Socket(int fd, const std::string& address, uint16_t port,
                                        std::string* problem);
  // Sends along a path of ours; the owner of its socket set the marking. Null when the far address does not
  // suit the socket.
  static std::unique_ptr<Target> Along(const Path& path);
  static std::unique_ptr<Target> Capture();

  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  // RTCP goes this way instead (its own port). Before the target is used.
  void SendRtcpBy(std::unique_ptr<Target> way) { rtcp_ = std::move(way); }
  const Target& rtcp() const { return rtcp_ ? *rtcp_ : *this; }

  // Copies packets sent to this target to `tap`; null: no copies. Call it before the target is used.
  void CopyTo(std::shared_ptr<PacketTap> tap, bool rtcp_port) {
    tap_ = std::move(tap);
    rtcp_port_ = rtcp_port;
  }
  PacketTap* tap() const { return tap_.get(); }
  bool rtcp_port() const { return rtcp_port_; }
  Address remote() const { return Address::Of(envelope_.to); }

  bool captures() const { return !socket_ && !sink_; }
  int fd() const { return socket_->fd(); }
  PacketSink* sink() const { return sink_.get(); }  // instead of a socket; null: there is none
  const Envelope& envelope() const { return envelope_; }

  // Packets of both may leave in one system call.
  bool SameWay(const Target& other) const {
    if (!socket_ || !other.socket_) return socket_ == other.socket_ && sink_ == other.sink_;
    return socket_->SameSocket(*other.socket_);
  }

 private:
  Target() = default;

  std::shared_ptr<const Descriptor> socket_;
  std::shared_ptr<PacketSink> sink_;
  Envelope envelope_;
  std::unique_ptr<Target> rtcp_;
  std::shared_ptr<PacketTap> tap_;
  bool rtcp_port_ = false;
};

enum class PacketKind : uint8_t { kVoice, kSilence, kDigit, kRtcp, kRelayed };

class PacketOwner;

struct Outgoing {
  PacketOwner* owner;
  const Target* target;
  uint64_t stream;  // handle
  int64_t due_ns;   // of a relayed packet its arrival
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
  void SinkRun(size_t from, size_t to);
  void NoteSent(size_t at, int64_t at_ns);
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
