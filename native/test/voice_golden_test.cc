// Compares every stage of both encoders with the golden vectors, however the work is cut and shared, and
// encoders of other sizes with the plain formulas.
#include <map>

#include "model/speech/codec_encoder.h"
#include "model/speech/speaker_encoder.h"
#include "model/speech/voice_encoder.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"
#include "test/plain_codec_encoder.h"

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
  explicit Record(SpeechKernels& kernels) : kernels_(kernels) {}

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
  SpeechKernels& kernels_;
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

// --- encoders of other sizes: the engine reads every size from the configuration

// A tone that glides, and noise.
Values Sound(size_t count) {
  Values samples = RandomFloats(count, 7);
  for (size_t n = 0; n < count; n++) {
    const double seconds = static_cast<double>(n) / 24000;
    samples[n] = 0.1f * samples[n] + static_cast<float>(0.5 * std::sin(900 * seconds * (1 + 3 * seconds)));
  }
  return samples;
}

void CheckSpeaker(const SpeechCheckpoint& checkpoint, const Values& samples) {
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant, 2);
    VoiceEncoder encoder(*kernels, checkpoint);
    Values vector;
    std::string problem;
    CHECK(encoder.Speaker(samples, &vector, &problem));
    CHECK_EQ(problem, "");
    CheckNear(vector, PlainSpeaker(checkpoint, samples), "the speaker's vector");
  }
}

void CheckCodes(const SpeechCheckpoint& checkpoint, const Values& samples) {
  double margin = 0;
  const std::vector<int32_t> wanted = PlainCodes(checkpoint, samples, &margin);
  CHECK(margin > 1e-4);  // else these samples decide nothing
  if (margin <= 1e-4) std::fprintf(stderr, "    the least margin is %g\n", margin);
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant, 2);
    VoiceEncoder encoder(*kernels, checkpoint);
    std::vector<int32_t> codes;
    std::string problem;
    CHECK(encoder.Codes(samples, &codes, &problem));
    CHECK_EQ(codes.size(), encoder.FramesOf(samples.size()) * encoder.code_groups());
    CHECK(codes == wanted);
  }
}

void ThePlainFormulasAreTheReferences() {
  const auto checkpoint = OpenGolden("tiny-base");
  const GoldenVectors vectors("tiny-base__ref_short");
  const Values samples = vectors.Read("waveform");
  double margin = 0;
  CheckNear(PlainSpeaker(*checkpoint, samples), vectors.Read("speaker_embedding"), "speaker_embedding");
  CHECK(PlainCodes(*checkpoint, samples, &margin) == vectors.Read<int32_t>("codes"));
}

// Even kernels, whose margins differ; a kernel where the published ones have a product.
void ASpeakerEncoderOfOtherSizesIsWhatTheFormulasSay() {
  ReshapedCheckpoint wide("tiny-base");
  wide.Replace("config.json", "speaker_encoder_config",
               R"({"enc_dim": 128, "sample_rate": 24000, "mel_dim": 40, "enc_channels": [24, 24, 24, 48],
                   "enc_kernel_sizes": [4, 2, 7, 3], "enc_dilations": [2, 5, 1, 3], "enc_attention_channels": 10,
                   "enc_res2net_scale": 3, "enc_se_channels": 6})");
  CheckSpeaker(*wide.Open(), Sound(9001));
  ReshapedCheckpoint narrow("tiny-base", 2);
  narrow.Replace(
      "config.json", "speaker_encoder_config",
      R"({"enc_dim": 128, "sample_rate": 24000, "enc_channels": [10, 10, 10], "enc_kernel_sizes": [1, 1, 1],
                     "enc_dilations": [1, 1, 1], "enc_attention_channels": 3, "enc_res2net_scale": 2,
                     "enc_se_channels": 1})");
  CheckSpeaker(*narrow.Open(), Sound(5000));
}

void TheShortestRecordingFollowsFromTheConvolutions() {
  const auto least = [](const char* sizes) {
    ReshapedCheckpoint checkpoint("tiny-base");
    checkpoint.Replace("config.json", "speaker_encoder_config",
                       std::string(R"({"enc_dim": 128, "sample_rate": 24000, "enc_channels": [8, 8, 8],
                                       "enc_attention_channels": 3, "enc_res2net_scale": 2, "enc_se_channels": 2, )") +
                           sizes);
    const auto opened = checkpoint.Open();
    const auto kernels = MakeKernels();
    VoiceEncoder encoder(*kernels, *opened);
    CheckSpeaker(*opened, Sound(encoder.min_samples()));
    return encoder.min_samples();
  };
  CHECK_EQ(least(R"("enc_kernel_sizes": [1, 1, 1], "enc_dilations": [1, 1, 1]})"),
           size_t{385});  // for the spectrum
  CHECK_EQ(least(R"("enc_kernel_sizes": [1, 3, 1], "enc_dilations": [1, 4, 1]})"), size_t{1280});
  CHECK_EQ(least(R"("enc_kernel_sizes": [2, 3, 1], "enc_dilations": [7, 4, 1]})"),
           size_t{1280});  // 3 before, 4 after
  CHECK_EQ(least(R"("enc_kernel_sizes": [2, 3, 4], "enc_dilations": [7, 4, 4]})"), size_t{1792});
}

constexpr const char* kEncoder =
    R"("hidden_act": "gelu", "norm_eps": 1e-3, "rope_theta": 500.0, "num_quantizers": 20,
  "codebook_size": 128, "sampling_rate": 24000, "use_causal_conv": true, "pad_mode": "constant", "sliding_window": 3, )";

void CheckCodec(const std::string& sizes, uint64_t seed, size_t count) {
  ReshapedCheckpoint checkpoint("tiny-base", seed);
  checkpoint.Replace("speech_tokenizer/config.json", "encoder_config",
                     std::string("{") + kEncoder + sizes + "}");
  CheckCodes(*checkpoint.Open(), Sound(count));
}

// Strides whose product is a third of a frame; query heads that share keys, narrower together than hidden.
void ACodecEncoderOfOtherSizesIsWhatTheFormulasSay() {
  CheckCodec(
      R"("num_filters": 6, "kernel_size": 4, "last_kernel_size": 1, "residual_kernel_size": 5, "compress": 3,
                "upsampling_ratios": [10, 8, 8], "hidden_size": 20, "intermediate_size": 28, "num_hidden_layers": 3,
                "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "codebook_dim": 9)",
      3, 20'001);
}

// The convolutions reach the frame rate by themselves; a ratio of 1; no head_dim.
void ACodecEncoderThatNeedsNoLastStrideIsWhatTheFormulasSay() {
  CheckCodec(
      R"("num_filters": 4, "kernel_size": 1, "last_kernel_size": 5, "residual_kernel_size": 1, "compress": 1,
                "upsampling_ratios": [1, 30, 64], "hidden_size": 12, "intermediate_size": 16, "num_hidden_layers": 1,
                "num_attention_heads": 3, "num_key_value_heads": 3, "codebook_dim": 5)",
      7, 19'000);
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
      {"the plain formulas are the reference's", ThePlainFormulasAreTheReferences},
      {"a speaker encoder of other sizes is what the formulas say",
       ASpeakerEncoderOfOtherSizesIsWhatTheFormulasSay},
      {"the shortest recording follows from the convolutions",
       TheShortestRecordingFollowsFromTheConvolutions},
      {"a codec encoder of other sizes is what the formulas say",
       ACodecEncoderOfOtherSizesIsWhatTheFormulasSay},
      {"a codec encoder that needs no last stride is what the formulas say",
       ACodecEncoderThatNeedsNoLastStrideIsWhatTheFormulasSay},
  });
}
