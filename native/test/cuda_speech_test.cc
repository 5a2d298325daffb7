// The whole model on the emulated GPU: the reference's codes and sound, whoever else speaks, and frames that run as graphs.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "model/codec_decoder.h"
#include "test/cuda_backend.h"
#include "test/kernel_inputs.h"
#include "test/speakers.h"

namespace parley::test {
namespace {

using namespace model;

constexpr size_t kGroups = 16;

Speaker Asked(const GoldenCase& one, uint64_t seed, size_t frames, size_t joins = 0) {
  Speaker speaker{&one, RulesFor(one, seed, frames)};
  speaker.joins = joins;
  return speaker;
}

std::vector<int32_t> Beginning(const std::vector<int32_t>& codes, size_t frames) {
  return {codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(std::min(codes.size(), frames * kGroups))};
}

// On the emulator the beginnings of three; on a GPU all of them, to their ends.
void TheReferencesCodesAreSpoken() {
  const std::set<std::string> few = {"tiny-customvoice__lang_english", "tiny-base__icl_nonstream", "tiny-voicedesign__design"};
  const size_t frames = CudaFile() == nullptr ? 4 : 10'000;
  size_t spoken = 0;
  for (const GoldenCase& one : GoldenCases()) {
    if (CudaFile() == nullptr && few.count(one.name) == 0) continue;
    const auto kernels = MakeBackend(true);
    SpeechModel model(*kernels, GoldenCheckpoint(one.model), model::Quantize::kNone, Format::kF32);
    std::vector<Speaker> speakers;
    speakers.push_back(Asked(one, 0, frames));
    SpeakTogether(model, &speakers);
    CHECK(speakers[0].codes == Beginning(one.codes, frames));
    spoken++;
  }
  CHECK_EQ(spoken, CudaFile() == nullptr ? few.size() : GoldenCases().size());
}

void CheckTogether(model::Quantize quantize) {
  const char* const names[] = {"tiny-customvoice__lang_english", "tiny-customvoice__instruct", "tiny-customvoice__stream_text"};
  const auto kernels = MakeBackend(false);
  SpeechModel model(*kernels, GoldenCheckpoint("tiny-customvoice"), quantize, Format::kBf16);
  std::vector<Speaker> together;
  for (size_t n = 0; n < 3; n++) together.push_back(Asked(GoldenCaseNamed(names[n]), n + 1, 4, n));
  SpeakTogether(model, &together);
  for (size_t n = 0; n < 3; n++) {
    std::vector<Speaker> alone;
    alone.push_back(Asked(GoldenCaseNamed(names[n]), n + 1, 4));
    SpeakTogether(model, &alone, 5);
    CHECK_EQ(alone[0].codes.size(), 4 * kGroups);
    CHECK(alone[0].codes == together[n].codes);
  }
}

void ABatchGivesTheCodesOfEachAlone() { CheckTogether(model::Quantize::kNone); }

void ABatchOf8BitWeightsGivesTheCodesOfEachAlone() {
  CheckTogether(model::Quantize::kAll);
  CheckTogether(model::Quantize::kFp8);
}

// A step that was taken before is one graph, and asks for no memory.
void FramesRunAsGraphs() {
  const GoldenCase& one = GoldenCaseNamed("tiny-customvoice__lang_english");
  const auto kernels = MakeBackend(false);
  SpeechModel model(*kernels, GoldenCheckpoint(one.model), model::Quantize::kNone, Format::kBf16);
  // What is seen for the second time is made into a graph; before that, memory still finds its size.
  for (const uint64_t seed : {1, 3, 5}) {
    std::vector<Speaker> warm;
    warm.push_back(Asked(one, seed, 3));
    SpeakTogether(model, &warm);
  }
  Speaker speaker = Asked(one, 2, 4);
  Begin(model, &speaker);
  SpeechStream* const stream = speaker.stream.get();
  model.Prefill(&stream, 1);
  StepResult result;
  std::vector<int32_t> codes(kGroups);
  const auto before = kernels->Figures();
  for (int n = 0; n < 3; n++) model.Step(&stream, 1, &result, codes.data());
  const auto after = kernels->Figures();
  CHECK(result == StepResult::kFrame);
  CHECK_EQ(after.eager, before.eager);
  CHECK_EQ(after.captures, before.captures);
  CHECK_EQ(after.launches - before.launches, uint64_t{3});
}

void TheCodecsSoundIsTheCpus() {
  const GoldenCase& one = GoldenCaseNamed("tiny-customvoice__lang_english");
  const size_t frames = 3;
  std::vector<float> wanted, seen;
  for (const bool on_gpu : {false, true}) {
    std::unique_ptr<Kernels> kernels;
    if (on_gpu) kernels = MakeBackend(true);
    else kernels = MakeKernels();
    CodecDecoder decoder(*kernels, GoldenCheckpoint(one.model), Format::kF32);
    std::vector<float>& samples = on_gpu ? seen : wanted;
    samples.assign(frames * decoder.frame_samples(), NAN);
    const auto state = decoder.NewState();
    // One frame, then two.
    const CodecDecoder::Job first{state.get(), one.codes.data(), 1, samples.data()};
    decoder.Decode(&first, 1);
    const CodecDecoder::Job rest{state.get(), one.codes.data() + kGroups, frames - 1, samples.data() + decoder.frame_samples()};
    decoder.Decode(&rest, 1);
  }
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); i++) {
    worst = std::isnan(seen[i]) ? INFINITY : std::fmax(worst, std::fabs(static_cast<double>(seen[i]) - wanted[i]));
  }
  std::printf("       sound off by %.1e\n", worst);
  CHECK(worst < 1e-3);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_speech) {
  using namespace parley::test;
  return Run({
      {"the reference's codes are spoken", TheReferencesCodesAreSpoken},
      {"a batch gives the codes of each alone", ABatchGivesTheCodesOfEachAlone},
      {"a batch of 8-bit weights gives the codes of each alone", ABatchOf8BitWeightsGivesTheCodesOfEachAlone},
      {"frames run as graphs", FramesRunAsGraphs},
      {"the codec's sound is the CPU's", TheCodecsSoundIsTheCpus},
  });
}
