// Recognition while the sound comes: the reference's own procedure to the letter, ours with the words of the
// whole sound, and both with what was kept of earlier passes.
#include "model/recognition/live_transcript.h"
#include "model/recognition/official_streaming.h"
#include "model/recognition/recognition_prompt.h"
#include "test/recognition_golden.h"

namespace parley::test {
namespace {

using namespace model;

std::string Text(Json one, const char* key) { return std::string(one.Find(key).text()); }
size_t Count(Json one, const char* key) { return static_cast<size_t>(one.Find(key).integer().value_or(-1)); }

std::vector<int32_t> Ids(Json list) {
  std::vector<int32_t> ids;
  for (Json one = list.first(); one.present(); one = one.next())
    ids.push_back(static_cast<int32_t>(one.integer().value_or(-1)));
  return ids;
}

OfficialStreamingRules RulesOf(Json session, bool guards_finish) {
  OfficialStreamingRules rules;
  rules.chunk_samples = Count(session, "chunk_size_samples");
  rules.unfixed_chunks = Count(session, "unfixed_chunk_num");
  rules.unfixed_tokens = Count(session, "unfixed_token_num");
  rules.max_new_tokens = Count(session, "max_new_tokens");
  rules.guards_finish = guards_finish;
  return rules;
}

// One golden session, step by step.
class Session {
 public:
  Session(const LoadedRecogniser& loaded, Json session, bool guards_finish)
      : loaded_(loaded),
        session_(session),
        name_(session.key()),
        streaming_(*loaded.model, Text(session, "context"), Text(session, "language"),
                   RulesOf(session, guards_finish), Format::kF32),
        vectors_(name_ + "__stream", "recognition"),
        step_(session.Find("steps").first()) {}

  void Check(bool checks_finish) {
    const std::vector<float> samples = ReadClip(Text(session_, "clip"));
    size_t at = 0;
    for (Json call = session_.Find("calls").first(); call.present(); call = call.next()) {
      const size_t count = Count(call, "pushed");
      streaming_.Push(samples.data() + at, count);
      at += count;
      CHECK_EQ(Steps(), Count(call, "decodes"));
      CHECK_EQ(streaming_.transcript().language, Text(call, "language"));
      CHECK_EQ(streaming_.transcript().text, Text(call, "text"));
      CHECK_EQ(streaming_.buffered(), Count(call, "buffered"));
    }
    streaming_.Finish();
    if (!checks_finish) return CheckGuarded();
    const Json finish = session_.Find("finish");
    CHECK_EQ(Steps(), Count(finish, "decodes"));
    CHECK_EQ(streaming_.transcript().text, Text(finish, "text"));
    CHECK(!step_.present());
  }

 private:
  size_t Steps() {
    size_t steps = 0;
    for (; streaming_.BeginStep(); steps++) {
      RunStep();
      step_ = step_.next();
    }
    return steps;
  }

  void RunStep() {
    const Json step = step_;
    CHECK_EQ(streaming_.stream()->samples(), Count(step, "samples"));
    CHECK_EQ(streaming_.prefix(), Text(step, "prefix"));
    RunFirst();
    RunPass(*loaded_.model, streaming_.stream());
    std::vector<int32_t> wanted = Ids(step.Find("generated_ids"));
    const auto& ends = loaded_.checkpoint->ends();
    if (std::find(ends.begin(), ends.end(), wanted.back()) != ends.end()) wanted.pop_back();
    CHECK(streaming_.stream()->generated() == wanted);
    streaming_.EndStep();
    CHECK_EQ(streaming_.raw(), Text(step, "raw"));
    number_++;
  }

  // Up to the first id, whose logits are golden.
  void RunFirst() {
    RecognitionWork work(*loaded_.model);
    RecognitionStream* const stream = streaming_.stream();
    while (work.Encode(&stream, 1, 3) || work.Prefill(&stream, 1, 50)) {
      while (work.Advance()) continue;
    }
    const std::vector<float> all = vectors_.Read("first_logits");
    const size_t width = loaded_.model->decoder().head_rows();
    const float* const seen = loaded_.model->decoder().logits();
    const auto wanted = all.begin() + static_cast<ptrdiff_t>(number_ * width);
    CheckNear({seen, seen + width}, {wanted, wanted + static_cast<ptrdiff_t>(width)},
              name_ + ": logits of step " + std::to_string(number_));
  }

  void CheckGuarded() {
    const Json guarded = session_.Find("finish_guarded");
    if (!guarded.is(JsonKind::kObject)) return;
    CHECK(streaming_.BeginStep());
    CHECK_EQ(streaming_.prefix(), Text(guarded, "prefix"));
    RunPass(*loaded_.model, streaming_.stream());
    streaming_.EndStep();
    CHECK_EQ(streaming_.raw(), Text(guarded, "raw"));
    CHECK_EQ(streaming_.transcript().text, Text(guarded, "text"));
  }

  const LoadedRecogniser& loaded_;
  const Json session_;
  const std::string name_;
  OfficialStreaming streaming_;
  const GoldenVectors vectors_;
  Json step_;
  size_t number_ = 0;
};

void TheReferencesProcedureComesOutToTheLetter() {
  const LoadedRecogniser loaded("tiny-asr-a");
  const auto manifest = RecognitionManifest();
  const Json all = manifest->root().Find("streams");
  size_t sessions = 0;
  for (Json one = all.first(); one.present(); one = one.next(), sessions++) {
    Session(loaded, one, false).Check(true);
    Session(loaded, one, true).Check(false);
  }
  CHECK_EQ(sessions, 4u);
}

// The whole sound at once, frames filled up as in a stream.
std::vector<int32_t> Whole(const LoadedRecogniser& loaded, const RecognitionPrompt& prompt,
                           const std::vector<float>& samples) {
  const auto stream = loaded.Stream(prompt.head);
  stream->Push(samples.data(), samples.size());
  Pass pass;
  pass.last = LastFrame::kFilled;
  pass.tail = prompt.tail;
  pass.max_new_tokens = 96;
  CHECK(stream->BeginPass(pass));
  RunPass(*loaded.model, stream.get());
  return stream->generated();
}

struct Live {
  std::string text;
  std::vector<std::string> partials;
  size_t taken = 0, offered = 0;  // ids of drafts
};

// Ours: a pass after each step of sound.
Live RunLive(const LoadedRecogniser& loaded, const RecognitionPrompt& prompt, const std::string& language,
             const std::vector<float>& samples, size_t step) {
  Live live;
  const auto stream = loaded.Stream(prompt.head);
  LiveTranscript transcript(loaded.checkpoint->tokenizer(), language);
  for (size_t at = 0; at < samples.size(); at += step) {
    stream->Push(samples.data() + at, std::min(step, samples.size() - at));
    Pass pass;
    pass.last = LastFrame::kFilled;
    pass.tail = prompt.tail;
    const std::vector<int32_t> fixed = transcript.Fixed();
    pass.tail.insert(pass.tail.end(), fixed.begin(), fixed.end());
    pass.draft = transcript.Draft();
    pass.max_new_tokens = 96;
    live.offered += pass.draft.size();
    if (!stream->BeginPass(pass)) continue;
    RunPass(*loaded.model, stream.get());
    live.taken += stream->draft_taken();
    const std::string stable = transcript.stable();
    transcript.Take(stream->generated(), stream->samples());
    CHECK_EQ(transcript.stable().compare(0, stable.size(), stable), 0);  // it never changes
    CHECK_EQ(transcript.text().compare(0, transcript.stable().size(), transcript.stable()), 0);
    live.partials.push_back(transcript.text());
  }
  live.text = transcript.text();
  return live;
}

void OursEndsWithTheWordsOfTheWholeSound() {
  const LoadedRecogniser loaded("tiny-asr-a");
  const auto manifest = RecognitionManifest();
  const Json all = manifest->root().Find("streams");
  for (Json one = all.first(); one.present(); one = one.next()) {
    const std::vector<float> samples = ReadClip(Text(one, "clip"));
    const std::string language = Text(one, "language");
    RecognitionPrompt prompt;
    std::string problem;
    CHECK(
        BuildPrompt(loaded.checkpoint->tokenizer(), {Text(one, "context"), language, ""}, &prompt, &problem));
    const std::string whole = ParseTranscript(TextOf(loaded.checkpoint->tokenizer(),
                                                     Whole(loaded, prompt, samples), Special::kSkipped),
                                              language)
                                  .text;
    for (const size_t step : {size_t{8000}, size_t{11'111}, size_t{32'000}}) {
      const Live live = RunLive(loaded, prompt, language, samples, step);
      CHECK_EQ(live.text, whole);
      CHECK(live.partials.size() >= samples.size() / step);
      if (samples.size() > 5 * step) CHECK(2 * live.taken > live.offered);  // most of what was drafted holds
    }
  }
}

// Each pass of a long-lived stream gives the bits of a new stream's, and does only what is new.
void WhatWasKeptChangesNoBit() {
  for (const char* const name : {"tiny-asr-a", "tiny-asr-b"}) {
    const LoadedRecogniser loaded(name);
    const std::vector<float> samples = ReadClip("long31");
    RecognitionPrompt prompt;
    std::string problem;
    CHECK(BuildPrompt(loaded.checkpoint->tokenizer(), {"", "", ""}, &prompt, &problem));
    const auto kept = loaded.Stream(prompt.head);
    size_t at = 0;
    for (const size_t end : {4'000u, 16'000u, 16'100u, 128'000u, 128'160u, 200'003u, 333'333u, 496'077u}) {
      kept->Push(samples.data() + at, end - at);
      at = end;
      const auto fresh = loaded.Stream(prompt.head);
      fresh->Push(samples.data(), end);
      std::vector<std::vector<float>> logits;
      for (RecognitionStream* const stream : {kept.get(), fresh.get()}) {
        Pass pass;
        pass.tail = prompt.tail;
        pass.max_new_tokens = 4;
        CHECK(stream->BeginPass(pass));
        RunPass(*loaded.model, stream, stream == fresh.get() ? 9 : 1, stream == fresh.get() ? 1000 : 37);
        const float* const seen = loaded.model->decoder().logits();
        logits.emplace_back(seen, seen + loaded.model->decoder().head_rows());
      }
      CHECK(kept->generated() == fresh->generated());
      CHECK(SameBits(logits[0], logits[1]));
    }
  }
}

// A stream among others has the bits of one alone.
void StreamsTogetherGiveTheBitsOfEachAlone() {
  const LoadedRecogniser loaded("tiny-asr-a");
  RecognitionPrompt prompt;
  std::string problem;
  CHECK(BuildPrompt(loaded.checkpoint->tokenizer(), {"", "", ""}, &prompt, &problem));
  std::vector<std::unique_ptr<RecognitionStream>> streams;
  std::vector<RecognitionStream*> all;
  std::vector<std::vector<int32_t>> alone;
  for (const char* const clip : {"yes03", "tag10", "odd37", "zh52", "en91", "long31"}) {
    const std::vector<float> samples = ReadClip(clip);
    alone.push_back(Whole(loaded, prompt, samples));
    streams.push_back(loaded.Stream(prompt.head));
    streams.back()->Push(samples.data(), samples.size());
    Pass pass;
    pass.last = LastFrame::kFilled;
    pass.tail = prompt.tail;
    pass.max_new_tokens = 96;
    CHECK(streams.back()->BeginPass(pass));
    all.push_back(streams.back().get());
  }
  RecognitionWork work(*loaded.model);
  while (work.Encode(all.data(), all.size(), 3) || work.Prefill(all.data(), all.size(), 90)) {
    while (work.Advance()) continue;
  }
  for (;;) {
    std::vector<RecognitionStream*> decoding;
    for (RecognitionStream* const one : all) {
      if (one->turn() == RecognitionStream::Turn::kDecode) decoding.push_back(one);
    }
    if (decoding.empty()) break;
    loaded.model->Decode(decoding.data(), decoding.size());
  }
  for (size_t n = 0; n < all.size(); n++) CHECK(all[n]->generated() == alone[n]);
}

// A draft changes nothing but the number of steps, right or wrong.
void ADraftChangesNothingButTheSteps() {
  const LoadedRecogniser loaded("tiny-asr-a");
  RecognitionPrompt prompt;
  std::string problem;
  CHECK(BuildPrompt(loaded.checkpoint->tokenizer(), {"", "", ""}, &prompt, &problem));
  const std::vector<float> samples = ReadClip("odd37");
  const std::vector<int32_t> right = Whole(loaded, prompt, samples);
  for (size_t wrong = 0; wrong <= right.size(); wrong++) {
    const auto stream = loaded.Stream(prompt.head);
    stream->Push(samples.data(), samples.size());
    Pass pass;
    pass.last = LastFrame::kFilled;
    pass.tail = prompt.tail;
    pass.max_new_tokens = 96;
    pass.draft = right;
    if (wrong < right.size()) pass.draft[wrong] = pass.draft[wrong] == 5 ? 6 : 5;
    CHECK(stream->BeginPass(pass));
    RunPass(*loaded.model, stream.get(), 4, 10);
    CHECK_EQ(stream->draft_taken(), wrong);
    CHECK(stream->generated() == right);
    CHECK(stream->end() == RecognitionStream::End::kEndToken);
  }
}

// Work that is dropped leaves its streams as they were.
void DroppedWorkLeavesItsStreamsAsTheyWere() {
  const LoadedRecogniser loaded("tiny-asr-a");
  RecognitionPrompt prompt;
  std::string problem;
  CHECK(BuildPrompt(loaded.checkpoint->tokenizer(), {"", "", ""}, &prompt, &problem));
  const std::vector<float> samples = ReadClip("en91");
  const std::vector<int32_t> wanted = Whole(loaded, prompt, samples);
  const auto stream = loaded.Stream(prompt.head);
  stream->Push(samples.data(), samples.size());
  RecognitionStream* const one = stream.get();
  RecognitionWork work(*loaded.model);
  for (size_t pieces = 1; pieces < 14; pieces++) {
    Pass pass;
    pass.last = LastFrame::kFilled;
    pass.tail = prompt.tail;
    pass.max_new_tokens = 96;
    CHECK(stream->BeginPass(pass));
    for (size_t n = 0; n < pieces; n++) {
      if (!work.busy() && !work.Encode(&one, 1, 2)) work.Prefill(&one, 1, 60);
      work.Advance();
    }
    work.Drop();
    CHECK(stream->BeginPass(pass));
    RunPass(*loaded.model, one);
    CHECK(stream->generated() == wanted);
  }
}

void TooLittleSoundIsNoPass() {
  const LoadedRecogniser loaded("tiny-asr-a");
  const auto stream = loaded.Stream({1, 2, 3});
  CHECK(!stream->BeginPass({}));
  const std::vector<float> samples(MelFeatures::kLeastSamples);
  stream->Push(samples.data(), samples.size() - 1);
  CHECK(!stream->BeginPass({}));
  CHECK(stream->turn() == RecognitionStream::Turn::kDone);
  stream->Push(samples.data(), 1);
  Pass least;
  least.tail = {4};
  least.max_new_tokens = 1;
  CHECK(stream->BeginPass(least));
  RunPass(*loaded.model, stream.get());
  Pass endless;
  endless.max_new_tokens = 100'000;
  bool refused = false;
  try {
    stream->BeginPass(endless);
  } catch (const std::length_error& error) {
    refused = std::string(error.what()).find("65536 positions") != std::string::npos;
  }
  CHECK(refused);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_streams) {
  using namespace parley::test;
  return Run({
      {"the reference's procedure comes out to the letter", TheReferencesProcedureComesOutToTheLetter},
      {"ours ends with the words of the whole sound", OursEndsWithTheWordsOfTheWholeSound},
      {"what was kept changes no bit", WhatWasKeptChangesNoBit},
      {"streams together give the bits of each alone", StreamsTogetherGiveTheBitsOfEachAlone},
      {"a draft changes nothing but the steps", ADraftChangesNothingButTheSteps},
      {"dropped work leaves its streams as they were", DroppedWorkLeavesItsStreamsAsTheyWere},
      {"too little sound is no pass", TooLittleSoundIsNoPass},
  });
}
