#include "media/dtls/dtls_association.h"

#include <algorithm>
#include <array>
#include <utility>

#include "media/dtls/dtls_thread.h"
#include "media/time.h"

namespace parley {
namespace {

using State = DtlsEndpoint::State;

// For a retransmission, however the system's clock was set meanwhile.
constexpr int64_t kLongestWaitMs = 2000;

bool IsOver(State state) { return state == State::kClosed || state == State::kFailed; }

}  // namespace

std::shared_ptr<DtlsAssociation> DtlsAssociation::Create(std::shared_ptr<DtlsThread> thread,
                                                         std::shared_ptr<InboundQueue> events,
                                                         std::shared_ptr<DtlsIdentity> identity,
                                                         DtlsConfig config) {
  const DtlsSender sender = config.active ? DtlsSender::kServer : DtlsSender::kClient;
  auto endpoint = DtlsEndpoint::Create(std::move(identity), std::move(config));
  if (!endpoint) return nullptr;
  return std::shared_ptr<DtlsAssociation>(
      new DtlsAssociation(std::move(thread), std::move(events), std::move(endpoint), sender));
}

DtlsAssociation::DtlsAssociation(std::shared_ptr<DtlsThread> thread, std::shared_ptr<InboundQueue> events,
                                 std::unique_ptr<DtlsEndpoint> endpoint, DtlsSender sender)
    : thread_(std::move(thread)),
      events_(std::move(events)),
      endpoint_(std::move(endpoint)),
      filter_(sender) {}

// Callers.

void DtlsAssociation::Start() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (start_ || closed_) return;
    start_ = true;
  }
  Wake();
}

uint64_t DtlsAssociation::Put(const uint8_t* data, size_t len, bool numbered) {
  uint64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || len == 0 || len > DtlsEndpoint::kMaxDatagram || datagrams_ >= kMaxDatagrams) return 0;
    if (numbered) number = ++numbered_;
    inputs_.push_back(Input{false, number, {data, data + len}});
    datagrams_++;
  }
  Wake();
  return number;
}

void DtlsAssociation::Credit(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  credit_ += bytes;
}

bool DtlsAssociation::Send(const uint8_t* data, size_t len) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || news_.state != State::kOpen || len == 0 || len > DtlsEndpoint::kMaxDatagram) return false;
    if (inputs_.size() - datagrams_ >= kMaxMessages) return false;
    inputs_.push_back(Input{true, 0, {data, data + len}});
  }
  Wake();
  return true;
}

void DtlsAssociation::Use(std::shared_ptr<DtlsTransport> transport) {
  std::lock_guard<std::mutex> lock(mutex_);
  has_transport_ = transport != nullptr;
  transport_ = transport;
}

bool DtlsAssociation::closed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_;
}

DtlsNews DtlsAssociation::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  announced_ = false;
  DtlsNews taken = std::move(news_);
  news_ = DtlsNews();
  static_cast<DtlsStatus&>(news_) = taken;
  return taken;
}

std::vector<std::vector<uint8_t>> DtlsAssociation::Close() {
  std::deque<Input> inputs;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return {};
    closed_ = true;
    inputs.swap(inputs_);
    datagrams_ = 0;
  }
  std::vector<std::vector<uint8_t>> last;
  std::lock_guard<std::mutex> work(work_mutex_);
  for (const Input& input : inputs) {
    if (input.is_message) endpoint_->Send(input.data.data(), input.data.size());
  }
  endpoint_->Close();
  Publish(0);
  ended_ = true;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (DtlsNews::Output& output : news_.output) last.push_back(std::move(output.data));
    news_ = DtlsNews();
    transport_.reset();
    if (std::exchange(listed_, true)) return last;
  }
  thread_->List(shared_from_this());  // which frees the endpoint
  return last;
}

// The DTLS thread.

void DtlsAssociation::Wake() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (listed_ || closed_) return;
    listed_ = true;
  }
  thread_->List(shared_from_this());
}

DtlsAssociation::Next DtlsAssociation::Step(int64_t now_ns) {
  std::lock_guard<std::mutex> work(work_mutex_);
  if (ended_) {
    endpoint_.reset();
    early_.clear();
    return {};
  }
  Input input;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    endpoint_->Credit(std::exchange(credit_, 0));
  }
  if (deadline_ns_ <= now_ns) {
    endpoint_->HandleTimeout();
    Publish(0);
  } else if (TakeInput(&input)) {
    Work(input);
    Publish(input.number);
  }
  SetDeadline(MonotonicNs());
  std::lock_guard<std::mutex> lock(mutex_);
  const bool may_begin = start_ && (!started_ || !early_.empty());
  listed_ = !closed_ && (may_begin || !inputs_.empty());
  return {listed_, deadline_ns_};
}

// The start comes first, then the datagrams from before it. False: no work waits.
bool DtlsAssociation::TakeInput(Input* input) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || (start_ && (!started_ || !early_.empty()))) return !closed_;
  if (inputs_.empty()) return false;
  *input = std::move(inputs_.front());
  inputs_.pop_front();
  if (!input->is_message) datagrams_--;
  return true;
}

void DtlsAssociation::Work(const Input& input) {
  if (input.is_message) {
    endpoint_->Send(input.data.data(), input.data.size());
  } else if (!input.data.empty()) {
    Read(input.data);
  } else if (!started_) {
    started_ = true;
    endpoint_->Start();
  } else {
    const std::vector<uint8_t> data = std::move(early_.front());
    early_.pop_front();
    endpoint_->Receive(data.data(), data.size());
  }
}

void DtlsAssociation::Read(const std::vector<uint8_t>& data) {
  // Once keys exist, OpenSSL drops unprotected records itself. Before that it would fail because of them.
  if (IsOpen()) return endpoint_->Receive(data.data(), data.size());
  std::array<uint8_t, DtlsEndpoint::kMaxDatagram> kept;
  const HandshakeFilter::Result result = filter_.Read(data.data(), data.size(), kept.data());
  // Anybody can send an unprotected alert. It counts if the far end then says nothing more of its handshake.
  if (result.has_handshake) {
    answered_ = true;
    alert_wait_ = 0;
  }
  if (result.alert >= 0) alert_ = result.alert;
  if (result.alert >= 0 && answered_ && alert_wait_ == 0) alert_wait_ = ++alert_waits_;
  if (result.bytes == 0) return;
  if (started_) {
    endpoint_->Receive(kept.data(), result.bytes);
  } else if (early_.size() < kMaxEarly && result.has_handshake) {
    early_.emplace_back(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(result.bytes));
  }
}

void DtlsAssociation::SetDeadline(int64_t now_ns) {
  const int64_t left_ms = endpoint_->TimeoutMs();
  deadline_ns_ =
      left_ms < 0 ? INT64_MAX : now_ns + std::clamp<int64_t>(left_ms, 1, kLongestWaitMs) * kNsPerMs;
}

// Sends datagrams before it reports the state, so that the far end can follow.
void DtlsAssociation::Publish(uint64_t cause) {
  std::vector<std::vector<uint8_t>> output = endpoint_->TakeOutput();
  std::shared_ptr<DtlsTransport> transport;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    transport = transport_.lock();
    if (has_transport_ && !transport) output.clear();
  }
  if (transport) {
    for (const std::vector<uint8_t>& datagram : output) transport->SendDtls(datagram.data(), datagram.size());
    output.clear();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool is_news = Note(cause, std::move(output), endpoint_->TakeReceived());
    if (!is_news || announced_ || closed_) return;
    announced_ = true;
  }
  if (events_->Put({handle_, InboundEvent::kDtls, 0, 0, MonotonicNs()})) return;
  std::lock_guard<std::mutex> lock(mutex_);
  announced_ = false;
}

// Under both locks. True if JavaScript should look.
bool DtlsAssociation::Note(uint64_t cause, std::vector<std::vector<uint8_t>> output,
                           std::vector<std::vector<uint8_t>> received) {
  const State state = endpoint_->state();
  const bool changed = state == State::kOpen ? news_.state != state : IsOver(state) && !IsOver(news_.state);
  if (changed && state == State::kOpen) news_.keys = endpoint_->keys();
  if (changed && IsOver(state)) {
    news_.failure = endpoint_->failure();
    news_.reason = endpoint_->reason();
    news_.end_cause = cause;
  }
  const bool waits = news_.alert_wait != alert_wait_;
  news_.state = state;
  news_.alert = alert_;
  news_.alert_wait = alert_wait_;
  if (cause != 0) news_.taken = cause;
  for (std::vector<uint8_t>& datagram : output) {
    if (news_.output.size() < kMaxOutput) news_.output.push_back({cause, std::move(datagram)});
  }
  for (std::vector<uint8_t>& message : received) {
    if (news_.received.size() < DtlsEndpoint::kMaxReceived) news_.received.push_back(std::move(message));
  }
  return changed || waits || cause != 0 || !news_.output.empty() || !news_.received.empty();
}

}  // namespace parley
