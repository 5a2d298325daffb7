// Measures what codecs of calls cost: processor time for 20 ms of sound.
//
//   cmake --build native/build --target voice_codec_bench
//   native/build/voice_codec_bench [rounds: 20]
//
// Each figure is the median over the rounds of 2 s of a voice at 16 kHz, in one thread's processor time. Lost
// frames come in pairs: the second of them fades.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "audio/voice_codec.h"
#include "test/sounds.h"

namespace parley::bench {
namespace {

constexpr int kRate = 16'000;
constexpr size_t kFrame = 320, kFrames = 100;

using Payload = std::vector<uint8_t>;

double ThreadUs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

class CodecCost {
 public:
  CodecCost(const char* name, VoiceCodec codec)
      : name_(name),
        encoder_(VoiceEncoder::Make(codec, kRate)),
        decoder_(VoiceDecoder::Make(codec, kRate)),
        voice_(test::Voice(kRate, kFrame * kFrames)),
        payloads_(kFrames) {}

  void Print(size_t rounds) {
    const double encode = Median(rounds, [this](size_t n) { return Encode(n); });
    const double decode = Median(rounds, [this](size_t n) { return Decode(n); });
    const double conceal = Median(rounds, [this](size_t n) { return Conceal(n); });
    std::printf("codec_cost %-5s decode %6.2f us, conceal %6.2f us, encode %6.2f us", name_, decode, conceal,
                encode);
    const double recover = Median(rounds, [this](size_t n) { return Recover(n); });
    if (recover > 0) std::printf(", recover %6.2f us", recover);
    std::printf("\n");
  }

 private:
  // Microseconds of one frame of those that `work` times; it returns a negative number for others.
  template <class Work>
  double Median(size_t rounds, const Work& work) {
    std::vector<double> figures;
    for (size_t round = 0; round < rounds; round++) {
      double sum = 0;
      size_t count = 0;
      for (size_t n = 0; n < kFrames; n++) {
        const double us = work(n);
        if (us < 0) continue;
        sum += us;
        count++;
      }
      figures.push_back(count == 0 ? 0 : sum / static_cast<double>(count));
    }
    std::nth_element(figures.begin(), figures.begin() + rounds / 2, figures.end());
    return figures[rounds / 2];
  }

  template <class Work>
  double Timed(const Work& work) {
    const double before = ThreadUs();
    work();
    return ThreadUs() - before;
  }

  double Encode(size_t n) {
    Payload& payload = payloads_[n];
    payload.resize(1500);
    size_t bytes = 0;
    const double us =
        Timed([&] { bytes = encoder_->Encode(&voice_[n * kFrame], kFrame, payload.data(), payload.size()); });
    payload.resize(bytes);
    return us;
  }

  double Decode(size_t n) {
    return Timed([&] { decoder_->Decode(payloads_[n].data(), payloads_[n].size(), out_); });
  }

  double Conceal(size_t n) {
    if (n % 10 >= 2) {
      Decode(n);
      return -1;
    }
    return Timed([&] { decoder_->Conceal(kFrame, out_); });
  }

  double Recover(size_t n) {
    if (n % 5 != 0) {
      Decode(n);
      return -1;
    }
    bool recovered = false;
    const Payload& next = payloads_[n + 1];
    const double us = Timed([&] { recovered = decoder_->Recover(next.data(), next.size(), kFrame, out_); });
    if (!recovered) decoder_->Conceal(kFrame, out_);
    return recovered ? us : -1;
  }

  const char* const name_;
  const std::unique_ptr<VoiceEncoder> encoder_;
  const std::unique_ptr<VoiceDecoder> decoder_;
  const test::Sound voice_;
  std::vector<Payload> payloads_;
  float out_[kFrame];
};

}  // namespace
}  // namespace parley::bench

int main(int count, char** words) {
  using parley::VoiceCodec;
  const size_t rounds = count > 1 ? std::max(1UL, std::strtoul(words[1], nullptr, 10)) : 20;
  parley::bench::CodecCost("PCMU", VoiceCodec::kPcmu).Print(rounds);
  parley::bench::CodecCost("PCMA", VoiceCodec::kPcma).Print(rounds);
  parley::bench::CodecCost("G722", VoiceCodec::kG722).Print(rounds);
  parley::bench::CodecCost("opus", VoiceCodec::kOpus).Print(rounds);
}
