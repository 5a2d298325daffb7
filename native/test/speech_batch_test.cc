// A stream's codes and logits must be bit-identical whatever the batch, the pieces of its prompt, or a prefix
// computed before.
#include <set>
#include <stdexcept>

#include "test/speakers.h"

namespace parley::test {
namespace {

using namespace model;

std::vector<const GoldenCase*> CasesOf(const std::string& checkpoint) {
  std::vector<const GoldenCase*> cases;
  for (const GoldenCase& one : GoldenCases()) {
    if (one.model == checkpoint) cases.push_back(&one);
  }
  return cases;
}

void CheckTogether(const std::string& checkpoint, Quantize quantize, Format cache) {
  const auto alone_kernels = MakeRecordingKernels(1), together_kernels = MakeRecordingKernels(2);
  SpeechModel alone(*alone_kernels, GoldenCheckpoint(checkpoint), quantize, cache);
  SpeechModel together(*together_kernels, GoldenCheckpoint(checkpoint), quantize, cache);
  std::vector<Speaker> speakers, wanted;
  for (const GoldenCase* one : CasesOf(checkpoint)) {
    for (int twice = 0; twice < 2; twice++) {
      const uint64_t seed = speakers.size();
      speakers.push_back({one, RulesFor(*one, seed, 14 + seed), seed * 5 % 7});
      if (seed % 5 == 3) speakers.back().leaves = 6;
      wanted.push_back({one, speakers.back().rules, 0, speakers.back().leaves});
    }
  }
  SpeakTogether(together, &speakers, 17);
  for (Speaker& one : wanted) {
    std::vector<Speaker> only;
    only.push_back(std::move(one));
    SpeakTogether(alone, &only);
    one = std::move(only.front());
  }
  for (size_t n = 0; n < speakers.size(); n++) {
    CHECK(!speakers[n].codes.empty());
    CHECK(speakers[n].codes == wanted[n].codes);
    CHECK(speakers[n].end == wanted[n].end);
    CHECK(LogitsOf(*together_kernels, n) == LogitsOf(*alone_kernels, n));
  }
}

void ABatchGivesEveryStreamTheBitsOfOneAlone() {
  for (const char* checkpoint : {"tiny-customvoice", "tiny-voicedesign", "tiny-base"}) {
    CheckTogether(checkpoint, Quantize::kNone, Format::kF32);
    CheckTogether(checkpoint, Quantize::kAll, Format::kBf16);
    CheckTogether(checkpoint, Quantize::kFp8, Format::kBf16);
  }
}

std::vector<int32_t> CodesOf(SpeechModel& model, const GoldenCase& one, uint64_t seed,
                             std::shared_ptr<const PromptPrefix> prefix = nullptr, size_t piece = SIZE_MAX) {
  std::vector<Speaker> speakers;
  speakers.push_back({&one, RulesFor(one, seed, 12)});
  speakers.front().prefix = std::move(prefix);
  SpeakTogether(model, &speakers, piece);
  return speakers.front().codes;
}

void ASeedGivesItsCodesAndAnotherOneOthers() {
  const GoldenCase& one = GoldenCaseNamed("tiny-customvoice__lang_auto");
  const auto kernels = MakeRecordingKernels(2);
  SpeechModel model(*kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kF32);
  const auto codes = CodesOf(model, one, 1);
  CHECK(CodesOf(model, one, 1) == codes);
  CHECK(CodesOf(model, one, 3) != codes);
  CHECK(CodesOf(model, one, uint64_t{1} << 40 | 1) != codes);
}

// Two draws in one place would be one random number used twice.
void EveryDrawOfAStreamHasItsOwnPlace() {
  const GoldenCase& one = GoldenCaseNamed("tiny-base__xvector");
  const auto kernels = MakeRecordingKernels();
  std::set<std::pair<uint64_t, uint64_t>> places;
  size_t draws = 0;
  kernels->on_choice = [&](const Draw& draw, const float*) {
    CHECK_EQ(draw.seed, uint64_t{5});
    places.insert({draw.stream, draw.step});
    draws++;
  };
  SpeechModel model(*kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kF32);
  const size_t codes = CodesOf(model, one, 5).size();
  CHECK_EQ(draws, codes + 1);  // the last first code gives no frame
  CHECK_EQ(places.size(), draws);
}

void APromptInPiecesGivesTheSameBits() {
  const GoldenCase& one = GoldenCaseNamed("tiny-base__icl_nonstream");
  const auto kernels = MakeRecordingKernels(2);
  SpeechModel model(*kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kBf16);
  const auto codes = CodesOf(model, one, 1);
  const auto logits = LogitsOf(*kernels, 1);
  for (const size_t piece : {1u, 3u, 40u}) {
    kernels->logits.clear();
    CHECK(CodesOf(model, one, 1, nullptr, piece) == codes);
    CHECK(LogitsOf(*kernels, 1) == logits);
  }
}

void CheckPrefix(const GoldenCase& of, const GoldenCase& used, size_t rows, size_t shared) {
  const auto kernels = MakeRecordingKernels(2);
  SpeechModel model(*kernels, GoldenCheckpoint(of.model), Quantize::kNone, Format::kBf16);
  const auto codes = CodesOf(model, used, 1);
  const auto logits = LogitsOf(*kernels, 1);
  std::string problem;
  const auto first = model.BeginStream(of.prompt, of.voice, RulesFor(of, 0, 3), &problem);
  SpeechStream* const streams[] = {first.get()};
  model.Prefill(streams, 1);
  const auto prefix = model.KeepPrefix(*first, rows);
  CHECK_EQ(prefix->rows(), rows);
  const auto second =
      model.BeginStream(used.prompt, used.voice, RulesFor(used, 1, 12), &problem, {false, prefix});
  CHECK_EQ(problem, "");
  CHECK_EQ(second->prompt_left(), used.prompt.rows.size() - shared);
  CHECK_EQ(second->positions(), shared);
  kernels->logits.clear();
  CHECK(CodesOf(model, used, 1, prefix) == codes);
  CHECK(LogitsOf(*kernels, 1) == logits);
}

void APrefixOfThePromptChangesNoBit() {
  const GoldenCase& icl = GoldenCaseNamed("tiny-base__icl_nonstream");
  const size_t rows = icl.prompt.rows.size();
  CheckPrefix(icl, icl, 20, 20);
  CheckPrefix(icl, icl, rows, rows - 1);  // the last row is computed in any case
  // Prefix of another text: reused as far as both agree.
  const GoldenCase& english = GoldenCaseNamed("tiny-customvoice__lang_english");
  const GoldenCase& automatic = GoldenCaseNamed("tiny-customvoice__lang_auto");
  const size_t common = CommonRows(english.prompt, automatic.prompt);
  CHECK(common >= 3 && common < english.prompt.rows.size());
  CheckPrefix(english, automatic, english.prompt.rows.size(), common);
  // Prefix of another voice: reused up to the first row that depends on it, though the ids are the same.
  GoldenCase other = icl;
  auto voice = std::make_shared<VoicePrompt>(*icl.voice);
  voice->speaker.front() += 1;
  other.voice = voice;
  size_t of_any_voice = 0;
  while (icl.prompt.rows[of_any_voice].codec != PromptRow::kSpeakerVector) of_any_voice++;
  CheckPrefix(icl, other, rows, of_any_voice);
}

void APrefixIsKeptOfRowsThatWereComputed() {
  const GoldenCase& one = GoldenCaseNamed("tiny-base__xvector");
  const auto kernels = MakeRecordingKernels();
  SpeechModel model(*kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kF32);
  std::string problem;
  const auto stream = model.BeginStream(one.prompt, one.voice, RulesFor(one, 0, 3), &problem);
  SpeechStream* const streams[] = {stream.get()};
  model.Prefill(streams, 1, 5);
  CHECK_EQ(model.KeepPrefix(*stream, 5)->rows(), size_t{5});
  CHECK(RefusalOf([&] { model.KeepPrefix(*stream, 6); }) != "");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(speech_batch) {
  using namespace parley::test;
  return Run({
      {"a batch gives every stream the bits of one alone", ABatchGivesEveryStreamTheBitsOfOneAlone},
      {"a seed gives its codes and another one others", ASeedGivesItsCodesAndAnotherOneOthers},
      {"every draw of a stream has its own place", EveryDrawOfAStreamHasItsOwnPlace},
      {"a prompt in pieces gives the same bits", APromptInPiecesGivesTheSameBits},
      {"a prefix of the prompt changes no bit", APrefixOfThePromptChangesNoBit},
      {"a prefix is kept of rows that were computed", APrefixIsKeptOfRowsThatWereComputed},
  });
}
