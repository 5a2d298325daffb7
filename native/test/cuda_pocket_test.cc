// Pocket TTS on the CUDA backend: latents, ends and sound are the official package's, streams together are as
// alone, and cheaper formats change what they change on processors.
#include <cmath>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_model.h"
#include "model/pocket/pocket_voice_encoder.h"
#include "test/cuda_backend.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"
#include "test/recorded_noise.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

constexpr double kLatents = 2e-3, kAudio = 1e-3;  // relative to the peak
constexpr double kRows = 2e-4;                    // of a voice, relative to the peak
constexpr double kBriefly = 5e-3;                 // with activations of 16 bits, after a few frames

const std::string kPocket = kGolden + "/pocket";

struct Opened {
  std::unique_ptr<const PocketCheckpoint> checkpoint;
  std::unique_ptr<SpeechKernels> kernels;
  std::unique_ptr<PocketModel> model;
  std::unique_ptr<LatentDecoder> decoder;

  Opened(std::unique_ptr<SpeechKernels> backend, const std::string& folder,
         const PocketModelOptions& options = {})
      : kernels(std::move(backend)) {
    std::string problem;
    checkpoint = PocketCheckpoint::Open(kPocket + "/" + folder, &problem);
    CHECK_EQ(problem, "");
    model = std::make_unique<PocketModel>(*kernels, *checkpoint, options);
    decoder = std::make_unique<LatentDecoder>(*kernels, *checkpoint, options.activation, std::nullopt,
                                              options.cache);
  }

  std::unique_ptr<PocketStream> StreamOf(const std::string& folder, const std::string& voice) const {
    std::string problem;
    const auto read = PocketVoice::Open(kPocket + "/" + folder + "/embeddings/" + voice + ".safetensors",
                                        checkpoint->config().backbone, &problem);
    CHECK_EQ(problem, "");
    return model->BeginStream(*model->LoadVoice(*read), 100);
  }
};

// The chunk and the noise of a recorded generation.
void BeginRecorded(PocketStream* stream, const GoldenVectors& golden, size_t most_frames) {
  TextChunk chunk;
  chunk.ids = golden.Read<int32_t>("c0_ids");
  chunk.frames_after_eos = 5;
  chunk.max_frames = most_frames;
  stream->BeginChunk(chunk, std::make_shared<RecordedNoise>(golden.Read("c0_noise")));
}

struct Spoken {
  Values latents, audio;
};

Spoken Speak(const Opened& opened, PocketStream* stream) {
  Spoken spoken;
  const auto codec = opened.decoder->NewState();
  Values latent(opened.model->latent());
  opened.model->Prefill(&stream, 1);
  for (;;) {
    LatentResult result;
    opened.model->Step(&stream, 1, &result, latent.data());
    if (result != LatentResult::kFrame) return spoken;
    spoken.latents.insert(spoken.latents.end(), latent.begin(), latent.end());
    const size_t at = spoken.audio.size();
    spoken.audio.resize(at + opened.decoder->frame_samples());
    const LatentDecoder::Job job{codec.get(), latent.data(), 1, spoken.audio.data() + at};
    opened.decoder->Decode(&job, 1);
  }
}

Spoken SpeakRecorded(const Opened& opened, const std::string& folder, size_t most_frames) {
  const GoldenVectors golden(folder + "__gen_short", "pocket");
  const auto stream = opened.StreamOf(folder, "mono24k");
  BeginRecorded(stream.get(), golden, most_frames);
  return Speak(opened, stream.get());
}

Values FirstOf(const Values& values, size_t count) {
  return Values(values.begin(), values.begin() + static_cast<ptrdiff_t>(std::min(count, values.size())));
}

void SpeechIsThatOfThePackage() {
  const GoldenVectors golden("tiny-current__gen_short", "pocket");
  const Opened opened(MakeBackend(true), "tiny-current");
  const Spoken spoken = SpeakRecorded(opened, "tiny-current", 6);
  CHECK(PeakError(spoken.latents, FirstOf(golden.Read("c0_latents"), size_t{6} * 12)) < kLatents);
  CHECK(PeakError(spoken.audio, FirstOf(golden.Read("audio"), spoken.audio.size())) < kAudio);
}

// Another width of heads, other ratios, the exact GELU, and no row before the voice.
void OtherSizesSpeakAsThePackage() {
  const GoldenVectors golden("tiny-first__gen_short", "pocket");
  PocketModelOptions options;
  options.activation = Activation::kGelu;
  const Opened opened(MakeBackend(true), "tiny-first", options);
  const Spoken spoken = SpeakRecorded(opened, "tiny-first", 3);
  CHECK(PeakError(spoken.latents, FirstOf(golden.Read("c0_latents"), size_t{3} * 16)) < kLatents);
  CHECK(PeakError(spoken.audio, FirstOf(golden.Read("audio"), spoken.audio.size())) < kAudio);
}

void StreamsTogetherAreAsAlone() {
  const Opened opened(MakeBackend(true), "tiny-current");
  const GoldenVectors golden("tiny-current__gen_short", "pocket");
  const char* const voices[] = {"mono24k", "stereo16k", "tiny24k"};
  std::vector<std::unique_ptr<PocketStream>> streams;
  std::vector<PocketStream*> all;
  for (const char* const voice : voices) {
    streams.push_back(opened.StreamOf("tiny-current", voice));
    BeginRecorded(streams.back().get(), golden, 2);
    all.push_back(streams.back().get());
  }
  opened.model->Prefill(all.data(), all.size());
  std::vector<Values> together(3);
  for (size_t frame = 0; frame < 2; frame++) {
    LatentResult results[3];
    Values latents(36);
    opened.model->Step(all.data(), all.size(), results, latents.data());
    for (size_t n = 0; n < 3; n++) {
      CHECK(results[n] == LatentResult::kFrame);
      const auto from = latents.begin() + static_cast<ptrdiff_t>(12 * n);
      together[n].insert(together[n].end(), from, from + 12);
    }
  }
  for (size_t n = 0; n < 3; n++) {
    const auto stream = opened.StreamOf("tiny-current", voices[n]);
    BeginRecorded(stream.get(), golden, 2);
    CHECK(Speak(opened, stream.get()).latents == together[n]);
  }
}

void CheaperFormatsAreThoseOfProcessors() {
  PocketModelOptions options;
  options.backbone = Format::kInt8;
  options.cache = Format::kF16;
  const Opened gpu(MakeBackend(true), "tiny-current", options);
  const Opened processor(MakeKernels(cpu::ChooseVariant(), 2), "tiny-current", options);
  const Spoken seen = SpeakRecorded(gpu, "tiny-current", 3),
               wanted = SpeakRecorded(processor, "tiny-current", 3);
  CHECK(PeakError(seen.latents, wanted.latents) < kBriefly);
  CHECK(PeakError(seen.audio, wanted.audio) < kBriefly);
}

// In two pieces, of which the second looks back on the first.
void VoicesOfRecordingsAreThoseOfThePackage() {
  const Opened opened(MakeBackend(true), "tiny-current");
  const GoldenVectors golden("tiny-current__voice_stereo16k", "pocket");
  PocketVoiceEncoder encoder(*opened.kernels, *opened.checkpoint, Activation::kGeluTanh);
  constexpr size_t kFrames = 4;
  Values wav = golden.Read("wav");
  wav.resize(kFrames * 1920);
  PocketVoiceEncoder::Run run(encoder, wav);
  while (run.Advance()) continue;
  const size_t width = opened.model->backbone().width();
  CHECK_EQ(run.rows().size(), (kFrames + 1) * width);
  const Values wanted = FirstOf(golden.Read("layer_in"), (kFrames + 1) * width);
  CHECK(PeakError(run.rows(), wanted) < kRows);
  const auto voice = opened.model->NewVoice(kFrames + 1);
  opened.model->AppendVoice(voice.get(), run.rows().data(), kFrames + 1);
  CHECK_EQ(voice->position(), uint64_t{kFrames + 1});
}

// As a GPU computes in production: one bf16 term for each number of a vector.
void ShortVectorsSpeakNearlyAlike() {
  const GoldenVectors golden("tiny-current__gen_short", "pocket");
  const Opened opened(MakeBackend(false), "tiny-current");
  const Spoken spoken = SpeakRecorded(opened, "tiny-current", 2);
  const double off = PeakError(spoken.latents, FirstOf(golden.Read("c0_latents"), size_t{2} * 12));
  std::printf("       latents off by %.1e of the peak\n", off);
  CHECK(off < 0.05);
}

}  // namespace

TEST_GROUP(cuda_pocket) {
  return Run({
      {"speech is that of the package", SpeechIsThatOfThePackage},
      {"other sizes speak as the package", OtherSizesSpeakAsThePackage},
      {"streams together are as alone", StreamsTogetherAreAsAlone},
      {"cheaper formats are those of processors", CheaperFormatsAreThoseOfProcessors},
      {"voices of recordings are those of the package", VoicesOfRecordingsAreThoseOfThePackage},
      {"short vectors speak nearly alike", ShortVectorsSpeakNearlyAlike},
  });
}

}  // namespace parley::test
