// The forced aligner against the golden vectors: logits, classes, repaired times and words.
#include "model/recognition/alignment_times.h"
#include "model/recognition/alignment_words.h"
#include "model/recognition/forced_aligner.h"
#include "test/recognition_golden.h"

namespace parley::test {
namespace {

using namespace model;

std::string Text(Json one, const char* key) { return std::string(one.Find(key).text()); }

LoadedRecogniser Aligner() { return LoadedRecogniser("tiny-aligner", RecognitionKind::kAligner); }

// The logits at the markers, by one forward pass.
std::vector<float> MarkerLogits(const LoadedRecogniser& loaded, const GoldenVectors& vectors) {
  const auto input = vectors.Read<int32_t>("input_ids");
  const GoldenPrompt prompt(input, loaded.checkpoint->config().audio_pad);
  std::vector<int32_t> ids = prompt.head;
  ids.insert(ids.end(), prompt.audio_tokens, kAudioToken);
  ids.insert(ids.end(), prompt.tail.begin(), prompt.tail.end());
  const std::vector<float> audio = vectors.Read("audio_embeds");
  TextDecoder& decoder = loaded.model->decoder();
  KvState state(*loaded.kernels, loaded.checkpoint->config().decoder, Format::kF32, ids.size());
  const TextDecoder::Rows rows{&state, ids.data(), ids.size(), audio.data()};
  std::vector<float> x(ids.size() * decoder.hidden()), marked;
  decoder.Embed(&rows, 1, x.data());
  decoder.Forward(&rows, 1, x.data());
  for (size_t n = 0; n < ids.size(); n++) {
    const auto row = x.begin() + static_cast<ptrdiff_t>(n * decoder.hidden());
    if (ids[n] == loaded.checkpoint->config().timestamp)
      marked.insert(marked.end(), row, row + static_cast<ptrdiff_t>(decoder.hidden()));
  }
  std::vector<int32_t> classes(marked.size() / decoder.hidden());
  decoder.Choose(marked.data(), classes.size(), classes.data());
  CHECK(classes == vectors.Read<int32_t>("classes"));
  return {decoder.logits(), decoder.logits() + classes.size() * decoder.head_rows()};
}

void CheckItems(const std::vector<TimedWord>& seen, Json items) {
  CHECK_EQ(seen.size(), items.size());
  Json item = items.first();
  for (const TimedWord& word : seen) {
    CHECK_EQ(word.word, item.first().text());
    CHECK_EQ(static_cast<double>(word.start_ms) / 1000, item.first().next().number());
    CHECK_EQ(static_cast<double>(word.end_ms) / 1000, item.first().next().next().number());
    item = item.next();
  }
}

void TimesAreTheReferences() {
  const LoadedRecogniser loaded = Aligner();
  const auto manifest = RecognitionManifest();
  const Json all = manifest->root().Find("align");
  size_t cases = 0;
  for (Json one = all.first(); one.present(); one = one.next(), cases++) {
    const GoldenVectors vectors(std::string(one.key()), "recognition");
    CheckNear(MarkerLogits(loaded, vectors), vectors.Read("ts_logits"), std::string(one.key()) + ": logits");
    const auto words = AlignmentWords(Text(one, "text"), Text(one, "language"), nullptr);
    for (const size_t rows : {size_t{1000}, size_t{17}}) {
      Alignment alignment(*loaded.model, words, ReadClip(Text(one, "clip")), Format::kF32);
      alignment.Begin();
      CHECK(alignment.begun());
      RunPass(*loaded.model, alignment.stream(), 2, rows);
      CHECK(alignment.stream()->end() == RecognitionStream::End::kAligned);
      CHECK(alignment.stream()->classes() == vectors.Read<int32_t>("classes"));
      CheckItems(alignment.Times(), one.Find("items"));
    }
  }
  CHECK_EQ(cases, 6u);
}

void AlignmentsTogetherAreThoseOfEachAlone() {
  const LoadedRecogniser loaded = Aligner();
  const auto manifest = RecognitionManifest();
  const Json all = manifest->root().Find("align");
  std::vector<std::unique_ptr<Alignment>> alignments;
  std::vector<RecognitionStream*> streams;
  for (Json one = all.first(); one.present(); one = one.next()) {
    const auto words = AlignmentWords(Text(one, "text"), Text(one, "language"), nullptr);
    alignments.push_back(
        std::make_unique<Alignment>(*loaded.model, words, ReadClip(Text(one, "clip")), Format::kF32));
    while (!alignments.back()->Begin(30)) continue;  // features in parts
    streams.push_back(alignments.back()->stream());
  }
  RecognitionWork work(*loaded.model);
  while (work.Encode(streams.data(), streams.size(), 5) ||
         work.Prefill(streams.data(), streams.size(), 200)) {
    while (work.Advance()) continue;
  }
  size_t n = 0;
  for (Json one = all.first(); one.present(); one = one.next())
    CheckItems(alignments[n++]->Times(), one.Find("items"));
}

void SoundWithoutWordsAndWordsWithoutSound() {
  const LoadedRecogniser loaded = Aligner();
  Alignment none(*loaded.model, {}, ReadClip("yes03"), Format::kF32);
  none.Begin();
  CHECK(none.begun());
  RunPass(*loaded.model, none.stream());
  CHECK_EQ(none.stream()->classes().size(), 2u);
  CHECK(none.Times().empty());
  for (const size_t samples : {0, 1, 200}) {
    Alignment silent(*loaded.model, {"one", "two"}, std::vector<float>(samples), Format::kF32);
    silent.Begin();
    CHECK(!silent.begun());
    CHECK_EQ(silent.Times().size(), 2u);
    CHECK_EQ(silent.Times()[1].end_ms, 0);
  }
}

void MoreWordsThanPositionsAreRefused() {
  const LoadedRecogniser loaded = Aligner();
  bool refused = false;
  try {
    Alignment(*loaded.model, std::vector<std::string>(5000, "word"), ReadClip("yes03"), Format::kF32).Begin();
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_aligner) {
  using namespace parley::test;
  return Run({
      {"times are the reference's", TimesAreTheReferences},
      {"alignments together are those of each alone", AlignmentsTogetherAreThoseOfEachAlone},
      {"sound without words, and words without sound", SoundWithoutWordsAndWordsWithoutSound},
      {"more words than positions are refused", MoreWordsThanPositionsAreRefused},
  });
}
