// Checks the sound of a voice that fades out, at a decoder that followed the stream.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "media/fade.h"
#include "media/plane.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr double kMostEnd = -20;  // dB of the last eighth of the faded frame against the voice

struct Kind {
  const char* name;
  VoiceCodec codec;
  int rate;
  uint32_t clock_rate;
  std::vector<uint8_t> silence;  // of 10 ms; of a frame for Opus
  size_t overlap;                // samples at the end of the faded frame that are silent
  double least_snr;              // dB, of the faded frame against the ideal fade
  double most_after;             // dB of the silence after it against the voice
  bool is_silk = false;          // libopus for voice; otherwise with low delay
};

const Kind kKinds[] = {
    {"PCMU", VoiceCodec::kPcmu, 8000, 8000, std::vector<uint8_t>(80, 0xff), 0, 30, -70},
    {"PCMA", VoiceCodec::kPcma, 8000, 8000, std::vector<uint8_t>(80, 0xd5), 0, 30, -40},
    {"L16", VoiceCodec::kL16, 24'000, 24'000, std::vector<uint8_t>(480, 0), 0, 60, -80},
    {"G722", VoiceCodec::kG722, 16'000, 8000, std::vector<uint8_t>(80, 0xfe), 22, 15, -30},
    {"CELT", VoiceCodec::kOpus, 48'000, 48'000, {0xf8, 0xff, 0xfe}, 120, 18, -38},
    // The decoder conceals 5 ms where the layer changes.
    {"SILK", VoiceCodec::kOpus, 48'000, 48'000, {0xf8, 0xff, 0xfe}, 120, -6, -38, true},
};

// A stream that speaks `codec` in frames of `ms`, on a clock that stands still between calls, and the decoder
// of the far end.
class Line {
 public:
  Line(const Kind& kind, int ms)
      : kind_(kind),
        ms_(ms),
        count_(static_cast<size_t>(kind.rate * ms / 1000)),
        stream_(plane_->MakeStream(Config(), nullptr)),
        far_end_(VoiceDecoder::Make(kind.codec, kind.rate)) {
    stream_->set_handle(1);
    CHECK(far_end_ != nullptr);
    CHECK(plane_->Begin(stream_.get()));
    stream_->SetTarget(plane_->CaptureTarget());
  }

  size_t count() const { return count_; }
  Stream& stream() { return *stream_; }

  void Say(const std::vector<std::vector<uint8_t>>& frames) {
    for (const auto& frame : frames) {
      CHECK(stream_->queue().Push(1, 1, frame.data(), frame.size()) == PushResult::kTaken);
    }
  }

  // Returns the sound that the far end plays in so many ticks.
  Sound Play(size_t ticks) {
    now_ns_ += static_cast<int64_t>(ticks) * ms_ * kNsPerMs;
    plane_->Advance(now_ns_ - 1);
    Sound sound;
    for (const CapturedPacket& packet : plane_->TakePackets()) {
      const uint8_t* const payload = packet.data.data() + 12;
      sound.resize(sound.size() + count_);
      CHECK_EQ(far_end_->Decode(payload, packet.data.size() - 12, &sound[sound.size() - count_]), count_);
    }
    CHECK_EQ(sound.size(), ticks * count_);
    return sound;
  }

 private:
  StreamConfig Config() const {
    StreamConfig config;
    config.clock_rate = kind_.clock_rate;
    config.ticks_per_frame = kind_.clock_rate * static_cast<uint32_t>(ms_) / 1000;
    config.period_ns = ms_ * kNsPerMs;
    config.cname = "fade-sound-test";
    config.codec = kind_.codec;
    config.silence = Silence();
    config.high_frames = 100;
    return config;
  }

  std::vector<uint8_t> Silence() const {
    if (kind_.codec == VoiceCodec::kOpus) {
      if (ms_ == 10) return {0xf0, 0xff, 0xfe};
      if (ms_ == 60) return {0xfb, 0x03, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe};
      return kind_.silence;
    }
    std::vector<uint8_t> silence;
    for (int n = 0; n < ms_; n += 10) {
      silence.insert(silence.end(), kind_.silence.begin(), kind_.silence.end());
    }
    return silence;
  }

  const Kind& kind_;
  const int ms_;
  const size_t count_;
  const std::shared_ptr<MediaPlane> plane_ = MediaPlane::OpenManual(1, 0, 0);
  const std::shared_ptr<Stream> stream_;
  const std::unique_ptr<VoiceDecoder> far_end_;
  int64_t now_ns_ = 0;
};

std::vector<std::vector<uint8_t>> Encoded(const Kind& kind, const Sound& sound, size_t count) {
  const auto encoder = kind.is_silk ? VoiceEncoder::Make(kind.codec, kind.rate)
                                    : VoiceEncoder::MakeLowDelay(kind.codec, kind.rate);
  CHECK(encoder != nullptr);
  std::vector<std::vector<uint8_t>> frames;
  for (size_t at = 0; at + count <= sound.size(); at += count) {
    std::vector<uint8_t> frame(1400);
    frame.resize(encoder->Encode(&sound[at], count, frame.data(), frame.size()));
    frames.push_back(std::move(frame));
  }
  return frames;
}

double Level(const float* samples, size_t count) {
  return 10 * std::log10(Energy(samples, count) / static_cast<double>(count) + 1e-12);
}

// The voice at `before` frames, faded in the next one and silent after it, as an ideal far end would play it.
Sound Ideal(const Kind& kind, int ms, const std::vector<std::vector<uint8_t>>& frames, size_t before) {
  Line line(kind, ms);
  line.Say(frames);
  Sound sound = line.Play(before + 1);
  const size_t count = line.count();
  for (size_t n = 0; n < count; n++) {
    const double at =
        std::min(1.0, (static_cast<double>(n) + 0.5) / static_cast<double>(count - kind.overlap));
    sound[before * count + n] *= static_cast<float>(0.5 + 0.5 * std::cos(kTwoPi / 2 * at));
  }
  return sound;
}

void Check(const Kind& kind, int ms, const Sound& voice, size_t before) {
  Line line(kind, ms);
  const size_t count = line.count();
  const auto frames = Encoded(kind, voice, count);
  line.Say(frames);
  Sound sound = line.Play(before);
  CHECK(line.stream().Fade(1) == FadeResult::kFaded);
  const Sound after = line.Play(4);
  sound.insert(sound.end(), after.begin(), after.end());
  const Sound ideal = Ideal(kind, ms, frames, before);
  const size_t at = before * count, eighth = count / 8;
  const double snr = SignalToNoise(&ideal[at], &sound[at], count);
  const double loud = Level(&sound[at - count], count);
  const double end = Level(&sound[at + count - eighth], eighth) - loud;
  const double silence = Level(&sound[at + count], 3 * count) - loud;
  const float most = BiggestStep(sound, at - count, at);
  const float first = BiggestStep(sound, at, at + eighth),
              last = BiggestStep(sound, at + count, sound.size());
  std::printf(
      "       %s %2d ms, frame %2zu: %5.1f dB to the ideal, end %6.1f dB, silence %6.1f dB, steps %.3f %.3f %.3f\n",
      kind.name, ms, before, snr, end, silence, most, first, last);
  CHECK(snr > kind.least_snr);
  CHECK(end < kMostEnd);
  CHECK(silence < kind.most_after);
  CHECK(first < 1.25F * most);
  CHECK(last < 0.1F * most);
}

void TheVoiceFadesWithoutAClick() {
  for (const Kind& kind : kKinds) {
    for (const int ms : {10, 20, 60}) {
      if (kind.codec == VoiceCodec::kL16 && ms == 60) continue;  // more than a payload may have
      const Sound voice = Voice(kind.rate, static_cast<size_t>(kind.rate));
      for (const size_t at_ms : {120, 300, 420, 540, 780})
        Check(kind, ms, voice, at_ms / static_cast<size_t>(ms));
    }
  }
}

// The far end heard silence before it, so that its decoder knows nothing.
void TheFirstFramesFadeAsWell() {
  for (const Kind& kind : kKinds) {
    const Sound voice = Voice(kind.rate, static_cast<size_t>(kind.rate));
    for (const size_t before : {1, 2, 3}) Check(kind, 20, voice, before);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(fade_sound) {
  using namespace parley::test;
  return Run({
      {"the voice fades without a click", TheVoiceFadesWithoutAClick},
      {"the first frames fade as well", TheFirstFramesFadeAsWell},
  });
}
