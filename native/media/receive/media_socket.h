// One call's sockets: what comes in goes to its intake, and the stream that is
// bound to it sends from the same port to wherever the far end was found.
//
// Fed by the receiver's thread, asked and told by JavaScript's: one mutex, which
// the clock never takes. It may wait for the clock's turn while it holds it.
#ifndef PARLEY_MEDIA_RECEIVE_MEDIA_SOCKET_H_
#define PARLEY_MEDIA_RECEIVE_MEDIA_SOCKET_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "media/byte_ring.h"
#include "media/dtls/dtls_association.h"
#include "media/hear/listening_thread.h"
#include "media/ice/ice_lite.h"
#include "media/inbound_queue.h"
#include "media/join/joined_leg.h"
#include "media/packet_tap.h"
#include "media/receive/channel.h"
#include "media/receive/intake.h"
#include "media/receive/port_pool.h"
#include "media/rtp_stream.h"

namespace parley {

struct ForeignPacket {
  Address from;
  bool rtcp_port;  // it came there
  std::vector<uint8_t> data;
};

class UdpMux;

// Results of the far end's checks with the present credentials (RFC 8445). Unknown addresses: none yet.
struct IceState {
  Address checked;                                      // source of component 1's last check
  std::array<Address, IceLite::kComponents> nominated;  // by component
  bool has_path = false;                                // RTP has a nominated path, also one before a restart
  int64_t last_check_ns = -1;                           // -1: none passed
};

class MediaSocket : public DtlsTransport,
                    public ListeningOwner,
                    private IntakeListener,
                    public std::enable_shared_from_this<MediaSocket> {
 public:
  static constexpr size_t kMaxForeign = 64;
  static constexpr int64_t kFollowNs = 50'000'000;  // from one change of the nominated path to the next

  // The source of its datagrams: a pair of ports, a port shared by calls, or neither: then packets are fed
  // by hand.
  struct Ways {
    std::unique_ptr<PortPair> ports;
    std::shared_ptr<UdpMux> mux;
  };
  MediaSocket(const TimeSource* time, std::shared_ptr<InboundQueue> queue,
              std::shared_ptr<ListeningThread> listening, Ways ways, bool mux);
  ~MediaSocket();

  // Callers, any thread.
  uint64_t handle() const { return handle_; }
  void set_handle(uint64_t handle) { handle_ = handle; }  // before the first datagram
  uint16_t port() const { return port_; }
  const std::shared_ptr<UdpMux>& udp_mux() const { return udp_mux_; }
  // -1: there is none.
  int fd(bool rtcp) const {
    const Descriptor* const way = !ports_ ? nullptr : rtcp ? ports_->rtcp().get() : ports_->rtp().get();
    return way ? way->fd() : -1;
  }
  void SetPayloadTypes(const PayloadTypes& types);
  void Learn(const Address& rtp, const Address& rtcp, bool mux, const Latch::Rules& rules);
  // Keys that are set already change nothing: their counters go on.
  bool SetSrtp(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt, size_t salt_len,
               size_t mki_bytes = 0);
  void SetProtection(Protection protection);
  // From now on the far end's checks are answered, and only addresses that have passed one are heard in the
  // handshake; absent ends it. `follow`: media goes to the nominated path at once, whatever Learn says.
  enum class IceResult : uint8_t { kDone, kClosed, kFragmentTaken };
  IceResult UseIce(std::optional<IceCredentials> credentials, bool follow);
  // The next change is announced again.
  IceState Ice();
  // The nominated path is dead: nothing is sent until a check with the present credentials nominates one.
  // Only where media follows ICE.
  void LeavePath();
  // With ICE the association gets the DTLS of checked addresses. It sends to the nominated one, and before a
  // nomination to the one of the last check. The first check starts it; until then `to` is used, which may be
  // unknown. Null: JavaScript carries datagrams.
  void UseDtls(std::shared_ptr<DtlsAssociation> association, const Address& to);
  // The stream that sends from here; null lets it go.
  void Bind(std::shared_ptr<RtpStream> stream);
  // Listeners. Nothing is decoded without any. The listening thread writes the sound of the call into the
  // ring. False: closed, or it has all the rings it can have.
  bool OpenEar(std::shared_ptr<ByteRing> ring, EarSound sound);
  void CloseEar(ByteRing* ring);  // and ends it
  // False: either is closed, or other ears hear this call.
  bool JoinEars(const std::shared_ptr<Ears>& ears);
  void LeaveEars(const Ears* ears) override;
  void OnListenerEnded() override;
  void OnTone(const HeardTone& tone) override;
  // Keys and tones in the sound are reported from now on, as far as they are wished. False: it is closed.
  bool WatchTones(ToneWishes wishes);
  // Figures of the present listening, or of the last one; absent before the first.
  std::optional<HearingFigures> Hearing();
  // Accepted packets go to the stream of another call from now on. False: closed, or they go somewhere
  // already.
  bool RelayTo(std::shared_ptr<Relay> relay);
  void LeaveRelay(const Relay* relay);
  // The call becomes a member of a mixer, or no longer. False: closed, or a member already.
  bool JoinMixer(std::shared_ptr<JoinedLeg> leg);
  void LeaveMixer(const JoinedLeg* leg);
  std::vector<ForeignPacket> TakeForeign();
  // False as well for the RTCP port where there is none, to port 0, and on a shared port to an address that
  // has passed no check.
  bool SendForeign(const uint8_t* data, size_t len, const Address& to, bool rtcp_port);
  // From now on packets both ways are copied, or no longer; what was copied can still be taken.
  void Tap(bool on);
  std::shared_ptr<PacketTap> tap();  // null: never switched on, or closed
  IntakeStats Stats();
  struct Destination {
    Address rtp, rtcp;
    bool latched = false;   // learned from a packet, not only announced
    bool over_tcp = false;  // RTP goes through a connection
  };
  Destination Where();
  // Nothing is received and the stream is let go when it returns.
  void Close();

  // The receiver. Reads one batch of what waits; true while there may be more.
  bool Receive(bool rtcp, ReceiveBatch* batch);
  // One datagram of a shared port. True if its source has passed a check.
  bool Take(const uint8_t* data, size_t len, const Path& from, int64_t now_ns);
  // Drops the datagram before an address is known.
  void SendDtls(const uint8_t* data, size_t len) override;
  // A connection has ended: media that went there waits for another check.
  void LoseConnection(const PacketSink* sink);
  void Feed(const uint8_t* data, size_t len, const Address& from, bool rtcp_port);
  void Expire(int64_t now_ns);
  // Next deadline at which something ends by timeout; INT64_MAX: none.
  int64_t deadline_ns() const { return deadline_ns_.load(); }

 private:
  void OnKeyDown(uint8_t event, int64_t now_ns) override;
  void OnDigit(const Digit& digit) override;
  void OnTarget(const Address& rtp, const Address& rtcp) override;
  void OnBye() override;
  void OnReception(const ReceptionState& state) override;
  void OnForeign(const uint8_t* data, size_t len, const Address& from, bool rtcp_port) override;
  void TakeOne(const uint8_t* data, size_t len, const Path& from, bool rtcp_port, int64_t now_ns);
  void TakeCheck(const uint8_t* data, size_t len, bool rtcp_port);
  void NotePassed(const IceLite::Answer& answer, size_t len, bool rtcp_port, int64_t now_ns);
  void Follow(int64_t now_ns);
  void FollowNomination(int64_t now_ns);
  void AnnounceIce(int64_t now_ns);
  void NoteDeadline();
  void NoteDtlsPeer(const IceLite::Answer& answer, const Address& from, size_t len);
  void ForgetDtlsPeer();
  bool HasAssociation() const { return dtls_ && !dtls_->closed(); }
  bool SendOne(const uint8_t* data, size_t len, const Address& to, bool rtcp_port);
  void ReleaseShared();
  Path PathTo(const Address& to, bool rtcp_port) const;
  std::unique_ptr<Target> TargetTo(const Address& to, bool rtcp_port) const;
  bool has_way() const { return ports_ || udp_mux_; }
  void Aim();
  bool BeginListening();
  void FollowListeners();
  void StopListening();
  void FollowMixer();
  void StopJoining();
  void Copy(const uint8_t* data, size_t len, const Address& from, bool rtcp_port, int64_t now_ns) {
    if (tapping_) tap_->Received(from, rtcp_port, now_ns, data, len);
  }

  const TimeSource* const time_;
  const std::shared_ptr<InboundQueue> queue_;
  const std::shared_ptr<ListeningThread> listening_thread_;
  const std::shared_ptr<UdpMux> udp_mux_;  // null: its own ports, or none
  uint64_t handle_ = 0;
  std::atomic<int64_t> deadline_ns_{INT64_MAX};

  std::mutex mutex_;  // guards everything below
  std::unique_ptr<PortPair> ports_;
  const uint16_t port_;
  Intake intake_;
  std::optional<IceLite> ice_;
  IceState ice_state_;
  bool follow_ = false, rtcp_mux_;
  bool follow_due_ = false;                // media goes to the nominated path at follow_from_ns_
  int64_t follow_from_ns_ = INT64_MIN;     // no change of the path before
  std::shared_ptr<DtlsAssociation> dtls_;  // null: JavaScript carries its datagrams
  Address dtls_to_;                        // with ICE; unknown before the first check
  bool dtls_nominated_ = false;            // dtls_to_ is nominated
  std::vector<std::string> fragments_;     // ours on the shared port
  RefusalLimit refusals_;                  // on ports of its own
  const Path* arriving_ = nullptr;         // of the datagram that is being processed
  std::shared_ptr<RtpStream> stream_;
  std::deque<ForeignPacket> foreign_;
  // An event waits: JavaScript has not looked yet.
  bool foreign_announced_ = false, ice_announced_ = false;
  std::shared_ptr<ListeningCall> listening_;  // null: nobody listens
  std::optional<HearingFigures> last_hearing_;
  std::shared_ptr<Relay> relay_;    // null: its call is not bridged
  std::shared_ptr<JoinedLeg> leg_;  // null: the call is no member of a mixer
  std::shared_ptr<PacketTap> tap_;
  bool tapping_ = false;
  uint64_t digits_lost_ = 0;
  bool closed_ = false;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_MEDIA_SOCKET_H_
