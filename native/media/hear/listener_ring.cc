#include "media/hear/listener_ring.h"

#include <algorithm>
#include <array>
#include <utility>

#include "media/hear/caller_sound.h"
#include "media/hear/sent_sound.h"

namespace parley {
namespace {

constexpr char kListenerSlow[] = "LISTENER_SLOW";  // of src/errors.ts
constexpr size_t kMostChannels = 2;
constexpr std::array<float, kMostChannels * CallerSound::kQuantum> kSilence{};

const uint8_t* BytesOf(const float* samples) { return reinterpret_cast<const uint8_t*>(samples); }

}  // namespace

size_t ListenerRing::QuantumBytes() const { return channels() * CallerSound::kQuantum * sizeof(float); }

void ListenerRing::LeaveOut(int64_t after_ns, const ListeningMoment& moment) {
  const int64_t between_ns = moment.at_ns - std::max(after_ns, from_ns_) - 1;
  if (between_ns < SentSound::kQuantumNs) return;
  BePatient(moment.now_ns);
  Owe(between_ns / SentSound::kQuantumNs);
}

// The thread was late. What is owed already has its own patience.
void ListenerRing::BePatient(int64_t now_ns) {
  if (owed_ > 0) return;
  least_owed_ = INT64_MAX;
  patience_ends_ns_ = now_ns + kPatienceNs;
}

void ListenerRing::Owe(int64_t quanta) {
  owed_ += quanta;
  missed_ += static_cast<uint64_t>(quanta) * CallerSound::kQuantum;
}

// False: the reader has ended it.
bool ListenerRing::PayOwed(int64_t now_ns) {
  while (owed_ > 0) {
    const int64_t written = bytes_->Write(BytesOf(kSilence.data()), QuantumBytes(), QuantumBytes());
    if (written <= 0) return written == 0;
    owed_--;
    if (owed_ >= least_owed_) continue;
    least_owed_ = owed_;
    patience_ends_ns_ = now_ns + kPatienceNs;
  }
  return true;
}

bool ListenerRing::Write(const float* samples, const ListeningMoment& moment) {
  if (moment.at_ns < from_ns_) return true;
  if (!PayOwed(moment.now_ns)) return false;
  const int64_t written = owed_ > 0 ? 0 : bytes_->Write(BytesOf(samples), QuantumBytes(), QuantumBytes());
  if (written != 0) return written > 0;
  if (moment.now_ns - moment.at_ns >= SentSound::kQuantumNs) BePatient(moment.now_ns);
  const bool is_patient = moment.now_ns < patience_ends_ns_;
  if (is_patient) Owe(1);
  else End(kListenerSlow);
  return is_patient;
}

uint64_t ListenerRing::TakeMissed() { return std::exchange(missed_, 0); }

}  // namespace parley
