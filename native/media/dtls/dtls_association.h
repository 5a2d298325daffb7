// A DTLS association (RFC 5763, RFC 5764) between the thread that does its work and the threads that use it.
//
//   socket or JavaScript ──datagrams, messages──▶ queue ──▶ DtlsThread::Step ──▶ transport, or JavaScript
//                                                                  └──news──▶ JavaScript
//
// Callers leave their input in a bounded queue and do not wait. An unprotected record that is no part of a
// handshake never reaches OpenSSL (see HandshakeFilter).
//
// Locks: `work_mutex_` is held while OpenSSL works. Only the DTLS thread and Close take it. `mutex_` guards
// the queue and the news, and nobody waits or calls out while holding it.
#ifndef PARLEY_MEDIA_DTLS_DTLS_ASSOCIATION_H_
#define PARLEY_MEDIA_DTLS_DTLS_ASSOCIATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "media/dtls/dtls_endpoint.h"
#include "media/dtls/dtls_record.h"
#include "media/inbound_queue.h"

namespace parley {

class DtlsThread;

// Sends the datagrams of an association. The DTLS thread calls it, or the thread that closes the association.
class DtlsTransport {
 public:
  virtual void SendDtls(const uint8_t* data, size_t len) = 0;

 protected:
  ~DtlsTransport() = default;
};

struct DtlsStatus {
  DtlsEndpoint::State state = DtlsEndpoint::State::kNew;
  DtlsEndpoint::Failure failure = DtlsEndpoint::Failure::kNone;
  std::string reason;
  uint64_t end_cause = 0;  // number of the datagram that closed or failed it; 0: none did
  uint64_t taken = 0;      // number of the last datagram that was processed
  int alert = -1;          // description of the last unprotected fatal alert; -1: none came
  // Number of the present wait for a further handshake message, which an unprotected alert began; 0: none.
  uint64_t alert_wait = 0;
};

// The status of an association for JavaScript, and its news since the last time that they were taken.
struct DtlsNews : DtlsStatus {
  struct Output {
    uint64_t cause;  // number of the datagram that it answers; 0: a timer or the start
    std::vector<uint8_t> data;
  };

  std::optional<DtlsSrtpKeys> keys;  // once
  std::vector<Output> output;        // of an association without a transport
  std::vector<std::vector<uint8_t>> received;
};

class DtlsAssociation : public std::enable_shared_from_this<DtlsAssociation> {
 public:
  static constexpr size_t kMaxDatagrams = 64;  // that wait; more are dropped, as the network drops them
  static constexpr size_t kMaxMessages = 256;  // of application data that wait to be sent
  static constexpr size_t kMaxEarly = 16;      // of a handshake before the start: two flights
  static constexpr size_t kMaxOutput = 64;     // that JavaScript has not taken

  // Null when the crypto library has no memory.
  static std::shared_ptr<DtlsAssociation> Create(std::shared_ptr<DtlsThread> thread,
                                                 std::shared_ptr<InboundQueue> events,
                                                 std::shared_ptr<DtlsIdentity> identity, DtlsConfig config);

  // Callers, any thread.
  uint64_t handle() const { return handle_; }
  void set_handle(uint64_t handle) { handle_ = handle; }  // before it is added to the thread
  // Connects, or processes the datagrams of the far end so far. Idempotent.
  void Start();
  // Anything but DTLS of this association is ignored.
  void Receive(const uint8_t* data, size_t len) { Put(data, len, false); }
  // The number of the datagram in the news; 0: it was dropped.
  uint64_t ReceiveNumbered(const uint8_t* data, size_t len) { return Put(data, len, true); }
  // A check of ICE with so many bytes came from where the datagrams go: a far end that has not proven itself
  // may be sent more (see DtlsEndpoint).
  void Credit(size_t bytes);
  // One message of application data. False unless open, or where kMaxMessages wait.
  bool Send(const uint8_t* data, size_t len);
  // From now on datagrams leave along `transport`, if it still exists. Null: JavaScript takes them.
  void Use(std::shared_ptr<DtlsTransport> transport);
  DtlsNews Take();
  bool closed();
  // Sends the messages that wait, and close_notify where keys exist. Waits for a step under way. Returns the
  // last datagrams of an association without a transport. Idempotent.
  std::vector<std::vector<uint8_t>> Close();

  // The DTLS thread.
  struct Next {
    bool more = false;                // work waits
    int64_t deadline_ns = INT64_MAX;  // of the next retransmission
  };
  // One piece of work: a datagram, a message, the start or a retransmission.
  Next Step(int64_t now_ns);
  // Lists it with the thread, unless it is there already.
  void Wake();
  int64_t due_ns = INT64_MAX;  // the deadline under which the thread has it

 private:
  struct Input {
    bool is_message = false;
    uint64_t number = 0;  // of a datagram that JavaScript brought; else 0
    std::vector<uint8_t> data;
  };

  DtlsAssociation(std::shared_ptr<DtlsThread> thread, std::shared_ptr<InboundQueue> events,
                  std::unique_ptr<DtlsEndpoint> endpoint, DtlsSender sender);

  uint64_t Put(const uint8_t* data, size_t len, bool numbered);
  bool TakeInput(Input* input);
  void Work(const Input& input);
  void Read(const std::vector<uint8_t>& data);
  void SetDeadline(int64_t now_ns);
  void Publish(uint64_t cause);
  bool Note(uint64_t cause, std::vector<std::vector<uint8_t>> output,
            std::vector<std::vector<uint8_t>> received);
  bool IsOpen() const { return endpoint_->state() == DtlsEndpoint::State::kOpen; }

  const std::shared_ptr<DtlsThread> thread_;
  const std::shared_ptr<InboundQueue> events_;
  uint64_t handle_ = 0;

  std::mutex work_mutex_;                   // guards what follows
  std::unique_ptr<DtlsEndpoint> endpoint_;  // null: freed after Close
  bool ended_ = false;                      // Close has done its part
  HandshakeFilter filter_;
  std::deque<std::vector<uint8_t>> early_;  // datagrams from before the start
  bool started_ = false;
  int64_t deadline_ns_ = INT64_MAX;
  bool answered_ = false;  // the far end has sent a part of the handshake
  int alert_ = -1;
  uint64_t alert_wait_ = 0, alert_waits_ = 0;

  std::mutex mutex_;  // guards what follows; taken after work_mutex_
  std::deque<Input> inputs_;
  size_t datagrams_ = 0;  // among the inputs
  size_t credit_ = 0;     // bytes that the endpoint has not been told of
  uint64_t numbered_ = 0;
  bool start_ = false;   // Start was called
  bool listed_ = false;  // the thread has it, or works on it
  bool closed_ = false;
  bool announced_ = false;  // JavaScript knows of news and has not taken them yet
  std::weak_ptr<DtlsTransport> transport_;
  bool has_transport_ = false;
  DtlsNews news_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DTLS_ASSOCIATION_H_
