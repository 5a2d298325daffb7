// The media plane: its streams, their clock, and the way back to JavaScript.
//
//   clock ──events, retired streams──▶ dispatcher ──marks, notices──▶ JavaScript
//
// The dispatcher is the thread that may take locks and free memory for the
// clock. A manual plane has neither thread: Advance does the work of both.
// Every public function may be called from any thread.
#ifndef PARLEY_MEDIA_PLANE_H_
#define PARLEY_MEDIA_PLANE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "media/clock.h"
#include "media/dtls/dtls_thread.h"
#include "media/event.h"
#include "media/hear/listening_thread.h"
#include "media/join/joining_thread.h"
#include "media/listener.h"
#include "media/packet_tap.h"
#include "media/ready.h"
#include "media/receive/receiver.h"
#include "media/stream.h"
#include "media/time.h"

namespace parley {

struct DeliveredMark {
  uint64_t stream;  // handle
  uint32_t track;
  uint32_t mark;
  int64_t sent_ns;  // when the frame before the mark left
};

struct CapturedPacket {
  uint64_t stream;  // handle
  int64_t at_ns;
  bool rtcp;
  std::vector<uint8_t> data;
};

class MediaPlane {
 public:
  // `seed` decides the times of sender reports.
  static std::shared_ptr<MediaPlane> OpenReal(uint64_t seed);
  static std::shared_ptr<MediaPlane> OpenManual(uint64_t seed, int64_t start_ns, int64_t unix_ns);
  ~MediaPlane();

  static constexpr size_t kMaxSockets = Clock::kMaxStreams;

  // Null when the plane is closed or has kMaxStreams. The stream has its place
  // from now on; it ticks once its handle is set and Begin was called.
  std::shared_ptr<Stream> MakeStream(StreamConfig config, std::unique_ptr<SrtpSender> srtp);
  // False: the plane was closed meanwhile.
  bool Begin(Stream* stream);
  // Instead of Begin, or where it failed: its place is free again.
  void Abandon(Stream* stream);
  void CloseStream(Stream* stream);

  // Listeners. Null when the plane is closed or has kMaxListeners. It sends once it follows a source.
  static constexpr size_t kMaxListeners = Clock::kMaxStreams;
  std::shared_ptr<Listener> MakeListener(StreamConfig config, std::unique_ptr<SrtpSender> srtp);
  enum class Follow : uint8_t { kFollows, kClosed, kDiffers, kFull };
  // Leaves the source that it has only where the answer is kFollows. kClosed: the listener or the source is.
  Follow FollowSource(Listener* listener, const std::shared_ptr<Stream>& source);
  // For one that was never used, too.
  void CloseListener(Listener* listener);
  size_t ListenerCount();

  // A target that captures, with the ring for it.
  std::unique_ptr<Target> CaptureTarget();

  // Manual planes. Advance runs every tick that is due up to `to_ns`, each at
  // its due time; WakeAt runs them all at `at_ns`, as a clock does that wakes
  // late. Both return the RTP packets sent.
  uint64_t Advance(int64_t to_ns);
  uint64_t WakeAt(int64_t at_ns);

  // Sockets of calls. Null when the plane is closed or has kMaxSockets; it is read
  // once its handle is set and BeginSocket was called. Without ways in it is fed by hand.
  std::shared_ptr<MediaSocket> MakeSocket(MediaSocket::Ways ways, bool mux);
  bool BeginSocket(const std::shared_ptr<MediaSocket>& socket);
  void CloseSocket(MediaSocket* socket) { receiver_->Remove(socket); }
  void Feed(const std::shared_ptr<MediaSocket>& socket, const uint8_t* data, size_t len, const Address& from,
            bool rtcp_port);
  // Associations of DTLS. Null when the crypto library has no memory; it works once its handle is set and
  // BeginDtls was called.
  std::shared_ptr<DtlsAssociation> MakeDtls(std::shared_ptr<DtlsIdentity> identity, DtlsConfig config);
  // False: the plane is closed, or has kMaxAssociations.
  bool BeginDtls(const std::shared_ptr<DtlsAssociation>& association) { return dtls_->Add(association); }
  // Returns the last datagrams of an association without a transport.
  std::vector<std::vector<uint8_t>> CloseDtls(DtlsAssociation* association);
  DtlsThread& dtls() { return *dtls_; }

  std::vector<InboundEvent> TakeInbound() { return inbound_->Take(); }
  size_t SocketCount() { return receiver_->size(); }
  size_t ListeningCount() { return listening_->size(); }

  // Mixers of calls. False: the plane is closed.
  bool BeginMixer(std::shared_ptr<Mixer> mixer) { return joining_.Add(std::move(mixer)); }
  // Its members are its owner's business.
  void CloseMixer(Mixer* mixer);
  size_t MixerCount() { return joining_.size(); }

  // Delivers the clock's events to their streams and sinks. After a stream was closed, these are all that it
  // will have.
  void PassOn();

  // True: marks, captured packets or inbound events wait now. False: the sink hears of `handle` once.
  bool Watch(std::shared_ptr<ReadySink> sink, uint64_t handle);
  std::vector<DeliveredMark> TakeMarks();
  std::vector<CapturedPacket> TakePackets();

  // From now on up to `capacity` sent packets are noted between two TakeTrace.
  void StartTrace(size_t capacity);
  std::vector<TraceEntry> TakeTrace();

  const TimeSource& time() const { return clock_->time(); }
  PlaneCounters& counters() { return clock_->counters(); }
  Priority priority() const { return clock_->priority(); }
  size_t StreamCount();

  // Closes streams, associations and sockets and joins the threads. Returns the handles of
  // those that were still open; a later call returns none.
  struct Left {
    std::vector<uint64_t> streams, associations, sockets;
  };
  Left Close();

 private:
  MediaPlane(uint64_t seed, std::shared_ptr<Clock> clock)
      : clock_(std::move(clock)),
        dtls_(std::make_shared<DtlsThread>(clock_->time().manual())),
        listening_(std::make_shared<ListeningThread>(clock_->time())),
        joining_(clock_->time()),
        receiver_(std::make_unique<Receiver>(clock_->time())),
        random_(seed),
        listener_random_(~seed) {}

  void StartThreads();
  void RunNow();
  void Dispatch();
  void ReceiveUpTo(int64_t to_ns);
  void Bury(Stream* retired);
  void KeepBye(uint64_t handle, std::vector<uint8_t> bye);
  void LeaveSource(Listener* listener);
  std::vector<std::shared_ptr<Listener>> LastListeners();

  const std::shared_ptr<Clock> clock_;  // shared with the streams, which may outlive the plane
  std::thread dispatcher_;
  std::atomic<bool> stopping_{false};
  const std::shared_ptr<ReadyWatch> watch_ = std::make_shared<ReadyWatch>();
  const std::shared_ptr<InboundQueue> inbound_ = std::make_shared<InboundQueue>(watch_);
  const std::shared_ptr<DtlsThread> dtls_;
  const std::shared_ptr<ListeningThread> listening_;
  JoiningThread joining_;
  const std::unique_ptr<Receiver> receiver_;

  std::mutex pass_mutex_;  // guards the reading end of the clock's events

  std::mutex advance_mutex_;  // one caller is the clock of a manual plane

  std::mutex streams_mutex_;  // guards what follows
  Random random_;
  bool closed_ = false;
  std::unordered_map<Stream*, std::shared_ptr<Stream>> streams_;  // until the clock has forgotten them
  std::unique_ptr<SpscRing<TraceEntry>> trace_;

  // Guards what follows, the sources of listeners and the changes of audiences. The clock never takes it.
  std::mutex listeners_mutex_;
  Random listener_random_;
  bool listeners_closed_ = false;
  std::unordered_map<Listener*, std::shared_ptr<Listener>> listeners_;

  std::mutex delivery_mutex_;  // guards what follows, and the reading ends of capture ring and trace
  struct WaitingMark {
    std::shared_ptr<Stream> stream;
    DeliveredMark mark;
  };
  std::vector<WaitingMark> marks_;
  std::unique_ptr<PacketRing> capture_;
  std::vector<CapturedPacket> byes_;  // BYEs of streams that captured; at most kMaxByes wait
};

}  // namespace parley

#endif  // PARLEY_MEDIA_PLANE_H_
