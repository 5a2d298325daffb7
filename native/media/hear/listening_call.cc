#include "media/hear/listening_call.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parley {
namespace {

// Codes of src/errors.ts.
constexpr char kComplete[] = "";
constexpr char kListenerSlow[] = "LISTENER_SLOW";

double PowerOf(const float* samples) {
  double sum = 0;
  for (size_t n = 0; n < CallerSound::kQuantum; n++) sum += double{samples[n]} * double{samples[n]};
  return sum;
}

float LevelOf(double power) {
  if (power <= 0) return EarWindow::kSilentDb;
  const double db = 10 * std::log10(power / static_cast<double>(EarWindow::kSamples));
  return std::max(EarWindow::kSilentDb, static_cast<float>(db));
}

}  // namespace

// Callers.

bool ListeningCall::AddRing(std::shared_ptr<ByteRing> ring, size_t channels) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (rings_.size() >= kMostRings) return false;
  rings_.push_back({std::move(ring), channels});
  FollowOurs();
  return true;
}

void ListeningCall::RemoveRing(ByteRing* ring) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(rings_.begin(), rings_.end(), [ring](const Ring& one) { return one.bytes.get() == ring; });
  if (found == rings_.end()) return;
  found->bytes->End(kComplete);
  rings_.erase(found);
  FollowOurs();
}

bool ListeningCall::AddEars(const std::shared_ptr<Ears>& ears, std::weak_ptr<ListeningOwner> owner,
                            uint64_t socket) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ears_) return ears_ == ears;
  seat_ = ears->Join(std::move(owner), socket);
  if (!seat_) return false;
  ears_ = ears;
  window_ = std::make_unique<EarWindow>();
  window_begun_ = false;
  FollowOurs();
  return true;
}

void ListeningCall::RemoveEars(const Ears* ears) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!ears_ || ears_.get() != ears) return;
  ears_->Leave(seat_.get());
  ears_.reset();
  seat_.reset();
  window_.reset();
  FollowOurs();
}

bool ListeningCall::idle() {
  std::lock_guard<std::mutex> lock(mutex_);
  return rings_.empty() && !ears_;
}

std::shared_ptr<SentTap> ListeningCall::tap() {
  std::lock_guard<std::mutex> lock(mutex_);
  return tap_;
}

HearingFigures ListeningCall::Figures() {
  std::lock_guard<std::mutex> lock(mutex_);
  HearingFigures figures = caller_sound_.figures();
  figures.discarded += inbox_.dropped();
  return figures;
}

void ListeningCall::Close() {
  std::shared_ptr<Ears> ears;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const Ring& ring : rings_) ring.bytes->End(kComplete);
    rings_.clear();
    ears = ears_;
  }
  if (ears) RemoveEars(ears.get());
}

// Under mutex_. The owner hands the tap to the stream afterwards.
void ListeningCall::FollowOurs() {
  const bool needed =
      seat_ || std::any_of(rings_.begin(), rings_.end(), [](const Ring& ring) { return ring.channels == 2; });
  if (needed == (sent_sound_ != nullptr)) return;
  tap_ = needed ? std::make_shared<SentTap>() : nullptr;
  sent_sound_ = needed ? std::make_unique<SentSound>(tap_) : nullptr;
}

// The listening thread.

ListeningCall::Result ListeningCall::Tick(int64_t now_ns, bool ends_window) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (now_ns < from_ns_ || (rings_.empty() && !ears_)) return {};
  TakeInbox(now_ns);
  Hear(now_ns);
  Result result;
  result.ended = WriteRings();
  if (ears_ && AddToWindow(now_ns + SentSound::kQuantumNs, ends_window)) result.ears = ears_;
  return result;
}

// Packets that came later stay in the inbox: a late reader hears what a punctual one would have heard.
void ListeningCall::TakeInbox(int64_t now_ns) {
  HeardPacket packet;
  uint32_t source = 0;
  while (inbox_.Front(&packet, &source) && packet.arrival_ns <= now_ns) {
    if (has_source_ && source != source_) caller_sound_.Restart();
    source_ = source;
    has_source_ = true;
    caller_sound_.Put(packet);
    inbox_.Pop();
  }
}

void ListeningCall::Hear(int64_t now_ns) {
  caller_.sounds = caller_sound_.Pull(now_ns, caller_.samples.data());
  if (!sent_sound_) return;
  const int64_t delay_ns = MsToNs(caller_sound_.figures().delay_ms);
  ours_.sounds = sent_sound_->Read(now_ns, delay_ns, ours_.samples.data());
}

// True: a ring has ended.
bool ListeningCall::WriteRings() {
  const size_t before = rings_.size();
  rings_.erase(
      std::remove_if(rings_.begin(), rings_.end(), [this](const Ring& ring) { return !WriteRing(ring); }),
      rings_.end());
  if (rings_.size() == before) return false;
  FollowOurs();
  return true;
}

// False: the reader has ended it, or is too slow.
bool ListeningCall::WriteRing(const Ring& ring) {
  const float* samples = caller_.samples.data();
  if (ring.channels == 2) {
    for (size_t n = 0; n < CallerSound::kQuantum; n++) {
      interleaved_[2 * n] = caller_.samples[n];
      interleaved_[2 * n + 1] = ours_.samples[n];
    }
    samples = interleaved_.data();
  }
  const size_t bytes = ring.channels * CallerSound::kQuantum * sizeof(float);
  const int64_t written = ring.bytes->Write(reinterpret_cast<const uint8_t*>(samples), bytes, bytes);
  if (written == 0) ring.bytes->End(kListenerSlow);
  return written > 0;
}

// True: the window is complete.
bool ListeningCall::AddToWindow(int64_t end_ns, bool ends_window) {
  if (!ends_window) {
    window_begun_ = true;
    caller_power_ = our_power_ = 0;
  }
  if (!window_begun_) return false;
  const size_t at = ends_window ? CallerSound::kQuantum : 0;
  std::copy(caller_.samples.begin(), caller_.samples.end(), window_->samples.begin() + at);
  std::copy(ours_.samples.begin(), ours_.samples.end(), window_->samples.begin() + EarWindow::kSamples + at);
  if (caller_.sounds) caller_power_ += PowerOf(caller_.samples.data());
  if (ours_.sounds) our_power_ += PowerOf(ours_.samples.data());
  if (!ends_window) return false;
  window_->end_ns = end_ns;
  window_->caller_db = LevelOf(caller_power_);
  window_->ours_db = LevelOf(our_power_);
  window_->delay_ms = caller_sound_.figures().delay_ms;
  seat_->Put(*window_);
  return true;
}

}  // namespace parley
