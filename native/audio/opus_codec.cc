#include "audio/opus_codec.h"

#include <opus.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "audio/overlap.h"

namespace parley {
namespace {

constexpr size_t kMostBytes = 65'535;  // of a datagram
constexpr size_t kMostFrames = 48;     // of one payload (RFC 6716, section 3.2.5)
constexpr int kBitsPerSecond = 32'000;
constexpr int kLowDelayBitsPerSecond = 64'000;
constexpr int kComplexity = 5;
constexpr int kExpectedLossPercent = 10;
constexpr float kQuiet = 1e-5F;  // mean power: -50 dBFS

struct Free {
  void operator()(OpusDecoder* state) const { opus_decoder_destroy(state); }
  void operator()(OpusEncoder* state) const { opus_encoder_destroy(state); }
};

// The frames of a payload. None if it is malformed.
struct Frames {
  int count = 0;
  const unsigned char* data[kMostFrames];
  opus_int16 sizes[kMostFrames];

  Frames(const uint8_t* payload, size_t bytes) {
    if (bytes == 0 || bytes > kMostBytes) return;
    const auto size = static_cast<opus_int32>(bytes);
    count = std::max(0, opus_packet_parse(payload, size, nullptr, data, sizes, nullptr));
  }
};

bool IsCelt(uint8_t toc) { return (toc & 0x80) != 0; }  // configurations 16 to 31 (RFC 6716, section 3.1)

// True if the payload's first frame has a copy of the frame before: the flags of the SILK layer begin with
// one bit of voice activity for each 20 ms, then the LBRR flag, for the mid channel and then the side
// channel (RFC 6716, section 4.2.3).
bool HasCopy(const Frames& frames, const uint8_t* payload, int samples_of_20_ms) {
  if (frames.count == 0 || frames.sizes[0] < 2 || IsCelt(payload[0])) return false;
  const int size = opus_packet_get_samples_per_frame(payload, samples_of_20_ms * 50);
  const int activities = std::max(1, size / samples_of_20_ms);
  const uint8_t flags = frames.data[0][0];
  if (flags >> (7 - activities) & 1) return true;
  return opus_packet_get_nb_channels(payload) == 2 && (flags >> (6 - 2 * activities) & 1);
}

class OpusVoiceDecoder final : public VoiceDecoder {
 public:
  using State = std::unique_ptr<OpusDecoder, Free>;

  OpusVoiceDecoder(State state, int rate)
      : state_(std::move(state)), rate_(rate), piece_(static_cast<size_t>(rate) / 100) {}

  size_t SamplesIn(const uint8_t* payload, size_t bytes) const override {
    return SamplesOf(Frames(payload, bytes), payload);
  }

  size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
    const size_t samples = SamplesIn(payload, bytes);
    if (samples == 0 || !Run(payload, bytes, samples, 0, out)) return 0;
    was_celt_ = IsCelt(payload[0]);
    Finish(samples, out);
    return samples;
  }

  bool Recover(const uint8_t* next, size_t bytes, size_t samples, float* out) override {
    const Frames frames(next, bytes);
    if (!HasCopy(frames, next, rate_ / 50)) return false;
    // libopus conceals instead where the copy is longer than the loss, or follows a frame without SILK. It
    // conceals what was lost before the copied frame.
    const auto copied = static_cast<size_t>(opus_packet_get_samples_per_frame(next, rate_));
    if (was_celt_ || samples < copied || samples > MostSamples() || (samples - copied) % piece_ != 0)
      return false;
    if (!Run(next, bytes, samples, 1, out)) return false;
    Finish(samples, out);
    return true;
  }

  void Conceal(size_t samples, float* out) override {
    while (samples > 0) {
      const size_t ready = std::min(samples, spare_end_ - spare_at_);
      std::copy_n(spare_.begin() + spare_at_, ready, out);
      spare_at_ += ready;
      out += ready;
      samples -= ready;
      const size_t whole = std::min(samples / piece_, kPiecesAtOnce) * piece_;
      if (whole > 0) {
        ConcealPieces(whole, out);
        out += whole;
        samples -= whole;
      } else if (samples > 0) {
        ConcealPieces(piece_, spare_.data());
        spare_at_ = 0;
        spare_end_ = piece_;
      }
    }
  }

  void Reset() override {
    opus_decoder_ctl(state_.get(), OPUS_RESET_STATE);
    was_celt_ = false;
    spare_at_ = spare_end_ = 0;
  }

 private:
  // libopus conceals 2.5 ms or more. But its SILK layer always advances by 10 ms.
  static constexpr size_t kMostPiece = 480;   // 10 ms at 48 kHz
  static constexpr size_t kPiecesAtOnce = 2;  // the usual frame: the sound fades with each frame lost

  size_t MostSamples() const { return static_cast<size_t>(rate_ / 1000 * kMostMs); }

  size_t SamplesOf(const Frames& frames, const uint8_t* payload) const {
    if (frames.count == 0) return 0;
    const int samples = frames.count * opus_packet_get_samples_per_frame(payload, rate_);
    return static_cast<size_t>(samples) <= MostSamples() ? static_cast<size_t>(samples) : 0;
  }

  bool Run(const uint8_t* payload, size_t bytes, size_t samples, int from_copy, float* out) {
    const int count = static_cast<int>(samples);
    const auto size = static_cast<opus_int32>(bytes);
    return opus_decode_float(state_.get(), payload, size, out, count, from_copy) == count;
  }

  void ConcealPieces(size_t samples, float* out) {
    if (!Run(nullptr, 0, samples, 0, out)) std::fill_n(out, samples, 0.0F);
    for (size_t n = 0; n < samples; n++) out[n] = Limited(out[n]);
  }

  // Concealed samples that were not taken overlap the decoded ones.
  void Finish(size_t samples, float* out) {
    const size_t overlap = std::min(samples, spare_end_ - spare_at_);
    for (size_t n = 0; n < overlap; n++)
      out[n] = Overlapped(spare_[spare_at_ + n], out[n], OverlapWeight(n, overlap));
    spare_at_ = spare_end_ = 0;
    for (size_t n = 0; n < samples; n++) out[n] = Limited(out[n]);
  }

  const State state_;
  const int rate_;
  const size_t piece_;
  bool was_celt_ = false;
  std::array<float, kMostPiece> spare_{};
  size_t spare_at_ = 0, spare_end_ = 0;
};

class OpusVoiceEncoder final : public VoiceEncoder {
 public:
  using State = std::unique_ptr<OpusEncoder, Free>;

  OpusVoiceEncoder(State state, int rate, int application)
      : state_(std::move(state)), rate_(rate), application_(application) {
    Configure();
  }

  size_t Encode(const float* samples, size_t count, uint8_t* out, size_t room) override {
    const size_t ten_ms = static_cast<size_t>(rate_) / 100, tens = count / ten_ms;
    if (count % ten_ms != 0 || (tens != 1 && tens != 2 && tens != 4 && tens != 6)) return 0;
    const auto most = static_cast<opus_int32>(std::min(room, kMostBytes));
    const bool is_quiet = IsQuiet(samples, count);
    if (changes_ && (is_quiet || was_quiet_)) Restart();
    was_quiet_ = is_quiet;
    if (begins_anew_) opus_encoder_ctl(state_.get(), OPUS_SET_PREDICTION_DISABLED(1));
    const int bytes = opus_encode_float(state_.get(), samples, static_cast<int>(count), out, most);
    if (begins_anew_) opus_encoder_ctl(state_.get(), OPUS_SET_PREDICTION_DISABLED(is_low_delay() ? 1 : 0));
    begins_anew_ = false;
    return static_cast<size_t>(std::max(0, bytes));
  }

  void BeginAnew() override { begins_anew_ = true; }

  void SetNarrow(bool is_narrow) override {
    if (is_narrow == is_narrow_) return;
    is_narrow_ = is_narrow;
    changes_ = true;
    LimitBandwidth();
  }

  void Pause() override { was_quiet_ = true; }

  void Reset() override {
    is_narrow_ = begins_anew_ = false;
    was_quiet_ = true;
    Restart();
  }

 private:
  bool is_low_delay() const { return application_ == OPUS_APPLICATION_RESTRICTED_LOWDELAY; }

  // libopus's own reset keeps a part of what the encoder learnt.
  void Restart() {
    opus_encoder_init(state_.get(), rate_, 1, application_);
    Configure();
    changes_ = false;
  }

  static bool IsQuiet(const float* samples, size_t count) {
    float energy = 0;
    for (size_t n = 0; n < count; n++) energy += samples[n] * samples[n];
    return energy < kQuiet * static_cast<float>(count);
  }

  void LimitBandwidth() {
    const int most = is_narrow_ ? OPUS_BANDWIDTH_NARROWBAND : OPUS_BANDWIDTH_FULLBAND;
    opus_encoder_ctl(state_.get(), OPUS_SET_MAX_BANDWIDTH(most));
  }

  void Configure() {
    LimitBandwidth();
    opus_encoder_ctl(state_.get(), OPUS_SET_COMPLEXITY(kComplexity));
    const bool low_delay = is_low_delay();
    opus_encoder_ctl(state_.get(), OPUS_SET_BITRATE(low_delay ? kLowDelayBitsPerSecond : kBitsPerSecond));
    if (low_delay) {
      opus_encoder_ctl(state_.get(), OPUS_SET_PREDICTION_DISABLED(1));
      return;
    }
    opus_encoder_ctl(state_.get(), OPUS_SET_INBAND_FEC(1));
    opus_encoder_ctl(state_.get(), OPUS_SET_PACKET_LOSS_PERC(kExpectedLossPercent));
    opus_encoder_ctl(state_.get(), OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
  }

  const State state_;
  const int rate_;
  const int application_;
  bool begins_anew_ = false, is_narrow_ = false;
  bool changes_ =
      false;  // the band of the frames before may be another one, which an encoder leaves by steps
  bool was_quiet_ = true;  // the frame before
};

bool IsOpusRate(int rate) { return rate == 8000 || rate == 16'000 || rate == 48'000; }

}  // namespace

std::unique_ptr<VoiceDecoder> MakeOpusDecoder(int rate) {
  if (!IsOpusRate(rate)) return nullptr;
  OpusVoiceDecoder::State state(opus_decoder_create(rate, 1, nullptr));  // mixes two channels itself
  if (!state) return nullptr;
  return std::unique_ptr<VoiceDecoder>(new (std::nothrow) OpusVoiceDecoder(std::move(state), rate));
}

std::unique_ptr<VoiceEncoder> MakeOpusEncoder(int rate, bool low_delay) {
  if (!IsOpusRate(rate)) return nullptr;
  const int application = low_delay ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_VOIP;
  OpusVoiceEncoder::State state(opus_encoder_create(rate, 1, application, nullptr));
  if (!state) return nullptr;
  return std::unique_ptr<VoiceEncoder>(new (std::nothrow)
                                           OpusVoiceEncoder(std::move(state), rate, application));
}

}  // namespace parley
