#include "media/hear/caller_sound.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parley {

CallerSound::CallerSound(Limits limits, MakeDecoder make)
    : quantum_(limits.quantum),
      make_(make ? std::move(make)
                 : [](VoiceCodec codec) { return VoiceDecoder::Make(codec, CallerSound::kRate); }),
      estimator_({limits.least_ms, limits.most_ms, static_cast<double>(limits.quantum) / (kRate / 1000)}),
      queue_(TimeStretch::kLongest, 2 * kMostPayload + Enough()) {
  figures_.target_ms = estimator_.target();
}

void CallerSound::SetQuantum(size_t samples, bool follows_packets) {
  quantum_ = std::min(samples, kMostQuantum);
  follows_packets_ = follows_packets;
  estimator_.SetQuantum(static_cast<double>(quantum_) / (kRate / 1000));
}

CallerSound::~CallerSound() = default;

void CallerSound::Put(const HeardPacket& packet) {
  size_t samples = 0;
  if (!Accepts(packet, &samples)) {
    figures_.discarded++;
    return;
  }
  const bool first = !timeline_.started();
  if (first) origin_ns_ = arrival_ns_ = packet.arrival_ns;
  const int64_t before_ns = arrival_ns_;
  arrival_ns_ = std::max(arrival_ns_, packet.arrival_ns);
  const MediaTimeline::Place place = PlaceOf(packet, samples);
  if (place.verdict == MediaTimeline::Verdict::kDuplicate) return;
  if (place.verdict == MediaTimeline::Verdict::kOld) {
    figures_.late_packets++;
    return;
  }
  if (place.verdict == MediaTimeline::Verdict::kEpoch) BeginEpoch(place, first);
  if (samples > 0) {
    if (static_cast<double>(arrival_ns_ - before_ns) * 1e-6 > kPauseMs) {
      estimator_.RestartBase();
      fresh_start_ = true;
    }
    Observe(packet, place, samples);
    // Reordered packets at the start may precede the first one.
    if (last_epoch_ == 0) cursor_ = floor_ = std::min(floor_, place.position);
    if (place.position + static_cast<int64_t>(samples) <= floor_) {
      if (!packet.redundant) CountLate(place.epoch, packet.sequence);
      return;
    }
  }
  Store(packet, place, samples);
}

MediaTimeline::Place CallerSound::PlaceOf(const HeardPacket& packet, size_t samples) {
  const auto kind = packet.kind == HeardPacket::kSound          ? MediaTimeline::Packet::kSound
                    : packet.kind == HeardPacket::kComfortNoise ? MediaTimeline::Packet::kSilence
                                                                : MediaTimeline::Packet::kPlaceless;
  return timeline_.Map({kind, packet.clock_rate, packet.sequence, packet.timestamp, arrival_ns_,
                        static_cast<uint32_t>(samples)},
                       cursor_);
}

// A late packet counts as lost, too. The packets taken may have shown the loss before.
void CallerSound::CountLate(uint32_t epoch, uint64_t sequence) {
  figures_.late_packets++;
  const bool counted = first_sequence_ <= sequence && sequence <= last_sequence_;
  if (epoch == last_epoch_ && !counted) figures_.lost_packets++;
}

bool CallerSound::Accepts(const HeardPacket& packet, size_t* samples) {
  if (packet.clock_rate < MediaTimeline::kLeastClockRate || packet.clock_rate > MediaTimeline::kMostClockRate)
    return false;
  if (packet.kind != HeardPacket::kSound) return true;
  if (packet.bytes == 0 || packet.bytes > kMostBytes) return false;
  const VoiceDecoder* const decoder = DecoderOf(packet.codec);
  if (decoder == nullptr) return false;
  *samples = decoder->SamplesIn(packet.payload, packet.bytes);
  return *samples > 0 && *samples <= kMostPayload;
}

VoiceDecoder* CallerSound::DecoderOf(VoiceCodec codec) {
  const auto index = static_cast<size_t>(codec);
  if (index >= kCodecs) return nullptr;
  if (!decoders_[index]) decoders_[index] = make_(codec);
  return decoders_[index].get();
}

void CallerSound::BeginEpoch(const MediaTimeline::Place& place, bool first) {
  if (!first) figures_.restarts++;
  estimator_.Restart();
  Settle(true);
  if (first) cursor_ = place.position;
  floor_ = std::max(floor_, std::min(cursor_, place.position));
}

void CallerSound::Observe(const HeardPacket& packet, const MediaTimeline::Place& place, size_t samples) {
  const double arrival = static_cast<double>(arrival_ns_ - origin_ns_) * 1e-6;
  const double transit = arrival - static_cast<double>(place.position) / (kRate / 1000);
  estimator_.Observe(arrival, transit);
  packet_position_ = place.position;
  packet_samples_ = samples;
  // The packet may carry the sound of the one before it.
  if (packet.codec == VoiceCodec::kOpus && corrects_ && place.skipped > 0 && place.skipped <= 2)
    estimator_.ObserveMissing(transit, static_cast<double>(samples) / (kRate / 1000));
}

void CallerSound::Store(const HeardPacket& packet, const MediaTimeline::Place& place, size_t samples) {
  BufferedPacket buffered;
  buffered.epoch = place.epoch;
  buffered.position = place.position;
  buffered.sequence = packet.sequence;
  buffered.samples = static_cast<uint32_t>(samples);
  buffered.bytes = static_cast<uint16_t>(samples > 0 ? packet.bytes : 0);
  buffered.codec = packet.codec;
  buffered.redundant = packet.redundant;
  bool dropped = false;
  while (!buffer_.HasRoom(buffered)) {
    figures_.discarded++;
    if (buffered.IsBefore(*buffer_.First())) return;
    buffer_.DropFirst();
    dropped = true;
  }
  buffer_.Put(buffered, packet.payload);
  if (!dropped || buffer_.First()->position <= cursor_) return;
  Settle(true);
  cursor_ = floor_ = buffer_.First()->position;
  queue_.Break();
}

void CallerSound::Restart() {
  if (timeline_.started()) timeline_.Restart();
}

bool CallerSound::Pull(int64_t now_ns, float* out) {
  if (!timeline_.started()) {
    std::fill_n(out, quantum_, 0.0F);
    return false;
  }
  now_ = Samples(now_ns);
  target_ = ChooseTarget();
  Fill(quantum_);
  Steer();
  Fill(quantum_);
  figures_.samples += quantum_;
  figures_.delay_ms = std::max(0.0, DelayAt(cursor_) / (kRate / 1000));
  figures_.target_ms = target_ / (kRate / 1000);
  figures_.jitter_ms = estimator_.jitter();
  figures_.drift_ppm = estimator_.drift_ppm();
  queue_.Take(quantum_, out);
  return std::any_of(out, out + quantum_, [](float sample) { return sample != 0; });
}

// The delay of a quantum's first sample, in samples. Where the quantum follows packets, it is the least one
// at which the last packet of the quantum is there by as much as the jitter asks for. All packets have the
// same margin there, which changes by whole packets only.
double CallerSound::ChooseTarget() const {
  if (!FollowsPackets()) return estimator_.target() * (kRate / 1000);
  const double base = estimator_.base() * (kRate / 1000), least = estimator_.excess() * (kRate / 1000);
  const auto packet = static_cast<double>(packet_samples_);
  const double before = static_cast<double>(quantum_) - packet;  // from the first packet to the last one
  const double age = now_ - base - static_cast<double>(packet_position_);
  const double margin = age - packet * std::floor(age / packet);
  const double needed = std::max(0.0, std::ceil((least - margin) / packet));
  double packets = needed;
  if (!in_pause_) {
    const double now = std::floor((DelayAt(cursor_) - before - margin + 2) / packet);
    const double spare = std::max(0.0, std::ceil((least + kMarginSlack - margin) / packet));
    packets = std::clamp(now, needed, std::max(needed, spare));
  }
  return before + margin + packets * packet + kCushion;
}

// Samples by which sound at `position`, if it is appended now, is later than in the fastest packets.
double CallerSound::DelayAt(int64_t position) const {
  return now_ + static_cast<double>(queue_.size()) - static_cast<double>(position) -
         estimator_.base() * (kRate / 1000);
}

void CallerSound::Fill(size_t count) {
  while (queue_.size() < count) Produce(count - queue_.size());
}

// Appends about `count` samples, or drops a packet, or moves the cursor.
void CallerSound::Produce(size_t count) {
  const BufferedPacket* const next = buffer_.First();
  if (next == nullptr) {
    Hold(count);
  } else if (next->position > cursor_) {
    FillGap(*next, count);
  } else if (!Wait(*next, count)) {
    Take();
  }
}

// The buffer is empty: the next packet is late or lost, or the far end pauses.
void CallerSound::Hold(size_t count) {
  if (in_pause_ || concealed_ >= kMostConcealed) {
    in_pause_ = true;
    queue_.AppendSilence(count);
    cursor_ += static_cast<int64_t>(count);
    return;
  }
  count = std::min(count, kMostConcealed - concealed_);
  Conceal(count);
  unsettled_ += count;
  cursor_ += static_cast<int64_t>(count);
}

// Fills the place from the cursor to `next`. Sound was lost there if a sequence number is missing.
void CallerSound::FillGap(const BufferedPacket& next, size_t count) {
  const bool lost = MissingBefore(next) > 0;
  Settle(lost);
  floor_ = cursor_;
  const auto gap = static_cast<size_t>(next.position - cursor_);
  if (!lost || in_pause_ || concealed_ >= kMostConcealed) {
    PassSilence(gap, count);
    return;
  }
  if (gap <= next.samples && Recover(next, gap)) return;
  const size_t before = gap > next.samples ? gap - next.samples : gap;  // the rest may be recovered
  const size_t concealed = std::min(count, before);
  Conceal(concealed);
  figures_.concealed += concealed;
  Advance(concealed);
}

bool CallerSound::Recover(const BufferedPacket& next, size_t gap) {
  if (next.codec != VoiceCodec::kOpus || decoder_ == nullptr || decoder_ != DecoderOf(next.codec))
    return false;
  if (not_in_ == next.sequence && uncorrected_ > 0) return false;
  const uint8_t* const payload = buffer_.FirstPayload();
  if (!decoder_->Recover(payload, next.bytes, next.samples, queue_.Room(next.samples))) {
    not_in_ = next.sequence;
    if (++uncorrected_ == 3) corrects_ = false;
    return false;
  }
  corrects_ = true;
  uncorrected_ = 0;
  if (gap < next.samples) queue_.Break();
  queue_.Append(gap, next.samples - gap);
  figures_.recovered += gap;
  concealed_ = 0;
  Advance(gap);
  return true;
}

// Appends silence for a gap of the timestamps. A pause is made shorter or longer to correct the delay.
void CallerSound::PassSilence(size_t gap, size_t count) {
  const double above = DelayAt(cursor_) - target_;
  size_t changed = 0, advanced = std::min(count, gap);
  if (above > kMostAbove) {
    changed = std::min(gap, static_cast<size_t>(above));
    advanced = changed;
  } else {
    if (-above > (fresh_start_ ? 1 : MostBelow())) changed = std::min(count, static_cast<size_t>(-above));
    if (changed > 0) advanced = 0;
    queue_.AppendSilence(changed + advanced);
  }
  if (!fresh_start_) figures_.stretched += changed;
  Advance(advanced);
}

// Appends silence before the first sound after a pause, until its delay is the target. False: there is no
// need.
bool CallerSound::Wait(const BufferedPacket& next, size_t count) {
  if (!in_pause_ || next.samples == 0) return false;
  const double below = target_ - DelayAt(std::max(next.position, floor_));
  if (below < (fresh_start_ ? 1 : MostBelow())) return false;
  const size_t silence = std::min(count, static_cast<size_t>(below));
  queue_.AppendSilence(silence);
  if (!fresh_start_) figures_.stretched += silence;
  return true;
}

void CallerSound::Take() {
  const BufferedPacket packet = *buffer_.First();
  if (packet.samples == 0) {
    TakeSilence(packet);
  } else {
    TakeSound(packet);
  }
  buffer_.DropFirst();
}

void CallerSound::TakeSilence(const BufferedPacket& packet) {
  const bool newer = packet.epoch != last_epoch_ || packet.sequence > last_sequence_;
  if (!newer) return;
  Settle(MissingBefore(packet) > 0);
  Count(packet);
  in_pause_ = true;
}

void CallerSound::TakeSound(const BufferedPacket& packet) {
  const int64_t begin = std::max(packet.position, floor_);
  const auto skip = static_cast<size_t>(begin - packet.position);
  if (skip >= packet.samples) {  // it overlaps the packet before, which is longer than its timestamps say
    figures_.discarded++;
    return;
  }
  Settle(begin == floor_ || MissingBefore(packet) > 0);
  Count(packet);
  VoiceDecoder* const decoder = DecoderOf(packet.codec);
  const bool continues = decoder == decoder_ && packet.epoch == decoder_epoch_;
  if (!continues) decoder->Reset();
  if (!continues || in_pause_ || concealed_ > 0 || skip > 0) queue_.Break();
  decoder_ = decoder;
  codec_ = packet.codec;
  decoder_epoch_ = packet.epoch;
  in_pause_ = false;
  cursor_ = begin;
  const size_t room = std::max<size_t>(packet.samples, kMostPayload);
  const size_t decoded = decoder->Decode(buffer_.FirstPayload(), packet.bytes, queue_.Room(room));
  if (decoded <= skip) {
    figures_.discarded++;
    Conceal(packet.samples - skip);
    figures_.concealed += packet.samples - skip;
    Advance(packet.samples - skip);
    return;
  }
  queue_.Append(decoded - skip, skip);
  Advance(decoded - skip);
  concealed_ = 0;
  fresh_start_ = false;
  if (packet.redundant) figures_.recovered += decoded - skip;
  // One or two bytes: Opus sends nothing more until there is sound again (RFC 7587, section 3.1.3).
  if (packet.codec == VoiceCodec::kOpus && packet.bytes <= 2) in_pause_ = true;
}

// Removes or inserts one period of the pitch if the delay is far from its target.
void CallerSound::Steer() {
  if (in_pause_ || unsettled_ > 0) return;
  const double above = DelayAt(cursor_) - target_;
  if (above <= kMostAbove && -above <= MostBelow()) return;
  if (now_ - stretched_at_ < (above > kUrgent ? kUrgentPause : kStretchPause)) return;
  size_t changed;
  if (above > 0) {
    for (const BufferedPacket* next = buffer_.First();
         queue_.size() < Enough() && next != nullptr && next->samples > 0 && next->position == cursor_;
         next = buffer_.First())
      Take();
    if (queue_.size() < Enough()) return;
    changed = TimeStretch::RemovePeriod(queue_.head(), 0.9 - (above - kMostAbove) / kUrgent);
    queue_.Move(static_cast<std::ptrdiff_t>(changed));
  } else {
    changed = TimeStretch::InsertPeriod(queue_.head(), 0.9 + (above + kMostBelow) / kMostAbove);
    queue_.Move(-static_cast<std::ptrdiff_t>(changed));
  }
  if (changed == 0) return;
  figures_.stretched += changed;
  stretched_at_ = now_;
}

// Appends `count` samples that continue the sound.
void CallerSound::Conceal(size_t count) {
  if (decoder_ == nullptr) {
    queue_.AppendSilence(count);
  } else {
    decoder_->Conceal(count, queue_.Room(count));
    queue_.Append(count);
  }
  concealed_ += count;
}

// Moves the cursor over sound that nothing can replace any more.
void CallerSound::Advance(size_t count) {
  cursor_ += static_cast<int64_t>(count);
  floor_ = cursor_;
}

uint64_t CallerSound::MissingBefore(const BufferedPacket& packet) const {
  if (packet.epoch != last_epoch_) return 0;
  return timeline_.Missing(packet.epoch, last_sequence_, packet.sequence);
}

// Counts the sequence numbers before a packet that is taken as lost, if they have not come.
void CallerSound::Count(const BufferedPacket& packet) {
  if (packet.epoch == last_epoch_ && packet.sequence <= last_sequence_) return;
  figures_.lost_packets += MissingBefore(packet);
  if (packet.epoch != last_epoch_) first_sequence_ = packet.sequence;
  last_epoch_ = packet.epoch;
  last_sequence_ = packet.sequence;
}

// Counts the samples concealed last if they replaced sound, and not a pause.
void CallerSound::Settle(bool was_sound) {
  if (was_sound) figures_.concealed += unsettled_;
  unsettled_ = 0;
}

}  // namespace parley
