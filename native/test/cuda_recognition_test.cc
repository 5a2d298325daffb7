// Recogniser and aligner on the emulated GPU: the reference's texts and times, whoever else is recognised,
// whole or as the sound comes, and the error of the numbers that a GPU computes with in production. The tests
// run on a real GPU if PARLEY_CUDA_FILE names the backend's library.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "model/recognition/alignment_words.h"
#include "model/recognition/forced_aligner.h"
#include "test/cuda_backend.h"
#include "test/emulator/idle_device.h"
#include "test/recognition_golden.h"
#include "test/speakers.h"

namespace parley::test {
namespace {

using namespace model;
using Turn = RecognitionStream::Turn;

// `full`: with as many bits as the CPU's tests take; otherwise the numbers of production.
LoadedRecogniser OnGpu(const std::string& name, bool full,
                       RecognitionKind kind = RecognitionKind::kRecogniser,
                       std::optional<Format> decoder = std::nullopt) {
  return LoadedRecogniser(OpenRecognition(name, kind), decoder, MakeBackend(full));
}

std::vector<float> Downloaded(Kernels& kernels, const float* from, size_t count) {
  std::vector<float> values(count);
  kernels.Download(values.data(), from, count * sizeof(float));
  kernels.Wait();
  return values;
}

// The ids that a pass made, and the logits of each.
struct Told {
  std::vector<int32_t> ids;
  std::vector<float> logits;
};

bool operator==(const Told& a, const Told& b) { return a.ids == b.ids && SameBits(a.logits, b.logits); }

// Runs the passes of streams to their ends, together; `between` after each piece of work.
std::vector<Told> RunTogether(
    RecognitionModel& model, const std::vector<RecognitionStream*>& all, size_t blocks, size_t rows,
    const std::function<void()>& between = [] {}) {
  std::map<const RecognitionStream*, Told> told;
  const size_t width = model.decoder().head_rows();
  const auto keep = [&](const RecognitionStream* one, size_t row) {
    const std::vector<float> its = Downloaded(model.kernels(), model.decoder().logits() + row * width, width);
    std::vector<float>& logits = told[one].logits;
    logits.insert(logits.end(), its.begin(), its.end());
  };
  RecognitionWork work(model);
  for (;;) {
    const bool encodes = work.Encode(all.data(), all.size(), blocks);
    if (!encodes && !work.Prefill(all.data(), all.size(), rows)) break;
    const std::vector<RecognitionStream*> its = work.streams();
    while (work.Advance()) between();
    size_t row = 0;
    for (const RecognitionStream* one : its) {
      if (!encodes && one->turn() != Turn::kPrefill) keep(one, row++);
    }
  }
  for (;;) {
    std::vector<RecognitionStream*> decoding;
    for (RecognitionStream* const one : all) {
      if (one->turn() == Turn::kDecode) decoding.push_back(one);
    }
    if (decoding.empty()) break;
    model.Decode(decoding.data(), decoding.size());
    for (size_t n = 0; n < decoding.size(); n++) keep(decoding[n], n);
    between();
  }
  std::vector<Told> results;
  for (const RecognitionStream* const one : all) {
    results.push_back(told[one]);
    results.back().ids = one->generated();
  }
  return results;
}

struct GoldenClip {
  std::vector<int32_t> head, tail;
  std::vector<float> samples;
  std::vector<int32_t> ids;  // generated, without the end token
  std::vector<float> logits;

  GoldenClip(const LoadedRecogniser& loaded, const std::string& name) {
    const GoldenVectors vectors(name, "recognition");
    const GoldenPrompt prompt(vectors.Read<int32_t>("input_ids"), loaded.checkpoint->config().audio_pad);
    head = prompt.head, tail = prompt.tail;
    const auto manifest = RecognitionManifest();
    samples = ReadClip(std::string(manifest->root().Find("cases").Find(name).Find("clip").text()));
    ids = vectors.Read<int32_t>("generated_ids");
    logits = vectors.Read("step_logits");
    const std::vector<int32_t>& ends = loaded.checkpoint->ends();
    if (std::find(ends.begin(), ends.end(), ids.back()) != ends.end()) ids.pop_back();
  }

  std::unique_ptr<RecognitionStream> Begun(const LoadedRecogniser& loaded, Format cache,
                                           size_t most_ids = 96) const {
    auto stream = loaded.Stream(head, cache);
    stream->Push(samples.data(), samples.size());
    Begin(stream.get(), most_ids);
    return stream;
  }
  void Begin(RecognitionStream* stream, size_t most_ids) const {
    Pass pass;
    pass.tail = tail;
    pass.max_new_tokens = most_ids;
    CHECK(stream->BeginPass(pass));
  }
};

Told RunAlone(const LoadedRecogniser& loaded, const GoldenClip& clip, Format cache, size_t most_ids = 96) {
  const auto stream = clip.Begun(loaded, cache, most_ids);
  return RunTogether(*loaded.model, {stream.get()}, 4, 100)[0];
}

void TheReferencesTextsComeOut() {
  double worst = 0;
  for (const auto& [name, cases] : std::map<std::string, std::vector<std::string>>{
           {"tiny-asr-a", {"yes03", "edge101"}}, {"tiny-asr-b", {"noise15"}}}) {
    const LoadedRecogniser loaded = OnGpu(name, true);
    for (const std::string& one : cases) {
      const GoldenClip clip(loaded, name + "__" + one);
      const Told told = RunAlone(loaded, clip, Format::kF32);
      CHECK(told.ids == clip.ids);
      worst = std::max(worst, PeakError(told.logits, clip.logits));
    }
  }
  std::printf("       logits off by %.1e of their peak\n", worst);
  CHECK(worst <= 1e-4);
}

// One block and several, the last one shorter.
void AudioTokensAreTheReferences() {
  const LoadedRecogniser loaded = OnGpu("tiny-asr-a", true);
  AudioEncoder& encoder = loaded.model->encoder();
  for (const char* const name : {"yes03", "en91"}) {
    const GoldenVectors vectors(std::string("tiny-asr-a__") + name, "recognition");
    const std::vector<float> input = vectors.Read("enc_in"), wanted = vectors.Read("audio_embeds");
    const size_t tokens = input.size() / encoder.width();
    std::vector<size_t> blocks;
    for (size_t first = 0; first < tokens; first += encoder.block_tokens())
      blocks.push_back(std::min(encoder.block_tokens(), tokens - first));
    Workspace memory(*loaded.kernels);
    const auto [x, result] = memory.Parts<2>({input.size(), wanted.size()});
    loaded.kernels->Upload(x, input.data(), input.size() * sizeof(float));
    Transformer::Passage passage(*loaded.kernels);
    encoder.Begin(blocks.data(), blocks.size(), x, &passage);
    while (encoder.transformer().Advance(&passage, 1)) continue;
    encoder.Project(x, tokens, result);
    CheckNear(Downloaded(*loaded.kernels, result, wanted.size()), wanted, name, 1e-4);
  }
}

void TheReferencesTimesComeOut() {
  const LoadedRecogniser loaded = OnGpu("tiny-aligner", true, RecognitionKind::kAligner);
  const auto manifest = RecognitionManifest();
  for (const char* const name : {"tiny-aligner__odd37", "tiny-aligner__yes03"}) {
    const Json one = manifest->root().Find("align").Find(name);
    const GoldenVectors vectors(name, "recognition");
    const auto words = AlignmentWords(std::string(one.Find("text").text()),
                                      std::string(one.Find("language").text()), nullptr);
    Alignment alignment(*loaded.model, words, ReadClip(std::string(one.Find("clip").text())), Format::kF32);
    alignment.Begin();
    CHECK(alignment.begun());
    RunPass(*loaded.model, alignment.stream(), 2, 300);
    CHECK(alignment.stream()->end() == RecognitionStream::End::kAligned);
    CHECK(alignment.stream()->classes() == vectors.Read<int32_t>("classes"));
  }
}

// One term of each vector and a cache of bf16, and decoders of bf16 or int8: a stream among others has the
// bits of one alone.
void CheckTogether(const std::vector<std::string>& names, std::optional<Format> decoder) {
  const LoadedRecogniser loaded = OnGpu("tiny-asr-a", false, RecognitionKind::kRecogniser, decoder);
  std::vector<std::unique_ptr<RecognitionStream>> streams;
  std::vector<RecognitionStream*> all;
  std::vector<Told> alone;
  for (const std::string& name : names) {
    const GoldenClip clip(loaded, "tiny-asr-a__" + name);
    alone.push_back(RunAlone(loaded, clip, Format::kBf16, 6));
    CHECK(!alone.back().ids.empty());
    streams.push_back(clip.Begun(loaded, Format::kBf16, 6));
    all.push_back(streams.back().get());
  }
  const std::vector<Told> together = RunTogether(*loaded.model, all, 3, 90);
  for (size_t n = 0; n < all.size(); n++) CHECK(together[n] == alone[n]);
}

void StreamsTogetherGiveTheBitsOfEachAlone() {
  CheckTogether({"yes03", "edge101", "odd37"}, std::nullopt);
  CheckTogether({"yes03", "edge101"}, Format::kInt8);
}

// Each pass of a stream that goes on gives the bits of a new stream's.
void WhatWasKeptChangesNoBit() {
  const LoadedRecogniser loaded = OnGpu("tiny-asr-a", false);
  GoldenClip clip(loaded, "tiny-asr-a__odd37");
  const std::vector<float> samples = clip.samples;
  const auto kept = loaded.Stream(clip.head, Format::kBf16);
  size_t at = 0;
  for (const size_t end : {size_t{4'000}, size_t{16'100}, samples.size()}) {
    kept->Push(samples.data() + at, end - at);
    at = end;
    clip.samples.assign(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(end));
    clip.Begin(kept.get(), 3);
    const Told seen = RunTogether(*loaded.model, {kept.get()}, 1, 37)[0];
    CHECK(seen == RunAlone(loaded, clip, Format::kBf16, 3));
  }
}

// A voice on the same kernels, a frame of whose speech is made after each piece of the recogniser's work.
void AVoiceBesideChangesNoBitAndIsNotChanged() {
  const LoadedRecogniser loaded = OnGpu("tiny-asr-a", false);
  auto& kernels = static_cast<SpeechKernels&>(*loaded.kernels);
  const GoldenCase& one = GoldenCaseNamed("tiny-customvoice__lang_english");
  SpeechModel voice(kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kBf16);
  const GoldenClip clip(loaded, "tiny-asr-a__yes03");
  std::vector<Speaker> alone;
  alone.push_back({&one, RulesFor(one, 1, 5)});
  SpeakTogether(voice, &alone);
  const Told heard = RunAlone(loaded, clip, Format::kBf16);

  Speaker beside{&one, RulesFor(one, 1, 5)};
  Begin(voice, &beside);
  SpeechStream* const speech = beside.stream.get();
  voice.Prefill(&speech, 1);
  std::vector<Speaker*> live = {&beside};
  size_t between = 0;
  const auto stream = clip.Begun(loaded, Format::kBf16);
  const auto told = RunTogether(*loaded.model, {stream.get()}, 4, 10, [&] {
    if (live.empty()) return;
    between++;
    StepAll(voice, &live);
  });
  CHECK(told[0] == heard);
  CHECK(!heard.ids.empty() && between >= 5);
  while (!live.empty()) StepAll(voice, &live);
  CHECK(!alone[0].codes.empty() && beside.codes == alone[0].codes);
}

double ErrorOf(std::vector<float> seen, std::vector<float> wanted) {
  const size_t count = std::min(seen.size(), wanted.size());
  seen.resize(count), wanted.resize(count);
  return RmsError(seen, wanted);
}

// The reference in bf16 is 1.4e-2 off its own float32; the worst logits 2.5e-2.
void ProductionLogitsAreNearTheReferences() {
  const auto error = [](std::optional<Format> decoder) {
    double worst = 0;
    for (const auto& [name, one] :
         {std::pair<std::string, std::string>{"tiny-asr-a", "edge101"}, {"tiny-asr-b", "tag10"}}) {
      const LoadedRecogniser loaded = OnGpu(name, false, RecognitionKind::kRecogniser, decoder);
      const GoldenClip clip(loaded, name + "__" + one);
      const Told told = RunAlone(loaded, clip, Format::kBf16);
      CHECK(told.ids == clip.ids);
      worst = std::max(worst, ErrorOf(told.logits, clip.logits));
    }
    return worst;
  };
  const double plain = error(std::nullopt), bytes = error(Format::kInt8);
  std::printf("       logits off by %.1e, and by %.1e with a decoder of int8\n", plain, bytes);
  CHECK(plain > 1e-4 && plain <= 1e-2);
  CHECK(bytes > plain && bytes <= 3e-2);
}

// --- on a GPU that runs nothing: whether steps are lists that were run before

// Layers of a transformer of bf16, in memory that is never read.
class IdleLayers {
 public:
  IdleLayers(Kernels& kernels, const TransformerConfig& config) : k_(kernels), c_(config) {}

  std::vector<LayerWeights> Decoder() const {
    LayerWeights layer = Common();
    layer.heads.q_norm = Floats(c_.head_dim), layer.heads.k_norm = Floats(c_.head_dim);
    layer.gate = Of(c_.intermediate, c_.hidden);
    return std::vector<LayerWeights>(static_cast<size_t>(c_.layers), layer);
  }
  std::vector<LayerWeights> Encoder() const {
    LayerWeights layer = Common();
    layer.heads.norm.bias = Floats(c_.hidden), layer.mlp_norm.bias = Floats(c_.hidden);
    layer.heads.q_bias = Floats(c_.query_width());
    layer.heads.k_bias = layer.heads.v_bias = Floats(c_.kv_width());
    layer.o_bias = layer.down_bias = Floats(c_.hidden);
    layer.up_bias = Floats(c_.intermediate);
    return std::vector<LayerWeights>(static_cast<size_t>(c_.layers), layer);
  }
  Matrix Of(int64_t rows, int64_t columns) const {
    const auto its_rows = static_cast<size_t>(rows), its_columns = static_cast<size_t>(columns);
    return {Format::kBf16, k_.Allocate(its_rows * its_columns * 2), nullptr, its_rows, its_columns};
  }

 private:
  const float* Floats(int64_t count) const {
    return static_cast<const float*>(k_.Allocate(static_cast<size_t>(count) * sizeof(float)));
  }
  LayerWeights Common() const {
    LayerWeights layer;
    layer.heads.norm.weight = Floats(c_.hidden), layer.mlp_norm.weight = Floats(c_.hidden);
    layer.heads.q = Of(c_.query_width(), c_.hidden);
    layer.heads.k = Of(c_.kv_width(), c_.hidden), layer.heads.v = Of(c_.kv_width(), c_.hidden);
    layer.o = Of(c_.hidden, c_.query_width());
    layer.up = Of(c_.intermediate, c_.hidden), layer.down = Of(c_.hidden, c_.intermediate);
    return layer;
  }

  Kernels& k_;
  const TransformerConfig c_;
};

struct IdleGpu {
  cuda::emulator::IdleDevice* device;
  std::unique_ptr<cuda::CudaKernels> kernels;

  IdleGpu() {
    auto idle = std::make_unique<cuda::emulator::IdleDevice>();
    device = idle.get();
    cuda::CudaOptions options;
    options.pool = size_t{64} << 30;  // bytes of address space only
    kernels = std::make_unique<cuda::CudaKernels>(std::move(idle), options);
  }
};

// The decoders of 0.6B and 1.7B.
TransformerConfig DecoderOf(int64_t hidden) { return {hidden, 3 * hidden, 28, 16, 8, 128, 1e-6, 1e6}; }

struct StepFigures {
  BackendFigures lists;
  uint64_t grids = 0;  // of a step
};

// Steps of one id of each stream: all that RecognitionModel::Decode does, at the models' sizes. The streams
// are at different positions, and pass those of two chunks of attention.
StepFigures Decoded(int64_t hidden, size_t streams, size_t before, size_t steps) {
  constexpr int64_t kVocabulary = 151'936;
  const IdleGpu gpu;
  Kernels& k = *gpu.kernels;
  const TransformerConfig config = DecoderOf(hidden);
  const IdleLayers weights(k, config);
  Transformer transformer(k, config, weights.Decoder(), Sight{});
  const Matrix embedding = weights.Of(kVocabulary, hidden);
  const Held<float> norm(*gpu.kernels, static_cast<size_t>(hidden));
  std::vector<std::unique_ptr<KvState>> states;
  std::vector<Transformer::Stream> described;
  for (size_t n = 0; n < streams; n++) {
    states.push_back(std::make_unique<KvState>(k, config, Format::kBf16, before + 3 * n + steps + 1));
    states.back()->Advance(before + 3 * n);
    described.push_back({states.back().get(), 1});
  }
  Workspace x(k), logits(k), choices(k), chosen(k);
  IdList uploaded(k);
  std::vector<int32_t> ids(streams);
  const auto step = [&] {
    float* const rows = x.Floats(streams * embedding.columns);
    auto* const chosen_ids = reinterpret_cast<int32_t*>(chosen.Floats(streams));
    k.Gather(embedding, uploaded.Upload(ids), streams, false, rows);
    transformer.Forward(described.data(), streams, rows);
    k.RmsNorm(rows, norm.At(), streams, embedding.columns, 1e-6f, rows);
    float* const all = logits.Floats(streams * embedding.rows);
    k.Multiply(embedding, Rows(rows, streams, embedding.columns), {}, all);
    k.Choose(reinterpret_cast<const Choice*>(choices.Floats(streams * sizeof(Choice) / sizeof(float))),
             streams, all, embedding.rows, 0, chosen_ids, 1);
    k.Download(ids.data(), chosen_ids, streams * sizeof(int32_t));
    k.Wait();
  };
  step();  // memory reaches its size
  const uint64_t nodes = gpu.kernels->TheRecorder().Counters().nodes;
  const BackendFigures first = k.Figures();
  for (size_t n = 0; n < steps; n++) step();
  StepFigures figures{k.Figures(), (gpu.kernels->TheRecorder().Counters().nodes - nodes) / steps};
  figures.lists.eager -= first.eager, figures.lists.captures -= first.captures;
  figures.lists.launches -= first.launches;
  return figures;
}

// One list, which runs as a graph from the second time on. Few streams go on with another one where their
// positions pass those of two chunks (512), and where a persistent grid does not see all of them (4096).
void DecodeStepsAreGraphs() {
  constexpr size_t kSteps = 200;
  for (const int64_t hidden : {1024, 2048}) {
    for (const auto& [streams, before, lists] : {std::tuple<size_t, size_t, size_t>{1, 350, 1},
                                                 {3, 350, 1},
                                                 {3, 4000, 2},
                                                 {5, 350, 2},
                                                 {12, 15'000, 1},
                                                 {20, 350, 1},
                                                 {64, 350, 1},
                                                 {256, 350, 1}}) {
      const StepFigures figures = Decoded(hidden, streams, before, kSteps);
      std::printf(
          "       %zu streams from position %zu: %d lists run once, %d captured, %d launched; %d grids\n",
          streams, before, static_cast<int>(figures.lists.eager), static_cast<int>(figures.lists.captures),
          static_cast<int>(figures.lists.launches), static_cast<int>(figures.grids));
      CHECK_EQ(figures.lists.eager, lists);
      CHECK_EQ(figures.lists.captures, lists);
      CHECK_EQ(figures.lists.launches, kSteps - lists);
    }
  }
}

// RecognitionModel::Decode itself, on a tiny model whose ids never end the text.
void AModelsDecodeStepsAreGraphs() {
  constexpr size_t kSteps = 200;
  for (const size_t count : {1, 3, 20}) {
    IdleGpu gpu;
    auto* const device = gpu.device;
    const LoadedRecogniser loaded(OpenRecognition("tiny-asr-a"), std::nullopt, std::move(gpu.kernels));
    const GoldenClip clip(loaded, "tiny-asr-a__yes03");
    std::vector<std::unique_ptr<RecognitionStream>> streams;
    std::vector<RecognitionStream*> all;
    for (size_t n = 0; n < count; n++) {
      streams.push_back(clip.Begun(loaded, Format::kBf16, kSteps + 3));
      all.push_back(streams.back().get());
    }
    RecognitionWork work(*loaded.model);
    while (work.Encode(all.data(), count, 4) || work.Prefill(all.data(), count, 90)) {
      while (work.Advance()) continue;
    }
    loaded.model->Decode(all.data(), count);  // memory reaches its size
    const BackendFigures before = loaded.kernels->Figures();
    const size_t copies = device->copies;
    for (size_t n = 0; n < kSteps; n++) loaded.model->Decode(all.data(), count);
    const BackendFigures after = loaded.kernels->Figures();
    CHECK_EQ(all[0]->generated().size(), kSteps + 2);
    const auto eager = after.eager - before.eager, captures = after.captures - before.captures;
    CHECK(eager <= 4 && captures <= 4);
    CHECK_EQ(after.launches - before.launches + eager, kSteps);  // one list a step
    CHECK_EQ(device->copies - copies, 3 * kSteps);  // what its grids read, what it brings, and its ids
  }
}

// A head whose logits do not all fit at once: an aligner's, or that of many drafts.
void ManyRowsAreChosenPartByPart() {
  const LoadedRecogniser loaded = OnGpu("tiny-asr-a", false);
  TextDecoder& decoder = loaded.model->decoder();
  constexpr size_t kRows = 7;
  const Held<float> hidden(static_cast<SpeechKernels&>(*loaded.kernels),
                           RandomFloats(kRows * decoder.hidden(), 3));
  std::vector<int32_t> at_once(kRows), in_parts(kRows);
  decoder.Choose(hidden.At(), kRows, at_once.data());
  const std::vector<float> logits =
      Downloaded(*loaded.kernels, decoder.logits(), kRows * decoder.head_rows());
  decoder.LimitLogits(3 * decoder.head_rows() * sizeof(float));
  decoder.Choose(hidden.At(), kRows, in_parts.data());
  CHECK(in_parts == at_once);
  const std::vector<float> last = Downloaded(*loaded.kernels, decoder.logits(), decoder.head_rows());
  CHECK(SameBits(last, {logits.end() - static_cast<std::ptrdiff_t>(decoder.head_rows()), logits.end()}));
}

// Blocks of eight seconds through the encoders of 0.6B and 1.7B: eleven grids a layer.
void EncodersTakeFewGrids() {
  for (const auto& [hidden, layers, heads] :
       {std::tuple<int64_t, int64_t, int64_t>{896, 18, 14}, {1024, 24, 16}}) {
    const IdleGpu gpu;
    Kernels& k = *gpu.kernels;
    const TransformerConfig config{hidden, 4 * hidden, layers, heads, heads, 64, 1e-5, 0};
    TransformerConfig one_layer = config;
    one_layer.layers = 1;
    Transformer transformer(k, config, IdleLayers(k, config).Encoder(), Sight{0, true});
    std::vector<std::unique_ptr<KvState>> states;
    std::vector<Transformer::Stream> blocks;
    for (const size_t rows : {104, 104, 13}) {
      states.push_back(std::make_unique<KvState>(k, one_layer, Format::kF32, 104));
      blocks.push_back({states.back().get(), rows});
    }
    Workspace x(k);
    float* const rows = x.Floats(221 * static_cast<size_t>(hidden));
    for (size_t turn = 0; turn < 4; turn++) {
      for (const auto& state : states) state->Rewind();
      const uint64_t nodes = gpu.kernels->TheRecorder().Counters().nodes;
      transformer.Forward(blocks.data(), blocks.size(), rows);
      k.Wait();
      const uint64_t grids = gpu.kernels->TheRecorder().Counters().nodes - nodes;
      CHECK_EQ(grids, 11 * static_cast<uint64_t>(layers) + 1);  // and the blocks' descriptions
    }
    CHECK(k.Figures().launches >= 2);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_recognition) {
  using namespace parley::test;
  return Run({
      {"the reference's texts come out", TheReferencesTextsComeOut},
      {"audio tokens are the reference's", AudioTokensAreTheReferences},
      {"the reference's times come out", TheReferencesTimesComeOut},
      {"streams together give the bits of each alone", StreamsTogetherGiveTheBitsOfEachAlone},
      {"what was kept changes no bit", WhatWasKeptChangesNoBit},
      {"a voice beside changes no bit and is not changed", AVoiceBesideChangesNoBitAndIsNotChanged},
      {"production logits are near the reference's", ProductionLogitsAreNearTheReferences},
      {"decode steps are graphs", DecodeStepsAreGraphs},
      {"a model's decode steps are graphs", AModelsDecodeStepsAreGraphs},
      {"many rows are chosen part by part", ManyRowsAreChosenPartByPart},
      {"encoders take few grids", EncodersTakeFewGrids},
  });
}
