// The weights of recogniser and aligner as they may lie in the files: of every dtype, with a head that is
// tied, stored or both, quantized, damaged, and made by the tools.
#include "model/recognition/alignment_times.h"
#include "model/recognition/forced_aligner.h"
#include "model/recognition/recognition_prompt.h"
#include "test/recognition_golden.h"
#include "tools/recognition_writer.h"

namespace parley::test {
namespace {

using namespace model;

constexpr char kOdd37[] = "The quick brown fox jumps over the lazy dog.";
constexpr char kStoredHead[] = "thinker.lm_head.weight", kWeights[] = "model.safetensors";

LoadedRecogniser LoadedAt(const std::string& directory, std::optional<Format> decoder = std::nullopt) {
  return LoadedRecogniser(OpenedRecognition(directory), decoder);
}

// The raw text of a golden case: what these weights make of its prompt and clip.
std::string RawTextOf(const LoadedRecogniser& loaded, const std::string& name) {
  const GoldenVectors vectors(name, "recognition");
  const GoldenPrompt prompt(vectors.Read<int32_t>("input_ids"), loaded.checkpoint->config().audio_pad);
  const auto stream = loaded.Stream(prompt.head);
  const auto manifest = RecognitionManifest();
  const auto samples = ReadClip(std::string(manifest->root().Find("cases").Find(name).Find("clip").text()));
  stream->Push(samples.data(), samples.size());
  Pass pass;
  pass.tail = prompt.tail;
  pass.max_new_tokens = 96;
  CHECK(stream->BeginPass(pass));
  RunPass(*loaded.model, stream.get());
  return TextOf(loaded.checkpoint->tokenizer(), stream->generated(), Special::kShown);
}

void EveryFloatingPointDtypeGivesTheGoldenText() {
  const DtypeRule dtypes[] = {Always(Dtype::kF32), Always(Dtype::kF16), Always(Dtype::kBf16), ByTurns};
  for (const char* const name : {"tiny-asr-a", "tiny-asr-b"}) {
    for (const DtypeRule& dtype : dtypes) {
      const RetypedCheckpoint copy(name, dtype);
      const LoadedRecogniser loaded = LoadedAt(copy.path());
      size_t n = 0;
      for (const Tensor* const tensor : loaded.checkpoint->set().tensors())
        CHECK(tensor->dtype == dtype(*tensor, n++));
      CHECK_EQ(RawTextOf(loaded, std::string(name) + "__odd37"),
               std::string("language English<asr_text>") + kOdd37);
    }
  }
}

void EveryFloatingPointDtypeGivesTheGoldenTimes() {
  const auto manifest = RecognitionManifest();
  const Json golden = manifest->root().Find("align").Find("tiny-aligner__odd37");
  std::vector<std::string> words;
  for (Json word = golden.Find("words").first(); word.present(); word = word.next())
    words.emplace_back(word.text());
  for (const DtypeRule& dtype : {Always(Dtype::kF32), Always(Dtype::kF16), DtypeRule(ByTurns)}) {
    const RetypedCheckpoint copy("tiny-aligner", dtype);
    const LoadedRecogniser loaded(OpenedRecognition(copy.path(), RecognitionKind::kAligner));
    Alignment alignment(*loaded.model, words, ReadClip("odd37"), Format::kF32);
    alignment.Begin();
    RunPass(*loaded.model, alignment.stream());
    Json item = golden.Find("items").first();
    for (const TimedWord& word : alignment.Times()) {
      CHECK_EQ(word.word, item.first().text());
      CHECK_EQ(static_cast<double>(word.start_ms) / 1000, item.first().next().number());
      CHECK_EQ(static_cast<double>(word.end_ms) / 1000, item.first().next().next().number());
      item = item.next();
    }
    CHECK(!item.present());
  }
}

// Bytes of a tensor with the rows in the opposite order: the same weights for other ids.
std::string RowsReversed(const Tensor& tensor) {
  const size_t rows = static_cast<size_t>(tensor.shape[0]), width = tensor.bytes / rows;
  std::string bytes;
  for (size_t row = rows; row-- > 0;)
    bytes.append(reinterpret_cast<const char*>(tensor.data) + row * width, width);
  return bytes;
}

void AStoredCopyOfATiedHeadIsNotUsed() {
  const std::string golden = std::string("language English<asr_text>") + kOdd37, name = "tiny-asr-a__odd37";
  std::string problem;
  const auto file = SafetensorsFile::Open(kGolden + "/tiny-asr-a/" + kWeights, &problem);
  CheckpointCopy other("tiny-asr-a");
  other.Overwrite(kWeights, kStoredHead, RowsReversed(*file->Find(kStoredHead)));
  CHECK_EQ(RawTextOf(LoadedAt(other.path()), name), golden);
  // The same file with a head of its own reads other weights.
  other.Edit("config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(RawTextOf(LoadedAt(other.path()), name) != golden);

  CheckpointCopy without("tiny-asr-a");
  SafetensorsParts parts;
  for (const Tensor& tensor : file->tensors())
    if (tensor.name != kStoredHead) parts.Add(tensor);
  without.Write(kWeights, parts.File());
  CHECK_EQ(RawTextOf(LoadedAt(without.path()), name), golden);
  // A head of its own has to be stored.
  without.Edit("config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(RecognitionCheckpoint::Open(without.path(), RecognitionKind::kRecogniser, &problem) == nullptr);
  CHECK_EQ(problem, without.path() + "/model.safetensors: tensor \"thinker.lm_head.weight\": expected F32, " +
                        "F16 or BF16 [576, 64], found no such tensor");
}

std::string RefusalOfWeights(const std::string& directory, RecognitionKind kind,
                             std::optional<Format> decoder) {
  const auto checkpoint = OpenedRecognition(directory, kind);
  const auto kernels = MakeKernels();
  return RefusalOf([&] { RecognitionModel(*kernels, *checkpoint, decoder); });
}

// Opening reads no weights; loading looks at every one.
void AWeightThatIsNoNumberIsNamed() {
  const std::string nan = "\xC0\x7F", infinite = std::string("\x80\xFF", 2);  // in bf16
  const std::pair<const char*, RecognitionKind> checkpoints[] = {{"tiny-asr-a", RecognitionKind::kRecogniser},
                                                                 {"tiny-aligner", RecognitionKind::kAligner}};
  for (const auto& [name, kind] : checkpoints) {
    for (const ExpectedTensor& tensor : TensorsOf(OpenRecognition(name, kind)->config())) {
      CheckpointCopy copy(name);
      copy.Overwrite(kWeights, tensor.name, nan);
      CHECK_EQ(RefusalOfWeights(copy.path(), kind, std::nullopt),
               tensor.name + ": holds a weight of nan; weights must be finite and at most 1e+09");
      CHECK_EQ(RefusalOfWeights(copy.path(), kind, Format::kInt8).substr(0, tensor.name.size() + 2),
               tensor.name + ": ");
      copy.Overwrite(kWeights, tensor.name, infinite);
      CHECK_EQ(RefusalOfWeights(copy.path(), kind, std::nullopt),
               tensor.name + ": holds a weight of inf; weights must be finite and at most 1e+09");
    }
  }
  // The loader does not read the stored copy of a tied head.
  CheckpointCopy copy("tiny-asr-a");
  copy.Overwrite(kWeights, kStoredHead, nan);
  CHECK_EQ(RefusalOfWeights(copy.path(), RecognitionKind::kRecogniser, std::nullopt), "");
}

void QuantizingLeavesHeadAndEncoderAsTheyAre() {
  const LoadedRecogniser plain = LoadedAt(kGolden + "/tiny-asr-a");
  const LoadedRecogniser small = LoadedAt(kGolden + "/tiny-asr-a", Format::kInt8);
  for (const LayerWeights& layer : small.model->decoder().transformer().layers()) {
    for (const Matrix* const matrix :
         {&layer.heads.q, &layer.heads.k, &layer.heads.v, &layer.o, &layer.gate, &layer.up, &layer.down})
      CHECK(matrix->format == Format::kInt8);
  }
  for (const LayerWeights& layer : small.model->encoder().transformer().layers()) {
    for (const Matrix* const matrix :
         {&layer.heads.q, &layer.heads.k, &layer.heads.v, &layer.o, &layer.up, &layer.down})
      CHECK(matrix->format == Format::kBf16);
  }
  CHECK(small.model->WeightBytes() < plain.model->WeightBytes());
  constexpr size_t kRows = 3;
  const std::vector<float> hidden = RandomFloats(kRows * plain.model->decoder().hidden(), 5);
  std::vector<float> logits[2];
  for (const LoadedRecogniser* const one : {&plain, &small}) {
    TextDecoder& decoder = one->model->decoder();
    std::vector<int32_t> ids(kRows);
    decoder.Choose(hidden.data(), kRows, ids.data());
    logits[one == &small].assign(decoder.logits(), decoder.logits() + kRows * decoder.head_rows());
  }
  CHECK(logits[0] == logits[1]);
}

void ADecoderOfEightBitsGivesTheGoldenTexts() {
  const LoadedRecogniser loaded = LoadedAt(kGolden + "/tiny-asr-a", Format::kInt8);
  const auto manifest = RecognitionManifest();
  size_t cases = 0;
  for (Json one = manifest->root().Find("cases").first(); one.present(); one = one.next()) {
    if (one.Find("model").text() != "tiny-asr-a") continue;
    CHECK_EQ(RawTextOf(loaded, std::string(one.key())), one.Find("raw").text());
    cases++;
  }
  CHECK_EQ(cases, 11u);
}

tools::RecognitionSizes Tiny(RecognitionKind kind) { return tools::RecognitionSizesNamed("tiny", kind); }

void AWrittenRecogniserRecognises() {
  for (const size_t shards : {1, 3}) {
    TempFolder folder;
    WriteCheckpoint(Tiny(RecognitionKind::kRecogniser), folder.path(), {7, shards, {}});
    const LoadedRecogniser loaded = LoadedAt(folder.path());
    RecognitionPrompt prompt;
    std::string problem;
    CHECK(BuildPrompt(loaded.checkpoint->tokenizer(), {"", "German", ""}, &prompt, &problem));
    const auto stream = loaded.Stream(prompt.head);
    const std::vector<float> samples = ReadClip("odd37");
    stream->Push(samples.data(), samples.size());
    Pass pass;
    pass.tail = prompt.tail;
    pass.max_new_tokens = 12;
    CHECK(stream->BeginPass(pass));
    RunPass(*loaded.model, stream.get());
    CHECK(stream->end() == RecognitionStream::End::kBudget ||
          stream->end() == RecognitionStream::End::kEndToken);
    CHECK(!stream->generated().empty());
    for (const int32_t id : stream->generated()) CHECK(id >= 0 && id < 704);
  }
}

void AWrittenAlignerAligns() {
  TempFolder folder;
  WriteCheckpoint(Tiny(RecognitionKind::kAligner), folder.path(), {7, 2, {}});
  const LoadedRecogniser loaded(OpenedRecognition(folder.path(), RecognitionKind::kAligner));
  Alignment alignment(*loaded.model, {"The", "quick", "fox"}, ReadClip("odd37"), Format::kF32);
  alignment.Begin();
  CHECK(alignment.begun());
  RunPass(*loaded.model, alignment.stream());
  CHECK(alignment.stream()->end() == RecognitionStream::End::kAligned);
  CHECK_EQ(alignment.stream()->classes().size(), 6u);
  const std::vector<TimedWord> times = alignment.Times();
  CHECK_EQ(times.size(), 3u);
  int64_t before = 0;
  for (const TimedWord& word : times) {
    CHECK(before <= word.start_ms && word.start_ms <= word.end_ms);
    before = word.end_ms;
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_weights) {
  using namespace parley::test;
  return Run({
      {"every floating-point dtype gives the golden text", EveryFloatingPointDtypeGivesTheGoldenText},
      {"every floating-point dtype gives the golden times", EveryFloatingPointDtypeGivesTheGoldenTimes},
      {"a stored copy of a tied head is not used", AStoredCopyOfATiedHeadIsNotUsed},
      {"a weight that is no number is named", AWeightThatIsNoNumberIsNamed},
      {"quantizing leaves head and encoder as they are", QuantizingLeavesHeadAndEncoderAsTheyAre},
      {"a decoder of eight bits gives the golden texts", ADecoderOfEightBitsGivesTheGoldenTexts},
      {"a written recogniser recognises", AWrittenRecogniserRecognises},
      {"a written aligner aligns", AWrittenAlignerAligns},
  });
}
