#include "media/hear/listening_call.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace parley {
namespace {

constexpr char kComplete[] = "";

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

bool ListeningCall::AddRing(std::shared_ptr<ByteRing> ring, EarSound sound, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (rings_.size() >= kMostRings) return false;
  rings_.emplace_back(std::move(ring), sound, now_ns);
  FollowOurs();
  return true;
}

void ListeningCall::RemoveRing(ByteRing* ring) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(rings_.begin(), rings_.end(), [ring](const auto& one) { return one.bytes() == ring; });
  if (found == rings_.end()) return;
  found->End(kComplete);
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

void ListeningCall::WatchTones(ToneWishes wishes) {
  auto tones = wishes.any() ? std::make_unique<ToneWatch>(std::move(wishes)) : nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  tones_ = std::move(tones);
}

bool ListeningCall::idle() {
  std::lock_guard<std::mutex> lock(mutex_);
  return rings_.empty() && !ears_ && !tones_;
}

std::shared_ptr<SentTap> ListeningCall::tap() {
  std::lock_guard<std::mutex> lock(mutex_);
  return tap_;
}

HearingFigures ListeningCall::Figures() {
  std::lock_guard<std::mutex> lock(mutex_);
  HearingFigures figures = caller_sound_.figures();
  figures.discarded += inbox_.dropped();
  figures.missed = missed_;
  return figures;
}

void ListeningCall::Close() {
  std::shared_ptr<Ears> ears;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (ListenerRing& ring : rings_) ring.End(kComplete);
    rings_.clear();
    tones_.reset();
    ears = ears_;
  }
  if (ears) RemoveEars(ears.get());
}

// Under mutex_. The owner hands the tap to the stream afterwards.
void ListeningCall::FollowOurs() {
  const bool needed = seat_ || std::any_of(rings_.begin(), rings_.end(), [](const auto& ring) {
                        return ring.sound() != EarSound::kCaller;
                      });
  if (needed == (sent_sound_ != nullptr)) return;
  tap_ = needed ? std::make_shared<SentTap>() : nullptr;
  sent_sound_ = needed ? std::make_unique<SentSound>(tap_) : nullptr;
}

// The listening thread.

ListeningCall::Result ListeningCall::Tick(const ListeningMoment& moment) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (moment.at_ns < from_ns_) return {};
  Result result;
  if (moment.at_ns - last_ns_ > SentSound::kQuantumNs) LeaveOut(moment, &result.tones);
  last_ns_ = moment.at_ns;
  if (rings_.empty() && !ears_ && !tones_) return result;
  TakeInbox(moment.at_ns);
  Hear(moment.at_ns);
  if (tones_) tones_->Take(caller_.samples.data(), moment.at_ns, &result.tones);
  result.ended = WriteRings(moment);
  if (ears_ && AddToWindow(moment.at_ns + SentSound::kQuantumNs, moment.ends_window)) result.ears = ears_;
  return result;
}

// The thread leaves out whole windows. One that had begun is lost, too.
void ListeningCall::LeaveOut(const ListeningMoment& moment, HeardTones* tones) {
  if (tones_) tones_->Break(last_ns_ + SentSound::kQuantumNs, tones);
  for (ListenerRing& ring : rings_) ring.LeaveOut(last_ns_, moment);
  const int64_t quanta = (moment.at_ns - last_ns_ - 1) / SentSound::kQuantumNs;
  if (seat_ && window_begun_) seat_->Lose(static_cast<uint64_t>(quanta / 2 + moment.ends_window));
  window_begun_ = false;
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
bool ListeningCall::WriteRings(const ListeningMoment& moment) {
  const size_t before = rings_.size();
  for (auto ring = rings_.begin(); ring != rings_.end();) {
    const bool goes_on = WriteRing(*ring, moment);
    missed_ += ring->TakeMissed();
    ring = goes_on ? ring + 1 : rings_.erase(ring);
  }
  if (rings_.size() == before) return false;
  FollowOurs();
  return true;
}

bool ListeningCall::WriteRing(ListenerRing& ring, const ListeningMoment& moment) {
  if (ring.sound() == EarSound::kCaller) return ring.Write(caller_.samples.data(), moment);
  if (ring.sound() == EarSound::kSum) {
    std::transform(caller_.samples.begin(), caller_.samples.end(), ours_.samples.begin(),
                   interleaved_.begin(), std::plus<>());
    return ring.Write(interleaved_.data(), moment);
  }
  for (size_t n = 0; n < CallerSound::kQuantum; n++) {
    interleaved_[2 * n] = caller_.samples[n];
    interleaved_[2 * n + 1] = ours_.samples[n];
  }
  return ring.Write(interleaved_.data(), moment);
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
  seat_->Put(*window_);
  return true;
}

}  // namespace parley
