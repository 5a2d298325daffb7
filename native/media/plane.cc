#include "media/plane.h"

#include <pthread.h>

#include <algorithm>

#include "media/receive/udp_mux.h"

namespace parley {
namespace {

constexpr size_t kMaxByes = 256;
constexpr size_t kCaptureBytes = size_t{1} << 20;  // some 4,500 packets of 160 bytes

}  // namespace

std::shared_ptr<MediaPlane> MediaPlane::OpenReal(uint64_t seed) {
  std::shared_ptr<MediaPlane> plane(new MediaPlane(seed, std::make_shared<Clock>()));
  plane->StartThreads();
  return plane;
}

std::shared_ptr<MediaPlane> MediaPlane::OpenManual(uint64_t seed, int64_t start_ns, int64_t unix_ns) {
  return std::shared_ptr<MediaPlane>(new MediaPlane(seed, std::make_shared<Clock>(start_ns, unix_ns)));
}

MediaPlane::~MediaPlane() { Close(); }

void MediaPlane::StartThreads() {
  clock_->Start();
  dispatcher_ = std::thread([this] { Dispatch(); });
}

// Streams.

std::shared_ptr<Stream> MediaPlane::MakeStream(StreamConfig config, std::unique_ptr<SrtpSender> srtp) {
  std::lock_guard<std::mutex> lock(streams_mutex_);
  if (closed_ || streams_.size() >= Clock::kMaxStreams) return nullptr;
  const uint64_t seed = random_.Next();
  const auto stream = std::make_shared<Stream>(clock_, std::move(config), std::move(srtp), seed);
  streams_.emplace(stream.get(), stream);
  return stream;
}

bool MediaPlane::Begin(Stream* stream) {
  std::lock_guard<std::mutex> lock(streams_mutex_);
  if (closed_) return false;
  clock_->Add(stream);
  return true;
}

void MediaPlane::Abandon(Stream* stream) {
  std::lock_guard<std::mutex> lock(streams_mutex_);
  streams_.erase(stream);
}

// After Close the clock walks the stream's audience no more.
void MediaPlane::CloseStream(Stream* stream) {
  std::vector<uint8_t> bye;
  stream->Close(&bye);
  {
    std::lock_guard<std::mutex> lock(listeners_mutex_);
    if (const Audience* const audience = stream->audience()) {
      audience->ForEach([&](Listener& listener) { LeaveSource(&listener); });
    }
  }
  PassOn();  // a mark that was reached is reported, even if its stream is removed at once
  KeepBye(stream->handle(), std::move(bye));
}

void MediaPlane::KeepBye(uint64_t handle, std::vector<uint8_t> bye) {
  if (bye.empty()) return;
  std::lock_guard<std::mutex> lock(delivery_mutex_);
  if (byes_.size() < kMaxByes) {
    byes_.push_back({handle, time().Now(), true, std::move(bye)});
    watch_->Fire();
  } else {
    counters().capture_overflow.Add();
  }
}

// Listeners.

std::shared_ptr<Listener> MediaPlane::MakeListener(StreamConfig config, std::unique_ptr<SrtpSender> srtp) {
  std::lock_guard<std::mutex> lock(listeners_mutex_);
  if (listeners_closed_ || listeners_.size() >= kMaxListeners) return nullptr;
  const uint64_t seed = listener_random_.Next();
  const auto listener = std::make_shared<Listener>(clock_, std::move(config), std::move(srtp), seed);
  listeners_.emplace(listener.get(), listener);
  return listener;
}

MediaPlane::Follow MediaPlane::FollowSource(Listener* listener, const std::shared_ptr<Stream>& source) {
  std::lock_guard<std::mutex> lock(listeners_mutex_);
  if (listeners_.count(listener) == 0 || source->closed()) return Follow::kClosed;
  if (listener->source == source) return Follow::kFollows;
  if (!listener->Suits(source->config())) return Follow::kDiffers;
  Audience& audience = source->OpenAudience(listener->config().red.distance > 0);
  if (audience.size() >= Audience::kMost) return Follow::kFull;
  LeaveSource(listener);
  audience.Add(listener);
  listener->source = source;
  return Follow::kFollows;
}

// Under listeners_mutex_. The clock may be in the middle of a tick of the source that is left.
void MediaPlane::LeaveSource(Listener* listener) {
  if (!listener->source) return;
  listener->source->audience()->Remove(listener);
  listener->source.reset();
}

void MediaPlane::CloseListener(Listener* listener) {
  std::shared_ptr<Listener> held;
  {
    std::lock_guard<std::mutex> lock(listeners_mutex_);
    const auto found = listeners_.find(listener);
    if (found == listeners_.end()) return;
    held = std::move(found->second);
    listeners_.erase(found);
    LeaveSource(listener);
  }
  std::vector<uint8_t> bye;
  listener->Close(&bye);  // waits for the clock, which may be in a tick of its source
  KeepBye(listener->handle(), std::move(bye));
}

size_t MediaPlane::ListenerCount() {
  std::lock_guard<std::mutex> lock(listeners_mutex_);
  return listeners_.size();
}

std::unique_ptr<Target> MediaPlane::CaptureTarget() {
  std::lock_guard<std::mutex> lock(delivery_mutex_);
  if (!capture_) capture_ = std::make_unique<PacketRing>(kCaptureBytes);
  clock_->wire().SetCapture(capture_.get());
  return Target::Capture();
}

// Sockets.

std::shared_ptr<MediaSocket> MediaPlane::MakeSocket(MediaSocket::Ways ways, bool mux) {
  if (receiver_->size() >= kMaxSockets) return nullptr;
  return std::make_shared<MediaSocket>(&clock_->time(), inbound_, listening_, std::move(ways), mux);
}

bool MediaPlane::BeginSocket(const std::shared_ptr<MediaSocket>& socket) {
  const std::shared_ptr<UdpMux>& shared = socket->udp_mux();
  if (shared && !(shared->BelongTo(receiver_.get()) && receiver_->Attach(shared))) return false;
  return receiver_->Add(socket);
}

void MediaPlane::Feed(const std::shared_ptr<MediaSocket>& socket, const uint8_t* data, size_t len,
                      const Address& from, bool rtcp_port) {
  socket->Feed(data, len, from, rtcp_port);
  receiver_->NoteDeadline(socket);
}

// Associations.

std::shared_ptr<DtlsAssociation> MediaPlane::MakeDtls(std::shared_ptr<DtlsIdentity> identity,
                                                      DtlsConfig config) {
  return DtlsAssociation::Create(dtls_, inbound_, std::move(identity), std::move(config));
}

std::vector<std::vector<uint8_t>> MediaPlane::CloseDtls(DtlsAssociation* association) {
  auto last = association->Close();
  dtls_->Remove(association);
  return last;
}

// Does the work of the receiver and DTLS threads for a manual clock: reads waiting datagrams, and expires
// each deadline at its own time. Retransmissions of DTLS are due by the machine's clock.
void MediaPlane::ReceiveUpTo(int64_t to_ns) {
  receiver_->Poll();
  dtls_->Run();
  for (int64_t next_ns = receiver_->NextDeadline(); next_ns <= to_ns; next_ns = receiver_->NextDeadline()) {
    receiver_->Expire(std::max(next_ns, time().Now()));
  }
}

size_t MediaPlane::StreamCount() {
  std::lock_guard<std::mutex> lock(streams_mutex_);
  size_t open = 0;
  for (const auto& entry : streams_) open += entry.second->queue().closed() ? 0 : 1;
  return open;
}

void MediaPlane::CloseMixer(Mixer* mixer) {
  joining_.Remove(mixer);
  mixer->Close();
}

// A clock held by the caller.

uint64_t MediaPlane::Advance(int64_t to_ns) {
  std::lock_guard<std::mutex> lock(advance_mutex_);
  const uint64_t before = counters().packets.value();
  RunNow();
  ReceiveUpTo(to_ns);
  RunNow();  // what came is relayed at once
  for (;;) {
    // A stream that was closed may be overdue: it is only forgotten.
    const int64_t due_ns = clock_->NextDue(), joining_ns = joining_.NextTick();
    const int64_t next_ns = std::min({due_ns, joining_ns, listening_->NextTick()});
    if (stopping_.load() || next_ns > to_ns) break;
    clock_->time().Set(std::max(time().Now(), next_ns));
    if (due_ns <= next_ns) clock_->RunDue(time().Now());
    else if (joining_ns <= next_ns) joining_.RunUpTo(time().Now());
    else listening_->RunUpTo(time().Now());
  }
  clock_->time().Set(std::max(time().Now(), to_ns));
  PassOn();
  return counters().packets.value() - before;
}

uint64_t MediaPlane::WakeAt(int64_t at_ns) {
  std::lock_guard<std::mutex> lock(advance_mutex_);
  const uint64_t before = counters().packets.value();
  RunNow();
  clock_->time().Set(std::max(time().Now(), at_ns));
  if (!stopping_.load()) clock_->RunDue(time().Now());
  joining_.RunUpTo(time().Now());
  listening_->RunUpTo(time().Now());
  PassOn();
  return counters().packets.value() - before;
}

// Runs on a manual clock before its time moves.
void MediaPlane::RunNow() {
  if (stopping_.load()) return;
  clock_->RunDue(time().Now());
  clock_->TakeInbox(time().Now());
}

// The way back.

void MediaPlane::Dispatch() {
  pthread_setname_np(pthread_self(), "parley-dispatch");
  while (!stopping_.load()) {
    clock_->news().Wait();
    PassOn();
  }
}

void MediaPlane::PassOn() {
  std::lock_guard<std::mutex> lock(pass_mutex_);
  // Retired streams are taken first: every event of a stream was posted before it retired.
  Stream* const retired = clock_->TakeRetired();
  bool waiting = false;
  while (const ClockEvent* event = clock_->events().Front()) {
    if (event->kind == ClockEvent::kRoom) {
      event->stream->NotifyRoom();
    } else {
      std::lock_guard<std::mutex> delivery(delivery_mutex_);
      marks_.push_back({event->stream->shared_from_this(),
                        {event->stream->handle(), event->track, event->mark, event->at_ns}});
      waiting = true;
    }
    clock_->events().Pop();
  }
  Bury(retired);
  {
    std::lock_guard<std::mutex> delivery(delivery_mutex_);
    waiting = waiting || (capture_ && !capture_->Empty());
  }
  if (waiting) watch_->Fire();
}

void MediaPlane::Bury(Stream* retired) {
  std::lock_guard<std::mutex> lock(streams_mutex_);
  while (retired) {
    Stream* const next = retired->next_listed;
    streams_.erase(retired);
    retired = next;
  }
}

bool MediaPlane::Watch(std::shared_ptr<ReadySink> sink, uint64_t handle) {
  watch_->Arm(std::move(sink), handle);
  std::lock_guard<std::mutex> lock(delivery_mutex_);
  const bool waiting =
      !inbound_->Empty() || !marks_.empty() || !byes_.empty() || (capture_ && !capture_->Empty());
  if (waiting) watch_->Disarm();
  return waiting;
}

std::vector<DeliveredMark> MediaPlane::TakeMarks() {
  std::vector<WaitingMark> waiting;
  {
    std::lock_guard<std::mutex> lock(delivery_mutex_);
    waiting.swap(marks_);
  }
  std::vector<DeliveredMark> marks;
  marks.reserve(waiting.size());
  for (const WaitingMark& one : waiting) {
    marks.push_back(one.mark);
    one.stream->MarksDelivered(1);
  }
  return marks;
}

std::vector<CapturedPacket> MediaPlane::TakePackets() {
  std::lock_guard<std::mutex> lock(delivery_mutex_);
  std::vector<CapturedPacket> packets;
  PacketInfo info;
  const uint8_t* data = nullptr;
  while (capture_ && capture_->Front(&info, &data)) {
    packets.push_back({info.stream, info.at_ns, info.rtcp, {data, data + info.bytes}});
    capture_->Pop();
  }
  for (CapturedPacket& bye : byes_) packets.push_back(std::move(bye));
  byes_.clear();
  return packets;
}

void MediaPlane::StartTrace(size_t capacity) {
  std::lock_guard<std::mutex> lock(delivery_mutex_);
  if (trace_) return;
  trace_ = std::make_unique<SpscRing<TraceEntry>>(capacity);
  clock_->SetTrace(trace_.get());
}

std::vector<TraceEntry> MediaPlane::TakeTrace() {
  std::lock_guard<std::mutex> lock(delivery_mutex_);
  std::vector<TraceEntry> entries;
  while (const TraceEntry* entry = trace_ ? trace_->Front() : nullptr) {
    entries.push_back(*entry);
    trace_->Pop();
  }
  return entries;
}

// All of them; no more are made.
std::vector<std::shared_ptr<Listener>> MediaPlane::LastListeners() {
  std::lock_guard<std::mutex> lock(listeners_mutex_);
  listeners_closed_ = true;
  std::vector<std::shared_ptr<Listener>> all;
  for (const auto& entry : listeners_) all.push_back(entry.second);
  return all;
}

MediaPlane::Left MediaPlane::Close() {
  std::vector<std::shared_ptr<Stream>> open;
  {
    std::lock_guard<std::mutex> lock(streams_mutex_);
    if (closed_) return {};
    closed_ = true;
    for (const auto& entry : streams_) open.push_back(entry.second);
  }
  Left left;
  for (const std::shared_ptr<Stream>& stream : open) {
    left.streams.push_back(stream->handle());
    CloseStream(stream.get());
  }
  for (const std::shared_ptr<Listener>& listener : LastListeners()) {
    left.streams.push_back(listener->handle());
    CloseListener(listener.get());
  }
  left.associations = dtls_->Close();  // close_notify leaves by the sockets
  left.sockets = receiver_->Close();   // after the BYEs, which leave by the sockets
  joining_.Stop();
  listening_->Stop();
  clock_->Stop();
  stopping_.store(true);
  clock_->news().Set();
  if (dispatcher_.joinable()) dispatcher_.join();
  std::lock_guard<std::mutex> advance(advance_mutex_);  // waits for an Advance under way
  PassOn();
  watch_->Disarm();
  std::lock_guard<std::mutex> lock(streams_mutex_);
  streams_.clear();
  return left;
}

}  // namespace parley
