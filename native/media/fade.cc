#include "media/fade.h"

#include <algorithm>
#include <cmath>

#include "media/time.h"

namespace parley {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Time after which a decoder that begins in the middle of a stream is near one that followed it.
constexpr int64_t kWarmNs = 80 * kNsPerMs;

struct CodecTraits {
  int rate;      // Hz at which the frame is faded
  size_t delay;  // samples by which the sound leaves the decoder after it entered the encoder
  // Frames before that bring a decoder and an encoder near the states that they have in the stream.
  int64_t decoder_warm_ns, encoder_warm_ns;
};

CodecTraits TraitsOf(VoiceCodec codec) {
  switch (codec) {
    case VoiceCodec::kPcmu:
    case VoiceCodec::kPcma:
      return {8000, 0, 0, 0};
    case VoiceCodec::kG722:
      return {16'000, 22, kWarmNs, kWarmNs};  // the two filter banks, ITU-T G.722, table 11
    case VoiceCodec::kOpus:
      return {48'000, 120, kWarmNs, 1};  // OPUS_GET_LOOKAHEAD of the encoder with low delay
    case VoiceCodec::kL16:
      return {24'000, 0, 0, 0};
  }
  return {};
}

size_t FramesIn(int64_t ns, int64_t period_ns) {
  return static_cast<size_t>((ns + period_ns - 1) / period_ns);
}

// The last `silent` samples are silent: the codec lets them overlap the next frame.
void FadeOut(float* sound, size_t count, size_t silent) {
  const auto length = static_cast<double>(count - silent);
  for (size_t n = 0; n < count; n++) {
    const double at = std::min(1.0, (static_cast<double>(n) + 0.5) / length);
    sound[n] *= static_cast<float>(0.5 * (1 + std::cos(kPi * at)));
  }
}

}  // namespace

size_t FadeEncoder::WarmFrames(VoiceCodec codec, int64_t period_ns) {
  return FramesIn(TraitsOf(codec).decoder_warm_ns, period_ns);
}

// With silence in the ticks that sent no voice.
FadeEncoder::Payloads FadeEncoder::Received(const std::vector<SentFrame>& heard, uint32_t timestamp) const {
  const size_t most = WarmFrames(form_.codec, form_.period_ns);
  Payloads received;  // newest first
  uint32_t next = timestamp;
  for (size_t n = heard.size(); n > 0 && received.size() < most; n--) {
    // Not above 0 if the clock sent frames after the timestamp was read.
    const auto ticks = static_cast<int32_t>(next - heard[n - 1].timestamp);
    for (auto left = ticks / static_cast<int32_t>(form_.ticks); left > 1 && received.size() < most; left--) {
      received.push_back(&form_.silence);
    }
    if (received.size() < most) received.push_back(&heard[n - 1].payload);
    next = heard[n - 1].timestamp;
  }
  std::reverse(received.begin(), received.end());
  return received;
}

// The encoder runs ahead of the decoder by the delay of the codec: the fade ends with the frame.
std::vector<uint8_t> FadeEncoder::Encode(const std::vector<SentFrame>& heard,
                                         const std::vector<uint8_t>& frame, uint32_t timestamp) const {
  const CodecTraits traits = TraitsOf(form_.codec);
  const auto count = static_cast<size_t>(form_.period_ns * traits.rate / kNsPerSecond);
  const auto decoder = VoiceDecoder::Make(form_.codec, traits.rate);
  const auto encoder = VoiceEncoder::MakeLowDelay(form_.codec, traits.rate);
  if (!decoder || !encoder || decoder->SamplesIn(frame.data(), frame.size()) != count) return {};
  const Payloads received = Received(heard, timestamp);
  std::vector<float> sound((received.size() + 1) * count + traits.delay);
  float* to = sound.data();
  for (const std::vector<uint8_t>* const payload : received) {
    const bool fits = decoder->SamplesIn(payload->data(), payload->size()) == count;
    if (!fits || decoder->Decode(payload->data(), payload->size(), to) != count) decoder->Conceal(count, to);
    to += count;
  }
  if (decoder->Decode(frame.data(), frame.size(), to) != count) return {};
  FadeOut(to, count, traits.delay);
  std::vector<uint8_t> payload(PlayoutQueue::kMaxPayload);
  size_t bytes = 0;
  const size_t before = std::min(received.size(), FramesIn(traits.encoder_warm_ns, form_.period_ns));
  for (const float* from = to - before * count; from <= to; from += count) {
    bytes = encoder->Encode(from + traits.delay, count, payload.data(), payload.size());
  }
  payload.resize(bytes);
  return payload;
}

}  // namespace parley
