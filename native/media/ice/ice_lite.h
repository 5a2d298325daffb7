// The lite half of ICE (RFC 8445 section 2.5): it sends no checks and answers those of the far end. These
// find the way through NATs and choose the path of the media by USE-CANDIDATE.
//
//   request ─▶ well formed? ─▶ credentials? ─▶ ours to be controlled? ─▶ answered ─▶ nominated?
//
// The far end's checks continue for as long as it consents to receive (RFC 7675). It uses neither sockets nor
// threads: the caller passes one request at a time and sends the answer.
#ifndef PARLEY_MEDIA_ICE_ICE_LITE_H_
#define PARLEY_MEDIA_ICE_ICE_LITE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "media/ice/stun_message.h"
#include "media/path.h"

namespace parley {

// Credentials of both sides (RFC 8839 section 5.4).
struct IceCredentials {
  static constexpr size_t kMinFragment = 4, kMinPassword = 22;  // 24 and 128 bits (RFC 8445 section 5.3)
  static constexpr size_t kMaxBytes = 256;

  std::string local_fragment, local_password;
  std::string remote_fragment, remote_password;

  bool SameLocal(const IceCredentials& other) const {
    return local_fragment == other.local_fragment && local_password == other.local_password;
  }
  bool operator==(const IceCredentials& other) const {
    return SameLocal(other) && remote_fragment == other.remote_fragment &&
           remote_password == other.remote_password;
  }
};

// Error answers to senders that may be strangers: at most kMost in a second. Any thread.
class RefusalLimit {
 public:
  static constexpr int kMost = 20;

  bool Take(int64_t now_ns);

 private:
  std::mutex mutex_;
  int64_t since_ns_ = INT64_MIN;
  int taken_ = 0;
};

class IceLite {
 public:
  static constexpr size_t kMaxSources = 64;
  static constexpr size_t kMaxConnections = 4;  // of the sources, of ICE-TCP
  static constexpr int kComponents = 2;  // 1 is RTP, and RTCP where the two share a port; 2 is RTCP alone

  explicit IceLite(IceCredentials credentials) : present_(std::move(credentials)) {}

  // A restart (RFC 8445 section 9). The same credentials again change nothing. Those that were used last stay
  // valid: the old path is in use until a new one is nominated. True if ours are others than before.
  bool Restart(IceCredentials credentials);

  struct Answer {
    size_t bytes = 0;        // of the answer to send; 0: none
    bool passed = false;     // the check counts
    bool fresh = false;      // it has the present credentials
    bool confirmed = false;  // its path is the nominated one of its component
    bool nominated = false;  // it is so from now on
    Path forgotten;          // a source that has no room any more, if known
    std::array<uint8_t, StunWriter::kMaxBytes> data;
  };
  // One STUN message that came along `from` to this component. It is no error if it is no check of ICE.
  void Take(const StunMessage& request, const Path& from, int component, RefusalLimit& refusals,
            int64_t now_ns, Answer* answer);

  // The far end passed a check from there, by the same connection if there is one.
  bool HasChecked(const Address& remote, const PacketSink* sink) const { return PathTo(remote, sink); }
  // The path of the last check from this address, or null. Without `sink`, a datagram socket's comes first.
  const Path* PathTo(const Address& remote) const;
  // Null until a path is nominated for the component.
  const Path* nominated(int component) const;
  // A connection is closed: nothing came from there. True if it was nominated.
  bool Forget(const PacketSink* sink);
  // Nothing is nominated until a check with the present credentials does so.
  void LeaveNominated() { nominated_ = {}; }
  // All paths that passed a check; at most kMaxSources.
  const std::list<Path>& sources() const { return sources_; }

  bool Knows(std::string_view local_fragment) const { return Find(local_fragment) != nullptr; }
  // Time of the last check that the far end passed; -1 before the first.
  int64_t last_check_ns() const { return last_check_ns_; }

 private:
  // Credentials with the key of their integrity.
  struct Secret {
    explicit Secret(IceCredentials of);
    IceCredentials credentials;
    HmacSha1 key;
  };
  struct Nominated {
    Path path;
    int64_t priority;
    int64_t at_ns;
  };
  struct Refusal {
    int code;
    const char* reason;
    const HmacSha1* key;  // null before the request is authenticated
  };

  const Secret* Find(std::string_view local_fragment) const;
  const Path* PathTo(const Address& remote, const PacketSink* sink) const;
  const Secret* Authenticate(const StunMessage& request, Refusal* refusal) const;
  void Refuse(const StunMessage& request, const Refusal& refusal, Answer* answer) const;
  void Nominate(const StunMessage& request, const Path& from, int component, int64_t now_ns, Answer* answer);
  void Note(const Path& from, Answer* answer);
  std::list<Path>::iterator OldestConnection();

  Secret present_;
  std::optional<Secret> previous_;  // the last ones before that a check used, if any were
  bool present_used_ = false;       // a check had the present credentials
  std::list<Path> sources_;         // the latest check is last
  std::array<std::optional<Nominated>, kComponents> nominated_;
  int64_t last_check_ns_ = -1;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_ICE_ICE_LITE_H_
