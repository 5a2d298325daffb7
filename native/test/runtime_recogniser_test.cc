// The recogniser as its users see it: files, turns of callers and alignments, together and alone, whole and
// damaged. The tiny models answer in the words of their clips.
#include <cmath>

#include "model/recognition/recognition_prompt.h"
#include "model/recognition/transcript.h"
#include "test/counting_kernels.h"
#include "test/recogniser_desk.h"

namespace parley::test {
namespace {

using namespace runtime;

RecognitionRequest Live(bool partials = false, bool gated = false) {
  RecognitionRequest request;
  request.use = RecognitionUse::kLive;
  request.partials = partials;
  request.gated = gated;
  return request;
}

std::string ResultOf(const std::string& name) {
  static const auto manifest = RecognitionManifest();
  return std::string(manifest->root().Find("cases").Find(name).Find("result_text").text());
}

std::vector<float> Part(const std::vector<float>& all, size_t first, size_t last) {
  return {all.begin() + static_cast<ptrdiff_t>(first),
          all.begin() + static_cast<ptrdiff_t>(std::min(last, all.size()))};
}

void FilesTogetherAreThoseOfTheReference() {
  RecogniserDesk desk("tiny-asr-a");
  std::vector<std::pair<std::string, Asked>> all;
  for (const char* const clip : {"yes03", "tag10", "edge101", "odd37", "zh52", "en91"})
    all.emplace_back(clip, desk.AskFile(ReadClip(clip)));
  desk.Run();
  for (const auto& [clip, asked] : all) {
    CHECK_EQ(asked.texts->Text(), ResultOf("tiny-asr-a__" + clip) + "|");
    CHECK(asked.texts->end && asked.texts->end->outcome == Outcome::kDone);
    CHECK_EQ(asked.texts->end->problem, "");
  }
  CHECK_EQ(desk.stats.done, 6u);
  CHECK_EQ(desk.stats.memory_in_use, 0u);
  CHECK(desk.stats.sound_seconds > 20);
}

void ALongFileIsReadInPiecesAtQuietPlaces() {
  RecogniserDesk desk("tiny-asr-a");
  RecognitionRequest request;
  request.piece_seconds = 12.5;
  const Asked asked = desk.AskFile(ReadClip("long31"), request);
  desk.Run();
  CHECK_EQ(asked.texts->finals.size(), 3u);
  // The reference repeats the first words in the third piece, which is noise: that copy is cut.
  const auto manifest = RecognitionManifest();
  CHECK_EQ(asked.texts->finals[0].text + asked.texts->finals[1].text +
               "We will start with the weather. It is cold and windy",
           manifest->root().Find("transcribe").Find("split").Find("text").text());
  CHECK_EQ(asked.texts->finals[2].text, "");
  CHECK_EQ(asked.texts->runaways.size(), 1u);
  CHECK_EQ(asked.texts->finals[1].begin_seconds, 9.5914375);
  CHECK_EQ(asked.texts->finals[2].begin_seconds, 22.2131875);
  CHECK_EQ(asked.texts->finals[2].end_seconds, 496'077.0 / 16'000);
  CHECK_EQ(asked.texts->finals[2].part, 2u);
}

// Hours of sound: no more of it is held than the pieces that are recognised.
void AFileIsReadNoFasterThanItIsRecognised() {
  RecogniserDesk desk("tiny-asr-b");
  RecognitionRequest request;
  request.piece_seconds = 10;
  Asked asked = desk.Ask(request);
  const std::vector<float> clip = ReadClip("long31");
  for (int n = 0; n < 8; n++) asked.sound->Add(clip);
  asked.sound->End();
  size_t most = 0, last_read = 0;
  while (desk.Round()) {
    most = std::max(most, desk.stats.memory_in_use);
    last_read = asked.sound->read();
    const size_t done = asked.texts->finals.size();
    CHECK(last_read <= (done + 6) * 20 * 16'000);
  }
  CHECK(asked.texts->finals.size() >= 12);
  CHECK(most < size_t{64} << 20);
  CHECK(asked.texts->end->outcome == Outcome::kDone);
}

void AForcedLanguageAndATagAreTheSame() {
  RecogniserDesk desk("tiny-asr-a");
  for (const char* const language : {"de", "DE-at", "gERMAN", "German"}) {
    RecognitionRequest request;
    request.language = language;
    const Asked asked = desk.AskFile(ReadClip("odd37"), request);
    desk.Run();
    CHECK_EQ(asked.texts->Text(), ResultOf("tiny-asr-a__odd37_german") + "|");
    CHECK_EQ(asked.texts->finals[0].language, "German");
  }
  RecognitionRequest unknown;
  unknown.language = "tlh";
  const Asked asked = desk.AskFile(ReadClip("odd37"), unknown);
  desk.Run();
  CHECK(asked.texts->end->outcome == Outcome::kBadRequest);
  CHECK_EQ(asked.texts->end->problem, "the language \"tlh\" is none of the model's");
}

// The whole of a turn as one pass, frames filled up.
std::string WholeTurn(const LoadedRecogniser& loaded, const std::vector<float>& samples) {
  model::RecognitionPrompt prompt;
  std::string problem;
  CHECK(model::BuildPrompt(loaded.checkpoint->tokenizer(), {"", "", ""}, &prompt, &problem));
  const auto stream = loaded.Stream(prompt.head);
  stream->Push(samples.data(), samples.size());
  model::Pass pass;
  pass.last = model::LastFrame::kFilled;
  pass.tail = prompt.tail;
  pass.max_new_tokens = 96;
  CHECK(stream->BeginPass(pass));
  RunPass(*loaded.model, stream.get());
  const auto raw = TextOf(loaded.checkpoint->tokenizer(), stream->generated(), model::Special::kSkipped);
  return model::ParseTranscript(raw, "").text;
}

void ATurnEndsWithTheTextOfItsWhole() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> clip = ReadClip("stream13");
  const Asked asked = desk.Ask(Live(true));
  std::string stable;
  for (size_t at = 0; at < clip.size(); at += 3200) {
    asked.sound->Add(Part(clip, at, at + 3200));
    desk.Run();
    desk.now += std::chrono::milliseconds(200);
    if (asked.texts->partials.empty()) continue;
    const RecognisedText& last = asked.texts->partials.back();
    CHECK_EQ(last.text.compare(0, stable.size(), stable), 0);
    stable = last.text.substr(0, last.stable);
  }
  CHECK(asked.texts->partials.size() > 10);
  CHECK(!stable.empty());
  desk.Order(asked, TurnOrder::kPause);
  desk.Run();
  CHECK(asked.texts->finals.empty());
  desk.Order(asked, TurnOrder::kEnd);
  desk.Run(1);
  CHECK_EQ(asked.texts->finals.size(), 1u);  // it was recognised in the pause
  CHECK_EQ(asked.texts->finals[0].text, WholeTurn(desk.loaded, clip));
  asked.sound->End();
  desk.Run();
  CHECK_EQ(asked.texts->finals.size(), 1u);
  CHECK(asked.texts->end->outcome == Outcome::kDone);
  CHECK(desk.stats.draft_taken * 2 > desk.stats.draft_offered);
}

// Also where the text is the last partial one, and where the sound is too short for a text.
void EachPauseHasAText() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> clip = ReadClip("odd37");
  RecognitionRequest request = Live();
  request.pauses = true;
  const Asked asked = desk.Ask(request), other = desk.Ask(Live());
  for (const Asked& one : {asked, other}) {
    one.sound->Add(clip);
    desk.Run();
    desk.Order(one, TurnOrder::kPause);
    desk.Run();
  }
  CHECK_EQ(asked.texts->pauses.size(), 1u);
  CHECK_EQ(asked.texts->pauses[0].text, WholeTurn(desk.loaded, clip));
  CHECK(other.texts->pauses.empty());
  desk.Order(asked, TurnOrder::kEnd);
  desk.Run();
  CHECK_EQ(asked.texts->pauses.size(), 1u);
  CHECK_EQ(asked.texts->finals.size(), 1u);
  desk.Order(asked, TurnOrder::kPause);
  desk.Run();
  CHECK_EQ(asked.texts->pauses.size(), 2u);
  CHECK_EQ(asked.texts->pauses[1].text, "");
  CHECK_EQ(asked.texts->pauses[1].part, 1u);
}

void SpeechThatGoesOnDropsTheFinalPass() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> clip = ReadClip("en91");
  const Asked asked = desk.Ask(Live());
  asked.sound->Add(Part(clip, 0, 60'000));
  desk.Run();
  desk.Order(asked, TurnOrder::kPause);
  desk.Run(3);  // it has begun
  asked.sound->Add(Part(clip, 60'000, clip.size()));
  desk.Order(asked, TurnOrder::kResume);
  desk.Run();
  CHECK(asked.texts->finals.empty());
  CHECK_EQ(desk.stats.passes, 0u);
  CHECK(desk.stats.dropped_passes > 0);
  desk.Order(asked, TurnOrder::kPause);
  desk.Run();
  CHECK_EQ(desk.stats.passes, 1u);
  desk.Order(asked, TurnOrder::kEnd);
  desk.Run();
  CHECK_EQ(asked.texts->Text(), WholeTurn(desk.loaded, clip) + "|");
}

// Nothing is recognised between the turns of a gated caller, and what came just before a turn belongs to it.
void AGatedCallerIsHeardInTurnsOnly() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> silence(40'000), first = ReadClip("odd37"), second = ReadClip("tag10");
  const Asked asked = desk.Ask(Live(false, true));
  asked.sound->Add(silence);
  desk.Run();
  CHECK(desk.stats.memory_in_use < 200'000);
  for (const std::vector<float>* const clip : {&first, &second}) {
    asked.sound->Add(Part(*clip, 0, 4000));
    desk.Run();
    desk.Order(asked, TurnOrder::kBegin);
    asked.sound->Add(Part(*clip, 4000, clip->size()));
    desk.Run();
    desk.Order(asked, TurnOrder::kEnd);
    desk.Run();
    asked.sound->Add(silence);
    desk.Run();
  }
  CHECK_EQ(asked.texts->finals.size(), 2u);
  std::vector<float> whole(silence.end() - 4000, silence.end());
  whole.insert(whole.end(), first.begin(), first.end());
  CHECK_EQ(asked.texts->finals[0].text, WholeTurn(desk.loaded, whole));
  CHECK_EQ(asked.texts->finals[0].begin_seconds, 36'000.0 / 16'000);
  CHECK_EQ(asked.texts->finals[1].part, 1u);
  asked.sound->End();
  desk.Run();
  CHECK(asked.texts->end->outcome == Outcome::kDone);
  CHECK_EQ(asked.texts->finals.size(), 2u);
}

// Chunk by chunk as the golden session, and once more in a second turn.
void TheOfficialProcedureIsThereToo() {
  RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 256, true);
  const auto manifest = RecognitionManifest();
  const model::Json session = manifest->root().Find("streams").Find("tiny-asr-a__stream13");
  const std::vector<float> clip = ReadClip("stream13");
  const Asked asked = desk.Ask(Live(true));
  for (int turn = 0; turn < 2; turn++) {
    for (size_t at = 0; at < clip.size(); at += 5000) {
      asked.sound->Add(Part(clip, at, at + 5000));
      desk.Run();
    }
    desk.Order(asked, TurnOrder::kEnd);
    desk.Run();
  }
  size_t steps = 0;
  for (model::Json step = session.Find("steps").first(); step.present(); step = step.next(), steps++) {
    CHECK(steps < asked.texts->partials.size());
    if (steps < asked.texts->partials.size())
      CHECK_EQ(asked.texts->partials[steps].text, step.Find("text").text());
  }
  CHECK_EQ(asked.texts->partials.size(), 2 * steps);
  const std::string whole(session.Find("finish_guarded").Find("text").text());
  CHECK_EQ(asked.texts->Text(), whole + "|" + whole + "|");
  asked.sound->End();
  desk.Run();
  CHECK(asked.texts->end->outcome == Outcome::kDone);
  CHECK_EQ(asked.texts->finals.size(), 2u);
}

// All of the sound is there before the engine looks for the first time.
void AnOrderOfTheRequestIsObeyedBeforeAnySoundIsRead() {
  RecogniserDesk desk("tiny-asr-a");
  RecognitionRequest request = Live(false, true);
  request.orders = {{TurnOrder::kBegin, 0}};
  const Asked asked = desk.AskFile(ReadClip("odd37"), request);
  desk.Run();
  CHECK_EQ(asked.texts->Text(), WholeTurn(desk.loaded, ReadClip("odd37")) + "|");
  CHECK_EQ(asked.texts->finals[0].begin_seconds, 0.0);
}

// A caller says two turns and more, all before the engine looks for the first time.
void OrdersAreAboutTheSoundBeforeThem() {
  for (const bool official : {false, true}) {
    RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 256, official);
    const std::vector<float> first = ReadClip("odd37"), second = ReadClip("tag10"), silence(16'000);
    const Asked asked = desk.Ask(Live(false, true));
    desk.Order(asked, TurnOrder::kBegin);
    asked.sound->Add(first);
    desk.Order(asked, TurnOrder::kPause);
    desk.Order(asked, TurnOrder::kEnd);
    asked.sound->Add(silence);
    desk.Order(asked, TurnOrder::kBegin);
    asked.sound->Add(second);
    desk.Order(asked, TurnOrder::kEnd);
    asked.sound->Add(silence);
    desk.Run();
    CHECK_EQ(asked.texts->finals.size(), 2u);
    CHECK_EQ(asked.texts->finals[0].begin_seconds, 0.0);
    CHECK_EQ(asked.texts->finals[0].end_seconds, static_cast<double>(first.size()) / 16'000);
    const double begin = static_cast<double>(first.size() + silence.size()) / 16'000;
    CHECK_EQ(asked.texts->finals[1].begin_seconds, begin - 0.5);  // with what came just before
    CHECK_EQ(asked.texts->finals[1].end_seconds, begin + static_cast<double>(second.size()) / 16'000);
    if (!official) CHECK_EQ(asked.texts->finals[0].text, WholeTurn(desk.loaded, first));
    CHECK(!asked.texts->end);
  }
}

// At another rate too an order stands where it was given.
void OrdersKeepTheirPlaceAtOtherRates() {
  RecogniserDesk desk("tiny-asr-a");
  RecognitionRequest request = Live(false, true);
  request.rate = 48'000;
  const Asked asked = desk.Ask(request);
  asked.sound->Add(std::vector<float>(48'000));
  desk.Order(asked, TurnOrder::kBegin);
  asked.sound->Add(std::vector<float>(96'000));
  desk.Order(asked, TurnOrder::kEnd);
  asked.sound->Add(std::vector<float>(48'000));
  desk.Run();
  CHECK_EQ(asked.texts->finals.size(), 1u);
  CHECK_EQ(asked.texts->finals[0].begin_seconds, 0.5);
  CHECK(std::fabs(asked.texts->finals[0].end_seconds - 3) < 0.01);
}

// The next turn begins, pauses and ends while the last text of this one is computed: nothing of it is lost.
void TheNextTurnIsHeardWhileThisOnesTextIsComputed() {
  for (const bool official : {false, true}) {
    for (const bool gated : {false, true}) {
      RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 256, official);
      const std::vector<float> first = ReadClip("odd37"), second = ReadClip("en91");
      const Asked asked = desk.Ask(Live(false, gated));
      desk.Order(asked, TurnOrder::kBegin);
      asked.sound->Add(first);
      desk.Order(asked, TurnOrder::kEnd);
      desk.Run(3);
      CHECK(asked.texts->finals.empty());
      desk.Order(asked, TurnOrder::kBegin);
      for (size_t at = 0; at < second.size(); at += 16'000) {
        asked.sound->Add(Part(second, at, at + 16'000));
        if (asked.texts->finals.empty()) desk.Run(1);
      }
      desk.Order(asked, TurnOrder::kPause);
      desk.Order(asked, TurnOrder::kEnd);
      desk.Run();
      CHECK_EQ(asked.texts->finals.size(), 2u);
      CHECK_EQ(asked.texts->finals[1].part, 1u);
      CHECK_EQ(asked.texts->finals[1].begin_seconds, static_cast<double>(first.size()) / 16'000);
      CHECK_EQ(asked.texts->finals[1].end_seconds,
               static_cast<double>(first.size() + second.size()) / 16'000);
      if (!official) CHECK_EQ(asked.texts->finals[1].text, WholeTurn(desk.loaded, second));
    }
  }
}

// Somebody forgot to end the turn. Its sound is recognised all the same, in segments.
void APauseWithoutAnEndIsBounded() {
  RecogniserDesk desk("tiny-asr-b");
  const Asked asked = desk.Ask(Live());
  asked.sound->Add(ReadClip("odd37"));
  desk.Order(asked, TurnOrder::kPause);
  desk.Run();
  const std::vector<float> clip = ReadClip("long31");
  size_t most = 0;
  for (int n = 0; n < 10; n++) {
    asked.sound->Add(clip);
    desk.Run();
    most = std::max(most, desk.stats.memory_in_use);
  }
  CHECK(most < size_t{16} << 20);
  asked.sound->End();
  desk.Run();
  CHECK_EQ(asked.texts->finals.size(), 1u);
}

void TooManyOrdersThatWaitEndTheStream() {
  for (const bool official : {false, true}) {
    RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 256, official);
    const Asked asked = desk.Ask(Live(false, true)), other = desk.Ask(Live());
    for (size_t n = 0; n < 2000; n++) desk.Order(asked, TurnOrder::kBegin);
    desk.Run();
    CHECK(asked.texts->end->outcome == Outcome::kBadRequest);
    CHECK_EQ(asked.texts->end->problem, "more than 1024 orders about turns wait");
    CHECK(!other.texts->end);
  }
}

// Every place for files is taken by sounds that do not come.
void ALiveCallerNeverWaitsBehindFiles() {
  RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 1);
  const Asked silent = desk.Ask({}), waiting = desk.AskFile(ReadClip("tag10")), caller = desk.Ask(Live());
  desk.Run();
  CHECK_EQ(desk.stats.waiting, 1u);
  CHECK_EQ(desk.stats.live, 1u);
  caller.sound->Add(ReadClip("odd37"));
  desk.Order(caller, TurnOrder::kEnd);
  desk.Run();
  CHECK_EQ(caller.texts->finals.size(), 1u);
  CHECK(waiting.texts->finals.empty());
  silent.sound->End();
  desk.Run();
  CHECK_EQ(waiting.texts->finals.size(), 1u);
}

void FilesTogetherKeepToTheMemory() {
  const size_t limit = size_t{24} << 20;
  RecogniserDesk desk("tiny-asr-b", limit);
  std::vector<Asked> files;
  for (int n = 0; n < 20; n++) files.push_back(desk.AskFile(ReadClip("long31")));
  size_t most = 0;
  while (desk.Round()) most = std::max(most, desk.stats.memory_in_use);
  CHECK(most > limit / 4 && most <= limit);
  for (const Asked& file : files) CHECK_EQ(file.texts->finals.size(), files[0].texts->finals.size());
  CHECK_EQ(desk.stats.memory_in_use, 0u);
}

// No memory at all, by the machine's count: the files go on one by one, and one whose sound does not come
// stops no other.
void WithoutMemoryFilesGoOnOneByOne() {
  RecogniserDesk desk("tiny-asr-a");
  desk.free_memory = 0;
  const Asked silent = desk.Ask({});
  std::vector<Asked> files;
  for (int n = 0; n < 4; n++) files.push_back(desk.AskFile(ReadClip("odd37")));
  desk.Run();
  for (const Asked& file : files) CHECK_EQ(file.texts->Text(), ResultOf("tiny-asr-a__odd37") + "|");
  CHECK(silent.texts->finals.empty());

  RecogniserDesk aligner("tiny-aligner");
  aligner.free_memory = 0;
  RecognitionRequest request;
  request.use = RecognitionUse::kAlign;
  request.context = "The quick brown fox jumps over the lazy dog.";
  std::vector<Asked> alignments;
  for (int n = 0; n < 4; n++) {
    alignments.push_back(aligner.Ask(request));
    alignments.back().sound->Add(ReadClip("odd37"));
  }
  aligner.Run();
  for (const Asked& one : alignments) one.sound->End();
  aligner.Run();
  for (const Asked& one : alignments) CHECK_EQ(one.texts->words.size(), 9u);
}

void WhatDoesNotFitTheMemoryIsRefused() {
  RecogniserDesk desk("tiny-asr-a", 100'000);
  const Asked file = desk.AskFile(ReadClip("odd37")), caller = desk.Ask(Live());
  desk.Run();
  CHECK(file.texts->end->outcome == Outcome::kOutOfMemory);
  CHECK(caller.texts->end->outcome == Outcome::kOutOfMemory);
  CHECK_EQ(caller.texts->end->problem, "the memory for recognition is taken: 0 MiB are left of 0");
}

// The context holds every word that the tiny model recognises in this noise.
void AnEchoIsCutWhereNobodySpeaks() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> clip = ReadClip("long31"), noise = Part(clip, 356'000, clip.size());
  const std::string context = "We will start with the weather. It is cold and windy";
  RecognitionRequest file, caller = Live();
  const Asked plain = desk.AskFile(noise);
  desk.Run();
  CHECK_EQ(plain.texts->Text(), context + "|");
  CHECK(plain.texts->runaways.empty());
  file.context = caller.context = context;
  const Asked echo = desk.AskFile(noise, file), echo_to_caller = desk.AskFile(noise, caller);
  desk.Run();
  for (const Asked& one : {echo, echo_to_caller}) {
    CHECK_EQ(one.texts->Text(), "|");
    CHECK_EQ(one.texts->runaways.size(), 1u);
    for (const std::string& what : one.texts->runaways)
      CHECK_EQ(what, "context_echo was cut out of the text of 8.754812 s of sound");
  }
}

void ATurnWithoutAPauseIsCutBeforeThirtySeconds() {
  RecogniserDesk desk("tiny-asr-b");
  const std::vector<float> clip = ReadClip("long31");
  const Asked asked = desk.Ask(Live());
  for (int n = 0; n < 3; n++) {
    for (size_t at = 0; at < clip.size(); at += 16'000) {
      asked.sound->Add(Part(clip, at, at + 16'000));
      desk.Run();
    }
  }
  CHECK(desk.stats.passes >= 2);
  CHECK(asked.texts->finals.empty());
  asked.sound->End();
  desk.Run();
  CHECK_EQ(asked.texts->finals.size(), 1u);
  CHECK_EQ(asked.texts->finals[0].end_seconds, 3 * 496'077.0 / 16'000);
  CHECK(!asked.texts->finals[0].text.empty());
}

void APauseEndsASegmentOfEightSeconds() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> clip = ReadClip("en91"), next = ReadClip("odd37");
  const Asked asked = desk.Ask(Live(true));
  asked.sound->Add(clip);
  desk.Run();
  desk.Order(asked, TurnOrder::kPause);
  desk.Run();
  desk.Order(asked, TurnOrder::kResume);
  asked.sound->Add(next);
  desk.Run();
  desk.Order(asked, TurnOrder::kEnd);
  desk.Run();
  CHECK_EQ(asked.texts->Text(), WholeTurn(desk.loaded, clip) + " " + WholeTurn(desk.loaded, next) + "|");
  for (const RecognisedText& one : asked.texts->partials) CHECK(one.stable <= one.text.size());
}

// A final text goes before partial ones, and both before files, which are not forgotten.
void AFinalTextGoesBeforeAllOthers() {
  RecogniserDesk desk("tiny-asr-a");
  const Asked file = desk.AskFile(ReadClip("long31"));
  const Asked partial = desk.Ask(Live(true)), final = desk.Ask(Live());
  for (int n = 0; n < 2; n++) partial.sound->Add(ReadClip("en91"));
  final.sound->Add(ReadClip("odd37"));
  desk.Run(6);
  desk.Order(final, TurnOrder::kEnd);
  size_t rounds = 0;
  while (final.texts->finals.empty() && desk.Round()) rounds++;
  CHECK(partial.texts->partials.empty());
  CHECK(file.texts->finals.empty());
  CHECK(rounds < 40);
  desk.Run();
  CHECK(!partial.texts->partials.empty());
  CHECK_EQ(file.texts->finals.size(), 1u);
}

void FilesGetTheirTurnBesideLiveCallers() {
  RecogniserDesk desk("tiny-asr-a");
  const Asked file = desk.AskFile(ReadClip("tag10"));
  const Asked caller = desk.Ask(Live(true));
  const std::vector<float> clip = ReadClip("stream13");
  size_t rounds = 0;
  for (size_t at = 0; file.texts->finals.empty() && rounds < 20'000; at = (at + 8000) % clip.size()) {
    caller.sound->Add(Part(clip, at, at + 8000));  // never is there nothing to do for the caller
    for (int n = 0; n < 4; n++, rounds++) desk.Round();
    desk.now += std::chrono::seconds(1);
  }
  CHECK_EQ(file.texts->finals.size(), 1u);
}

void DamagedSoundIsRefusedAndOthersGoOn() {
  RecogniserDesk desk("tiny-asr-a");
  const Asked good = desk.AskFile(ReadClip("odd37"));
  struct {
    std::vector<float> samples;
    const char* problem;
  } const cases[] = {
      {{}, "the sound is empty"},
      {{0.5f}, "the sound is shorter than 13 ms, too short for speech"},
      {std::vector<float>(200, 0.5f), "the sound is shorter than 13 ms, too short for speech"},
      {{0, 0, NAN}, "the sound's sample 2 is no finite number"},
      {{INFINITY}, "the sound's sample 0 is no finite number"},
  };
  for (const auto& one : cases) {
    for (const RecognitionUse use : {RecognitionUse::kFile, RecognitionUse::kLive}) {
      RecognitionRequest request;
      request.use = use;
      const Asked bad = desk.AskFile(one.samples, request);
      desk.Run();
      const bool is_short = use == RecognitionUse::kLive && one.problem[10] == 'i';  // a turn without a text
      CHECK(bad.texts->end->outcome == (is_short ? Outcome::kDone : Outcome::kBadRequest));
      CHECK_EQ(bad.texts->end->problem, is_short ? "" : one.problem);
    }
  }
  CHECK_EQ(good.texts->Text(), ResultOf("tiny-asr-a__odd37") + "|");
}

void ClippedSoundAndSilenceAreSound() {
  RecogniserDesk desk("tiny-asr-a");
  std::vector<float> loud = ReadClip("odd37");
  for (float& sample : loud) sample = std::clamp(sample * 40, -8.0f, 8.0f);
  const Asked clipped = desk.AskFile(loud), silent = desk.AskFile(std::vector<float>(48'000));
  desk.Run();
  CHECK(clipped.texts->end->outcome == Outcome::kDone);
  CHECK(silent.texts->end->outcome == Outcome::kDone);
  CHECK_EQ(silent.texts->finals.size(), 1u);
}

void OtherRatesAreHeard() {
  RecogniserDesk desk("tiny-asr-a");
  const std::vector<float> clip = ReadClip("odd37");
  for (const uint32_t times : {2u, 3u}) {
    RecognitionRequest request;
    request.rate = 16'000 * times;
    std::vector<float> fast;
    model::StreamResampling up(std::make_shared<model::ResamplingTaps>(16'000, request.rate));
    up.Push(clip.data(), clip.size(), &fast);
    up.Finish(&fast);
    const Asked asked = desk.AskFile(fast, request);
    desk.Run();
    CHECK_EQ(asked.texts->Text(), ResultOf("tiny-asr-a__odd37") + "|");
  }
  for (const uint32_t rate : {0u, 7999u, 192'001u}) {
    RecognitionRequest request;
    request.rate = rate;
    const Asked asked = desk.AskFile(clip, request);
    desk.Run();
    CHECK(asked.texts->end->outcome == Outcome::kBadRequest);
    CHECK(asked.texts->end->problem.find("8000 to 192000") != std::string::npos);
  }
}

void ASourceThatBreaksOffEndsItsStreamAlone() {
  RecogniserDesk desk("tiny-asr-a");
  const Asked broken = desk.Ask({}), good = desk.AskFile(ReadClip("tag10"));
  broken.sound->Add(ReadClip("odd37"));
  broken.sound->End("the connection was lost");
  desk.Run();
  CHECK(broken.texts->end->outcome == Outcome::kBadRequest);
  CHECK_EQ(broken.texts->end->problem, "the connection was lost");
  CHECK_EQ(good.texts->Text(), ResultOf("tiny-asr-a__tag10") + "|");
}

// Memory ends at each allocation of a file in turn, beside a caller who is heard half.
void MemoryThatEndsCostsOnlyTheStreamsThatNeededIt() {
  auto owned = std::make_unique<CountingKernels>();
  CountingKernels* const kernels = owned.get();
  RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 256, false, std::move(owned));
  const std::vector<float> clip = ReadClip("odd37"), file = ReadClip("tag10");
  size_t failed = 0;
  for (size_t allowed = 0, done = 0; done == 0; allowed++) {
    const Asked caller = desk.Ask(Live(true));
    caller.sound->Add(Part(clip, 0, clip.size() / 2));
    desk.Run();
    const Asked asked = desk.AskFile(file);
    kernels->Allow(allowed);
    desk.Run();
    kernels->AllowAll();
    CHECK(asked.texts->end);
    if (!asked.texts->end) return;
    if (asked.texts->end->outcome == Outcome::kDone) {
      CHECK_EQ(asked.texts->Text(), ResultOf("tiny-asr-a__tag10") + "|");
      done++;
    } else {
      CHECK(asked.texts->end->outcome == Outcome::kOutOfMemory);
      CHECK_EQ(asked.texts->end->problem, "memory is out");
      failed++;
    }
    caller.sound->Add(Part(clip, clip.size() / 2, clip.size()));
    caller.sound->End();
    desk.Run();
    CHECK_EQ(caller.texts->Text(), ResultOf("tiny-asr-a__odd37") + "|");
    CHECK_EQ(desk.stats.memory_in_use, 0u);
  }
  CHECK(failed > 0);
  const size_t in_use = kernels->InUse();
  desk.AskFile(file);
  desk.Run();
  CHECK_EQ(kernels->InUse(), in_use);
}

void WhatIsCancelledEndsAtOnce() {
  RecogniserDesk desk("tiny-asr-a", size_t{1} << 32, 1);
  const Asked first = desk.AskFile(ReadClip("long31")), waiting = desk.AskFile(ReadClip("tag10")),
              last = desk.AskFile(ReadClip("yes03"));
  desk.Run(5);
  CHECK_EQ(desk.stats.waiting, 2u);
  desk.mailbox.Cancel(first.id);
  desk.mailbox.Cancel(waiting.id);
  desk.mailbox.Cancel(12345);
  desk.Run(1);
  CHECK(first.texts->end->outcome == Outcome::kCancelled);
  CHECK(waiting.texts->end->outcome == Outcome::kCancelled);
  desk.Run();
  CHECK_EQ(last.texts->Text(), ResultOf("tiny-asr-a__yes03") + "|");
}

void AClosedRecogniserEndsAll() {
  RecogniserDesk desk("tiny-asr-a");
  const Asked one = desk.AskFile(ReadClip("long31"));
  desk.Run(5);
  desk.mailbox.Close();
  desk.Round();
  CHECK(desk.scheduler->closing());
  desk.scheduler->EndAll(Outcome::kClosed, "the engine closed");
  CHECK(one.texts->end->outcome == Outcome::kClosed);
  CHECK_EQ(desk.mailbox.Start({}, one.sound, one.texts), 0u);
}

void WordsAreTimedAsTheReferenceTimesThem() {
  RecogniserDesk desk("tiny-aligner");
  const auto manifest = RecognitionManifest();
  const model::Json all = manifest->root().Find("align");
  std::vector<std::pair<model::Json, Asked>> asked;
  for (model::Json one = all.first(); one.present(); one = one.next()) {
    RecognitionRequest request;
    request.use = RecognitionUse::kAlign;
    request.language = one.Find("language").text();
    request.context = one.Find("text").text();
    asked.emplace_back(one, desk.AskFile(ReadClip(std::string(one.Find("clip").text())), request));
  }
  desk.Run();
  for (const auto& [one, its] : asked) {
    CHECK_EQ(its.texts->words.size(), one.Find("items").size());
    model::Json item = one.Find("items").first();
    for (const AlignedWord& word : its.texts->words) {
      CHECK_EQ(word.word, item.first().text());
      CHECK_EQ(word.begin_seconds, item.first().next().number());
      CHECK_EQ(word.end_seconds, item.first().next().next().number());
      item = item.next();
    }
    CHECK(its.texts->end->outcome == Outcome::kDone);
  }
}

// Eleven minutes: windows of five, whose times go on from one to the next.
void ALongSoundIsAlignedInWindows() {
  RecogniserDesk desk("tiny-aligner");
  const std::vector<float> clip = ReadClip("long31");
  std::vector<float> sound;
  RecognitionRequest request;
  request.use = RecognitionUse::kAlign;
  request.language = "en";
  const auto manifest = RecognitionManifest();
  const std::string text(manifest->root().Find("align").Find("tiny-aligner__long31").Find("text").text());
  for (int n = 0; n < 22; n++) {
    sound.insert(sound.end(), clip.begin(), clip.end());
    request.context += text + " ";
  }
  const Asked asked = desk.AskFile(sound, request);
  desk.Run();
  CHECK(asked.texts->end->outcome == Outcome::kDone);
  CHECK_EQ(asked.texts->words.size(), 22u * 45u);
  double last = 0;
  for (const AlignedWord& word : asked.texts->words) {
    CHECK(word.begin_seconds >= last && word.end_seconds >= word.begin_seconds);
    last = word.begin_seconds;
  }
  CHECK(last <= static_cast<double>(sound.size()) / 16'000 + 1);
}

void WhatDoesNotFitTheModelIsRefused() {
  RecogniserDesk recogniser("tiny-asr-a"), aligner("tiny-aligner");
  RecognitionRequest align;
  align.use = RecognitionUse::kAlign;
  align.context = "Yes.";
  const Asked a = recogniser.AskFile(ReadClip("yes03"), align), b = aligner.AskFile(ReadClip("yes03"));
  align.context = " ... ";
  const Asked c = aligner.AskFile(ReadClip("yes03"), align);
  align.context = "\xFF";
  RecognitionRequest context;
  context.context = "\xFF";
  RecognitionRequest pieces;
  pieces.piece_seconds = 3;
  const Asked d = recogniser.AskFile(ReadClip("yes03"), context),
              e = recogniser.AskFile(ReadClip("yes03"), pieces);
  recogniser.Run();
  aligner.Run();
  CHECK_EQ(a.texts->end->problem, "a recogniser aligns nothing");
  CHECK_EQ(b.texts->end->problem, "an aligner recognises nothing: it needs a text");
  CHECK_EQ(c.texts->end->problem, "the text to align has no words");
  CHECK_EQ(d.texts->end->problem, "the context: the text is not UTF-8 at byte 7");
  CHECK_EQ(e.texts->end->problem, "the pieces of a sound are 10 to 1200 seconds long");
  for (const Asked& one : {a, b, c, d, e}) CHECK(one.texts->end->outcome == Outcome::kBadRequest);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_recogniser) {
  using namespace parley::test;
  return Run({
      {"files together are those of the reference", FilesTogetherAreThoseOfTheReference},
      {"a long file is read in pieces at quiet places", ALongFileIsReadInPiecesAtQuietPlaces},
      {"a file is read no faster than it is recognised", AFileIsReadNoFasterThanItIsRecognised},
      {"a forced language and a tag are the same", AForcedLanguageAndATagAreTheSame},
      {"a turn ends with the text of its whole", ATurnEndsWithTheTextOfItsWhole},
      {"each pause has a text", EachPauseHasAText},
      {"speech that goes on drops the final pass", SpeechThatGoesOnDropsTheFinalPass},
      {"a gated caller is heard in turns only", AGatedCallerIsHeardInTurnsOnly},
      {"the official procedure is there, too", TheOfficialProcedureIsThereToo},
      {"an order of the request is obeyed before any sound is read",
       AnOrderOfTheRequestIsObeyedBeforeAnySoundIsRead},
      {"orders are about the sound before them", OrdersAreAboutTheSoundBeforeThem},
      {"orders keep their place at other rates", OrdersKeepTheirPlaceAtOtherRates},
      {"the next turn is heard while this one's text is computed",
       TheNextTurnIsHeardWhileThisOnesTextIsComputed},
      {"a pause without an end is bounded", APauseWithoutAnEndIsBounded},
      {"too many orders that wait end the stream", TooManyOrdersThatWaitEndTheStream},
      {"a live caller never waits behind files", ALiveCallerNeverWaitsBehindFiles},
      {"files together keep to the memory", FilesTogetherKeepToTheMemory},
      {"without memory files go on one by one", WithoutMemoryFilesGoOnOneByOne},
      {"what does not fit the memory is refused", WhatDoesNotFitTheMemoryIsRefused},
      {"an echo is cut where nobody speaks", AnEchoIsCutWhereNobodySpeaks},
      {"a turn without a pause is cut before thirty seconds", ATurnWithoutAPauseIsCutBeforeThirtySeconds},
      {"a pause ends a segment of eight seconds", APauseEndsASegmentOfEightSeconds},
      {"a final text goes before all others", AFinalTextGoesBeforeAllOthers},
      {"files get their turn beside live callers", FilesGetTheirTurnBesideLiveCallers},
      {"damaged sound is refused, and others go on", DamagedSoundIsRefusedAndOthersGoOn},
      {"clipped sound and silence are sound", ClippedSoundAndSilenceAreSound},
      {"other rates are heard", OtherRatesAreHeard},
      {"a source that breaks off ends its stream alone", ASourceThatBreaksOffEndsItsStreamAlone},
      {"memory that ends costs only the streams that needed it",
       MemoryThatEndsCostsOnlyTheStreamsThatNeededIt},
      {"what is cancelled ends at once", WhatIsCancelledEndsAtOnce},
      {"a closed recogniser ends all", AClosedRecogniserEndsAll},
      {"words are timed as the reference times them", WordsAreTimedAsTheReferenceTimesThem},
      {"a long sound is aligned in windows", ALongSoundIsAlignedInWindows},
      {"what does not fit the model is refused", WhatDoesNotFitTheModelIsRefused},
  });
}
