// Checkpoints that are made for benches and tests: of the published sizes to the byte, opened by the
// engine, and the same for the same seed.
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/cpu/cpu_kernels.h"
#include "model/shared/codec_state.h"
#include "model/shared/weights.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/prompt.h"
#include "model/speech/speech_checkpoint.h"
#include "model/speech/speech_model.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "tools/byte_pairs.h"
#include "tools/checkpoint_writer.h"

namespace parley {
namespace {

using namespace model;
using namespace tools;
using test::Opened;
using test::RefusalOf;
using test::TempFolder;

void PublishedSizesAreMetToTheByte() {
  const struct {
    const char* size;
    ModelType type;
    size_t tensors;
    uint64_t bytes;
  } published[] = {
      {"0.6b", ModelType::kBase, 478, 1'829'286'016},
      {"0.6b", ModelType::kCustomVoice, 402, 1'811'577'344},
      {"1.7b", ModelType::kBase, 480, 3'857'354'880},
      {"1.7b", ModelType::kCustomVoice, 404, 3'833'352'704},
      {"1.7b", ModelType::kVoiceDesign, 404, 3'833'352'704},
  };
  for (const auto& one : published) {
    const CheckpointPlan plan = PlanOf(SizesNamed(one.size, one.type));
    CHECK_EQ(plan.model.size(), one.tensors);
    CHECK_EQ(BytesOf(plan.model), one.bytes);
    CHECK_EQ(plan.codec.size(), size_t{496});
    CHECK_EQ(BytesOf(plan.codec), uint64_t{682'229'764});
    size_t decoder = 0;
    for (const ExpectedTensor& tensor : plan.codec) decoder += tensor.name.rfind("decoder.", 0) == 0;
    CHECK_EQ(decoder, size_t{271});
  }
}

void PublishedIdsStandInTheConfiguration() {
  const std::string text = PlanOf(SizesNamed("1.7b", ModelType::kCustomVoice)).model_config;
  std::string problem;
  const auto document = JsonDocument::Parse(text, &problem);
  const ModelConfig config = ReadModelConfig(ConfigReader("config.json", document->root(), &problem));
  CHECK_EQ(problem, "");
  CHECK_EQ(document->root().Find("assistant_token_id").integer().value_or(0), 77091);
  CHECK_EQ(config.text_ids.im_start, 151644);
  CHECK_EQ(config.text_ids.tts_eos, 151673);
  CHECK_EQ(config.talker.ids.pad, 2148);
  CHECK_EQ(config.talker.ids.think_eos, 2157);
  CHECK_EQ(config.FindSpeaker("dylan")->id, 2878);
  CHECK_EQ(config.FindSpeaker("dylan")->dialect, "beijing_dialect");
  CHECK_EQ(config.FindLanguage("japanese")->id, 2058);
  CHECK_EQ(config.talker.languages.size(), size_t{12});
  CHECK_EQ(config.talker.transformer.rope_theta, 1e6);
  CHECK_EQ(config.talker.positions, 32768);
}

// The folder of a checkpoint's tokenizer alone.
void AVocabularyOfThePublishedSizeIsWholeAndExact() {
  const BytePairs pairs = MakeBytePairs(151643);
  CHECK_EQ(pairs.symbols.size(), size_t{151643});
  CHECK_EQ(pairs.merges.size(), size_t{151387});
  TempFolder folder;
  test::WriteAll(folder / "vocab.json", pairs.VocabJson());
  test::WriteAll(folder / "merges.txt", pairs.MergesText());
  test::WriteAll(folder / "tokenizer_config.json",
                 PlanOf(SizesNamed("0.6b", ModelType::kBase)).tokenizer_config);
  std::string problem;
  const auto tokenizer = Tokenizer::Open(folder.path(), 151936, PieceRule::kNative, &problem);
  CHECK_EQ(problem, "");
  std::vector<int32_t> ids;
  CHECK(tokenizer->Encode("<|im_start|>assistant\n", Literals::kTokens, &ids, &problem));
  CHECK((ids == std::vector<int32_t>{151644, 77091, 198}));
  const std::string text = "Your order has shipped, \"today\" \\ and 今天天气很好。 Grüße 🚀!";
  ids.clear();
  CHECK(tokenizer->Encode(text, Literals::kText, &ids, &problem));
  CHECK_EQ(tokenizer->Decode(ids), text);
  CHECK(3 * ids.size() < 2 * text.size());
}

// Odd head counts, few code groups, other rates, another number of stages.
CheckpointSizes OtherSizes(ModelType type) {
  CheckpointSizes s = SizesNamed("tiny", type);
  s.talker = {20, 30, 3, 3, 1, 6, 1e-5, 1e4};
  s.predictor = {20, 18, 1, 5, 5, 4, 1e-6, 500};
  s.name = "0b6";
  s.text_entries = 300, s.text_vocabulary = 333, s.text_hidden = 14;
  s.codes = 32, s.code_groups = 5, s.positions = 128;
  s.speaker = {20, 20, 16000, {6, 6, 6, 12}, {5, 3, 3, 1}, {1, 2, 3, 1}, 4, 3, 5};
  s.sample_rate = 16000;
  s.decoder = {{10, 12, 1, 3, 3, 4, 1e-5, 1e4}, 5, 12, 8, 32, 5, 24, {2}, {3, 4, 2}};
  s.encoder = {{16, 20, 1, 2, 2, 8, 1e-5, 1e4}, 4, 5, 3, 3, 2, {2, 3}, 32, 6, 7, 8};
  s.encoder_window = 9;
  return s;
}

void WhatIsWrittenOpens() {
  for (const ModelType type : {ModelType::kCustomVoice, ModelType::kVoiceDesign, ModelType::kBase}) {
    for (const CheckpointSizes& sizes : {SizesNamed("tiny", type), OtherSizes(type)}) {
      for (const size_t shards : {1, 3}) {
        TempFolder folder;
        WriteCheckpoint(sizes, folder.path(), {7, shards, {}});
        const auto checkpoint = Opened(folder.path());
        CHECK(checkpoint->config().type == type);
        CHECK_EQ(checkpoint->config().talker.transformer.heads, sizes.talker.heads);
        CHECK_EQ(checkpoint->config().talker.code_groups, sizes.code_groups);
        CHECK_EQ(checkpoint->codec_config().frame_samples, sizes.frame_samples());
        CHECK_EQ(checkpoint->model().tensors().size(), PlanOf(sizes).model.size());
        CHECK_EQ(checkpoint->codec().tensors().size(), PlanOf(sizes).codec.size());
        Prompt prompt;
        PromptRequest request;
        request.text = "Hello there, how are you?";
        if (type == ModelType::kCustomVoice) request.speaker = "vivian";
        std::string problem;
        CHECK(BuildPrompt(checkpoint->config(), checkpoint->tokenizer(), request, &prompt, &problem));
        CHECK_EQ(problem, "");
        CHECK_EQ(prompt.rows[0].text, checkpoint->config().text_ids.im_start);
        CHECK_EQ(prompt.rows[1].text, 263);
        CHECK_EQ(prompt.rows[2].text, 198);
      }
    }
  }
}

// So many frames and their samples, all of them numbers, neither silent nor clipped.
void Speaks(const std::string& directory, size_t frames) {
  const auto checkpoint = Opened(directory);
  const ModelConfig& config = checkpoint->config();
  cpu::CpuKernels kernels({});
  SpeechModel speech(kernels, *checkpoint, Quantize::kNone, Format::kF32);
  CodecDecoder codec(kernels, *checkpoint, Format::kF32);
  PromptRequest request;
  request.text = "Hello there.";
  if (config.type == ModelType::kCustomVoice) request.speaker = "ryan";
  const std::vector<float> vector(static_cast<size_t>(config.talker.transformer.hidden), 0.5f);
  const auto voice = config.type == ModelType::kBase
                         ? std::make_shared<const VoicePrompt>(VoicePrompt{vector, {}, ""})
                         : nullptr;
  Prompt prompt;
  std::string problem;
  CHECK(BuildPrompt(config, checkpoint->tokenizer(), request, &prompt, &problem));
  DrawRules rules = DefaultRules(checkpoint->generation());
  rules.max_new_tokens = rules.min_new_tokens = frames + 1;
  const auto stream = speech.BeginStream(prompt, voice, rules, &problem);
  CHECK_EQ(problem, "");
  SpeechStream* const one = stream.get();
  speech.Prefill(&one, 1);
  const auto groups = static_cast<size_t>(config.talker.code_groups);
  std::vector<int32_t> codes(frames * groups);
  for (size_t n = 0; n < frames; n++) {
    StepResult result;
    speech.Step(&one, 1, &result, codes.data() + n * groups);
    CHECK(result == StepResult::kFrame);
  }
  std::vector<float> samples(frames * codec.frame_samples());
  const auto state = codec.NewState();
  const CodecDecoder::Job job = {state.get(), codes.data(), frames, samples.data()};
  codec.Decode(&job, 1);
  float loudest = 0;
  for (const float sample : samples) {
    CHECK(std::isfinite(sample));
    loudest = std::max(loudest, std::fabs(sample));
  }
  CHECK(loudest > 0.01f && loudest < 1);
}

void WhatIsWrittenSpeaks() {
  for (const ModelType type : {ModelType::kCustomVoice, ModelType::kVoiceDesign, ModelType::kBase}) {
    for (const CheckpointSizes& sizes : {SizesNamed("tiny", type), OtherSizes(type)}) {
      TempFolder folder;
      WriteCheckpoint(sizes, folder.path(), {});
      Speaks(folder.path(), 8);
    }
  }
}

double DeviationOf(const Tensor& tensor, double* mean) {
  double sum = 0, squares = 0;
  for (const double value : ToFloats(tensor)) {
    CHECK(std::isfinite(value));
    sum += value, squares += value * value;
  }
  const double count = static_cast<double>(tensor.count());
  *mean = sum / count;
  return std::sqrt(std::max(0.0, squares / count - *mean * *mean));
}

void WeightsAreScaledByWhatTheyAreFor() {
  TempFolder folder;
  WriteCheckpoint(SizesNamed("tiny", ModelType::kBase), folder.path(), {});
  const auto checkpoint = Opened(folder.path());
  double mean = 0;
  for (const TensorSet* set : {&checkpoint->model(), &checkpoint->codec()}) {
    for (const Tensor* tensor : set->tensors()) CHECK(DeviationOf(*tensor, &mean) < 15);
  }
  const auto& gate = checkpoint->ModelTensor("talker.model.layers.1.mlp.gate_proj.weight");
  CHECK(std::fabs(DeviationOf(gate, &mean) * std::sqrt(48.0) - 1.2) < 0.05 && std::fabs(mean) < 0.02);
  DeviationOf(checkpoint->ModelTensor("talker.model.norm.weight"), &mean);
  CHECK(std::fabs(mean - 1) < 0.1);
  const auto& usage =
      checkpoint->CodecTensor("decoder.quantizer.rvq_first.vq.layers.0._codebook.cluster_usage");
  for (size_t n = 0; n < usage.count(); n++) CHECK(reinterpret_cast<const float*>(usage.data)[n] > 1);
  const Tensor* const mark = checkpoint->codec().Find(
      "encoder.quantizer.semantic_residual_vector_quantizer.layers.0.codebook.initialized");
  CHECK_EQ(*reinterpret_cast<const float*>(mark->data), 1.0f);
}

void ASeedGivesTheSameWeightsHoweverTheyAreCut() {
  TempFolder whole, cut, other;
  const CheckpointSizes sizes = SizesNamed("tiny", ModelType::kCustomVoice);
  WriteCheckpoint(sizes, whole.path(), {5, 1, {}});
  WriteCheckpoint(sizes, cut.path(), {5, 20, {}});
  WriteCheckpoint(sizes, other.path(), {6, 1, {}});
  CHECK(std::filesystem::exists(cut / "model-00020-of-00020.safetensors"));
  const auto a = Opened(whole.path()), b = Opened(cut.path()), c = Opened(other.path());
  size_t different = 0;
  for (const Tensor* tensor : a->model().tensors()) {
    const Tensor& same = b->ModelTensor(tensor->name);
    CHECK_EQ(std::memcmp(tensor->data, same.data, tensor->bytes), 0);
    different += std::memcmp(tensor->data, c->ModelTensor(tensor->name).data, tensor->bytes) != 0;
  }
  CHECK_EQ(different, a->model().tensors().size());
}

// The values are drawn before they are rounded, so that copies in several dtypes can be compared.
void ASeedGivesTheSameWeightsInEveryDtype() {
  const CheckpointSizes sizes = OtherSizes(ModelType::kBase);
  TempFolder exact;
  WriteCheckpoint(sizes, exact.path(), {5, 1, {Dtype::kF32, Dtype::kF32}});
  const auto wanted = Opened(exact.path());
  for (const CheckpointDtypes& dtypes : {CheckpointDtypes{}, CheckpointDtypes{Dtype::kF16, Dtype::kF16},
                                         CheckpointDtypes{Dtype::kF32, Dtype::kBf16}}) {
    TempFolder folder;
    WriteCheckpoint(sizes, folder.path(), {5, 1, dtypes});
    const auto checkpoint = Opened(folder.path());
    const auto check = [](const TensorSet& seen, const TensorSet& exactly, Dtype dtype) {
      for (const Tensor* tensor : seen.tensors()) {
        CHECK(tensor->dtype == dtype);
        const std::vector<float> values = ToFloats(*exactly.Find(tensor->name));
        const std::vector<uint8_t> bytes = Rounded(values.data(), values.size(), FormatOf(dtype));
        CHECK_EQ(tensor->bytes, bytes.size());
        CHECK_EQ(std::memcmp(tensor->data, bytes.data(), bytes.size()), 0);
      }
    };
    check(checkpoint->model(), wanted->model(), dtypes.model);
    check(checkpoint->codec(), wanted->codec(), dtypes.codec);
    Speaks(folder.path(), 3);
  }
}

void WhatCannotBeIsRefused() {
  const CheckpointSizes tiny = SizesNamed("tiny", ModelType::kBase);
  TempFolder folder;
  CHECK_EQ(RefusalOf([] { SizesNamed("7b", ModelType::kBase); }),
           "the size is 0.6b, 1.7b or tiny, not \"7b\"");
  CHECK(RefusalOf([] { SizesNamed("0.6b", ModelType::kVoiceDesign); }) != "");
  CHECK(RefusalOf([] { MakeBytePairs(266); }).find("at least 267 entries") != std::string::npos);
  CHECK_EQ(MakeBytePairs(267).merges.size(), size_t{11});
  CHECK(RefusalOf([] { MakeBytePairs(1'000'000); }).find("entries can be made") != std::string::npos);
  CHECK(RefusalOf([&] { WriteCheckpoint(tiny, folder.path(), {1, 1000, {}}); }).find("1 to 137 shards") !=
        std::string::npos);
  CheckpointSizes uneven = tiny;
  uneven.talker.kv_heads = 3;
  CHECK_EQ(
      RefusalOf([&] { PlanOf(uneven); }),
      "config.json: talker_config.num_key_value_heads: expected a divisor of num_attention_heads, which is 4, found 3");
  CHECK(!std::filesystem::exists(folder / "speech_tokenizer"));
  WriteCheckpoint(tiny, folder.path(), {});
  CHECK(RefusalOf([&] { WriteCheckpoint(tiny, folder.path(), {}); }).find("holds a checkpoint already") !=
        std::string::npos);
}

}  // namespace
}  // namespace parley

TEST_GROUP(write_checkpoint) {
  return parley::test::Run({
      {"published sizes are met to the byte", parley::PublishedSizesAreMetToTheByte},
      {"published ids stand in the configuration", parley::PublishedIdsStandInTheConfiguration},
      {"a vocabulary of the published size is whole and exact",
       parley::AVocabularyOfThePublishedSizeIsWholeAndExact},
      {"what is written opens", parley::WhatIsWrittenOpens},
      {"what is written speaks", parley::WhatIsWrittenSpeaks},
      {"weights are scaled by what they are for", parley::WeightsAreScaledByWhatTheyAreFor},
      {"a seed gives the same weights however they are cut",
       parley::ASeedGivesTheSameWeightsHoweverTheyAreCut},
      {"a seed gives the same weights in every dtype", parley::ASeedGivesTheSameWeightsInEveryDtype},
      {"what cannot be is refused", parley::WhatCannotBeIsRefused},
  });
}
