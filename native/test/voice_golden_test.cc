// The encoders against the golden vectors: every stage of both, the speaker's vector
// and the codes; and that it does not matter how the work is cut and shared.
#include <map>

#include "model/speech/codec_encoder.h"
#include "model/speech/speaker_encoder.h"
#include "model/speech/voice_encoder.h"
#include "test/check.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;
using Values = std::vector<float>;

constexpr int64_t kColumns =
    2000;  // the vectors hold only so many columns of the longest stages, from the beginning
const char* const kClips[] = {"short", "long", "exact"};

GoldenVectors ClipVectors(const std::string& clip) { return GoldenVectors("tiny-base__ref_" + clip); }

// Output of the stages, with the pieces joined.
class Record {
 public:
  explicit Record(Kernels& kernels) : kernels_(kernels) {}

  Tap ToTap() {
    return [this](const std::string& stage, const float* values, size_t rows, size_t channels) {
      Values& all = stages_[stage];
      all.resize(all.size() + rows * channels);
      kernels_.Download(all.data() + all.size() - rows * channels, values, rows * channels * sizeof(float));
      kernels_.Wait();
    };
  }
  const Values& operator[](const std::string& stage) { return stages_[stage]; }

 private:
  Kernels& kernels_;
  std::map<std::string, Values> stages_;
};

void CheckStage(Record& seen, const char* stage, const GoldenVectors& vectors, const char* name) {
  Values values = seen[stage];
  const Values wanted = vectors.ReadTransposed(name);
  if (vectors.ShapeOf(name)[1] == kColumns && values.size() > wanted.size()) values.resize(wanted.size());
  CheckNear(values, wanted, std::string(name) + " of the clip");
}

void TheMelSpectrumIsTheReferences() {
  for (const char* clip : kClips) {
    const GoldenVectors vectors = ClipVectors(clip);
    const Values samples = vectors.Read("waveform");
    CheckNear(LogMel({}).Of(samples.data(), samples.size()), vectors.Read("mel"), "mel");
  }
}

// Every clip through an encoder, on every variant; check(encoder, run, record, vectors) sees what came of it.
template <class Encoder, class Check>
void EncodeTheClips(const Check& check) {
  const auto checkpoint = OpenGolden("tiny-base");
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant, 2);
    Weights weights(*kernels);
    Encoder encoder(*kernels, weights, *checkpoint);
    for (const char* clip : kClips) {
      const GoldenVectors vectors = ClipVectors(clip);
      Record record(*kernels);
      encoder.SetTap(record.ToTap());
      const Values samples = vectors.Read("waveform");
      typename Encoder::Run run(encoder, samples);
      while (run.Advance()) continue;
      check(encoder, run, record, vectors);
    }
  }
}

void EveryStageOfTheSpeakerEncoderIsTheReferences() {
  EncodeTheClips<SpeakerEncoder>(
      [](SpeakerEncoder&, auto& run, Record& record, const GoldenVectors& vectors) {
        CheckNear(run.vector(), vectors.Read("speaker_embedding"), "speaker_embedding");
        if (!vectors.Has("spk_block0")) return;
        CheckStage(record, "blocks.0", vectors, "spk_block0");
        CheckStage(record, "blocks.1", vectors, "spk_block1");
        CheckStage(record, "mfa", vectors, "spk_mfa");
        CheckStage(record, "asp", vectors, "spk_asp");
      });
}

void EveryStageOfTheCodecEncoderIsTheReferences() {
  EncodeTheClips<CodecEncoder>(
      [](CodecEncoder& encoder, auto& run, Record& record, const GoldenVectors& vectors) {
        const size_t samples = vectors.Read("waveform").size();
        CHECK(run.codes() == vectors.Read<int32_t>("codes"));
        CHECK_EQ(run.codes().size(), encoder.FramesOf(samples) * encoder.code_groups());
        CheckStage(record, "encoder", vectors, "enc_seanet");
        CheckStage(record, "encoder_transformer", vectors, "enc_transformer");
        CheckStage(record, "downsample", vectors, "enc_downsample");
        if (!vectors.Has("enc_layer0")) return;
        CheckStage(record, "layers.0", vectors, "enc_layer0");
        CheckStage(record, "layers.1", vectors, "enc_layer1");
        CheckStage(record, "layers.3", vectors, "enc_layer3");
      });
}

// Bit for bit: the stages too.
void PiecesOfAnyLengthGiveTheSameCodes() {
  const auto checkpoint = OpenGolden("tiny-base");
  const auto kernels = MakeKernels();
  Weights weights(*kernels);
  const Values all = ClipVectors("long").Read("waveform");
  for (const size_t count :
       {size_t{1}, size_t{959}, size_t{960}, size_t{961}, size_t{5761}, size_t{30'000}}) {
    const Values samples(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    CodecEncoder whole(*kernels, weights, *checkpoint, 1000);
    Record wanted(*kernels);
    whole.SetTap(wanted.ToTap());
    CodecEncoder::Run once(whole, samples);
    CHECK(once.Advance());
    CHECK(!once.Advance());
    for (const size_t frames : {1u, 2u, 7u}) {
      CodecEncoder cut(*kernels, weights, *checkpoint, frames);
      Record seen(*kernels);
      cut.SetTap(seen.ToTap());
      CodecEncoder::Run run(cut, samples);
      while (run.Advance()) continue;
      CHECK(run.codes() == once.codes());
      for (const char* stage :
           {"layers.0", "layers.1", "layers.6", "encoder", "encoder_transformer", "downsample"}) {
        CHECK(!wanted[stage].empty() && SameBits(seen[stage], wanted[stage]));
      }
    }
  }
}

void TheNumberOfThreadsDoesNotShow() {
  const auto checkpoint = OpenGolden("tiny-base");
  const Values samples = ClipVectors("short").Read("waveform");
  const auto encode = [&](unsigned threads) {
    const auto kernels = MakeKernels(cpu::kPortable, threads);
    VoiceEncoder encoder(*kernels, *checkpoint);
    std::pair<Values, std::vector<int32_t>> result;
    std::string problem;
    CHECK(encoder.Speaker(samples, &result.first, &problem));
    CHECK(encoder.Codes(samples, &result.second, &problem));
    return result;
  };
  const auto one = encode(1), three = encode(3);
  CHECK(!one.first.empty() && SameBits(one.first, three.first));
  CHECK(!one.second.empty() && one.second == three.second);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(voice_golden) {
  using namespace parley::test;
  return Run({
      {"the mel spectrum is the reference's", TheMelSpectrumIsTheReferences},
      {"every stage of the speaker encoder is the reference's", EveryStageOfTheSpeakerEncoderIsTheReferences},
      {"every stage of the codec encoder is the reference's", EveryStageOfTheCodecEncoderIsTheReferences},
      {"pieces of any length give the same codes", PiecesOfAnyLengthGiveTheSameCodes},
      {"the number of threads does not show", TheNumberOfThreadsDoesNotShow},
  });
}
