// Runs a scheduler round by round, without a thread, with a model that plays scripts on a clock that tests
// hold.
#ifndef PARLEY_TEST_SCRIPTED_DESK_H_
#define PARLEY_TEST_SCRIPTED_DESK_H_

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/frame_model.h"
#include "runtime/scheduler.h"
#include "runtime/speech_mailbox.h"
#include "runtime/voice_store.h"
#include "test/check.h"

namespace parley::test {

// The model logs the scheduler's calls and answers by its scripts.
//
// A text is a script: "name frames=5 rows=10 ...", see Script. A sample of frame n
// (from 0) is n + 1.

using namespace runtime;

struct Script {
  std::string name;
  size_t frames = 1000;  // then the end
  size_t rows = 4;       // rows of the prompt
  size_t words = 0;      // needed for its prompt, and then one a frame, if its text goes on
  size_t tokens = 1;     // tokens of its text
  std::string at, what;  // at=begin|prefill|step|decode what=memory|throw|broken|infinite
  size_t after = 0;      // frames, for at=step and at=decode
  size_t held = 0;       // frames that are held until there are so many
  size_t again = 0;      // frames that are taken back, once, by the step after them
  size_t border = 0;     // frames after which a second prompt comes
  size_t second = 4;     // rows of the second prompt
  bool refuse = false;

  explicit Script(const std::string& text) {
    std::istringstream in(text);
    in >> name;
    for (std::string word; in >> word;) {
      const std::string key = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
      if (key == "at") at = value;
      if (key == "what") what = value;
      if (key == "refuse") refuse = true;
      for (const auto& [known, number] : std::map<std::string, size_t*>{{"frames", &frames},
                                                                        {"rows", &rows},
                                                                        {"words", &words},
                                                                        {"tokens", &tokens},
                                                                        {"after", &after},
                                                                        {"held", &held},
                                                                        {"again", &again},
                                                                        {"border", &border},
                                                                        {"second", &second}}) {
        if (key == known) *number = std::stoul(value);
      }
    }
  }

  void Happens(const std::string& where) const {
    if (at != where) return;
    if (what == "memory") throw std::bad_alloc();
    if (what == "throw") throw std::runtime_error("scripted");
    if (what == "lost") throw BackendLost("the GPU fell off the bus");
  }
};

class ScriptedModel;

class ScriptedGeneration final : public Generation {
 public:
  ScriptedGeneration(ScriptedModel& model, Script script, bool more_text, std::shared_ptr<Voice> voice)
      : model_(model),
        script_(std::move(script)),
        voice_(std::move(voice)),
        ended_(!more_text),
        tokens_(script_.tokens) {
    if (more_text) tokens_ = 0;
  }
  ~ScriptedGeneration() override;

  Result<Done, Refusal> AddText(std::string_view text, bool last) override {
    if (text == "bad") return Refusal{Outcome::kBadRequest, "bad text"};
    std::istringstream in{std::string(text)};
    for (std::string word; in >> word;) tokens_++;
    ended_ = last;
    return Done{};
  }
  bool Ready() const override { return ended_ || tokens_ >= script_.words; }
  bool Starved() const override { return !ended_ && tokens_ <= script_.words + made_; }
  bool TextEnded() const override { return ended_; }
  size_t TextTokens() const override { return tokens_; }
  size_t PromptRows() const override { return script_.rows; }
  size_t PromptLeft() const override { return left_; }
  size_t Held() const override { return decoded_ == 0 && made_ < script_.held ? made_ : 0; }
  size_t TakenBack() const override { return script_.again; }

 private:
  friend class ScriptedModel;

  bool TakesBack() {
    if (was_taken_back_ || script_.again == 0 || made_ < script_.again || decoded_ > 0) return false;
    made_ = 0;
    left_ = script_.rows;
    return was_taken_back_ = true;
  }

  ScriptedModel& model_;
  const Script script_;
  const std::shared_ptr<Voice> voice_;
  bool ended_;
  size_t tokens_;
  size_t left_ = 0, draws_ = 0, made_ = 0, decoded_ = 0, bytes_ = 0;
  bool was_taken_back_ = false;
};

class ScriptedModel : public FrameModel {
 public:
  static constexpr size_t kFrameSamples = 80;  // at 1000 a second: 80 ms

  // Time by which each call advances the clock.
  Clock::duration row_time{}, step_time{}, decode_time{};
  Clock::duration stream_time{};  // added to a step for each stream in it
  size_t voice_parts = 3;         // pieces of work on a recording
  size_t most_positions = 100'000, most_draws = 50'000;
  size_t max_voices = 4;
  size_t voice_work_bytes = 0;
  std::set<std::string> bad_voices;
  bool breaks_logits = false, breaks_sound = false;  // for all generations

  std::vector<std::string> log;  // calls, with the names of their generations
  size_t bytes_in_use = 0;
  size_t generations = 0;  // there now
  TimeSource clock() {
    return [this] { return now_; };
  }
  void Pass(Clock::duration time) { now_ += time; }
  Clock::time_point now() const { return now_; }
  std::string TakeLog() {
    std::string all;
    for (const std::string& line : log) all += (all.empty() ? "" : "; ") + line;
    log.clear();
    return all;
  }

  ScriptedModel() {
    facts_.model_type = "scripted";
    facts_.sample_rate = 1000;
  }

  const EngineFacts& facts() const override { return facts_; }
  size_t FrameSamples() const override { return kFrameSamples; }
  size_t MostPositions() const override { return most_positions; }
  size_t MostDraws() const override { return most_draws; }
  size_t FreeBytes() const override { return 1'000'000; }
  StageTimes Times() const override { return {}; }
  BackendFigures Figures() const override { return {}; }
  std::vector<size_t> WarmBatches(size_t) const override { return {}; }

  Result<std::shared_ptr<Voice>> FindVoice(const std::shared_ptr<const Recording>& recording,
                                           bool work) override {
    auto voice = voices_.Find(recording->hash);
    if (voice != nullptr || !work) return voice;
    log.push_back("voice " + recording->hash);
    if (recording->hash == "memory") throw std::bad_alloc();
    if (bad_voices.count(recording->hash) > 0) return Problem{"a bad recording"};
    if (++worked_[recording->hash] < voice_parts) return nullptr;
    worked_.erase(recording->hash);
    voice = std::make_shared<Voice>();
    voice->bytes = 100;
    voices_.Keep(recording->hash, voice);
    return voice;
  }
  void DropWork() override {
    if (!worked_.empty()) log.push_back("drop");
    worked_.clear();
  }
  size_t WorkBytesOf(const Recording&) const override { return voice_work_bytes; }
  size_t Voices() const override { return voices_.size(); }
  size_t VoiceBytes() const override { return voices_.Bytes(); }
  bool ForgetVoice() override { return voices_.MakeRoom(1) > 0; }

  Result<std::unique_ptr<Generation>, Refusal> Read(const SpeechRequest& request,
                                                    std::shared_ptr<Voice> voice) override {
    Script script(request.text);
    log.push_back("read " + script.name);
    if (script.refuse) return Refusal{Outcome::kBadRequest, "refused by script"};
    script.Happens("read");
    return std::make_unique<ScriptedGeneration>(*this, std::move(script), request.more_text,
                                                std::move(voice));
  }

  size_t BytesOf(const Generation& generation, size_t draws) const override {
    return generation.PromptRows() + draws;
  }

  void Begin(Generation& generation, size_t draws) override {
    ScriptedGeneration& one = Of(generation);
    log.push_back("begin " + one.script_.name + ":" + std::to_string(draws));
    one.script_.Happens("begin");
    one.draws_ = draws;
    one.left_ = one.script_.rows;
    one.bytes_ = BytesOf(generation, draws);
    bytes_in_use += one.bytes_;
  }

  void Prefill(Generation* const* generations, size_t count, size_t rows) override {
    std::string line = "prefill";
    for (size_t n = 0; n < count && rows > 0; n++) {
      ScriptedGeneration& one = Of(*generations[n]);
      const size_t some = std::min(rows, one.left_);
      line += " " + one.script_.name + ":" + std::to_string(some);
      one.left_ -= some;
      rows -= some;
      now_ += static_cast<Clock::rep>(some) * row_time;
    }
    log.push_back(line);
    for (size_t n = 0; n < count; n++) Of(*generations[n]).script_.Happens("prefill");
    if (during_prefill) during_prefill();
  }

  void Step(Generation* const* generations, size_t count, FrameResult* results) override {
    std::string line = "step";
    for (size_t n = 0; n < count; n++) line += " " + Of(*generations[n]).script_.name;
    log.push_back(line);
    now_ += step_time + static_cast<Clock::rep>(count) * stream_time;
    for (size_t n = 0; n < count; n++) {
      ScriptedGeneration& one = Of(*generations[n]);
      if (one.left_ > 0 || one.Starved()) throw std::logic_error("a step that cannot be");
      if (one.made_ >= one.script_.after) one.script_.Happens("step");
      results[n] = FrameResult::kFrame;
      const bool is_broken = one.script_.what == "broken" && one.made_ == one.script_.after;
      if (is_broken || breaks_logits) results[n] = FrameResult::kBroken;
      else if (one.made_ == one.script_.frames) results[n] = FrameResult::kEnd;
      else if (one.made_ + 1 == one.draws_) results[n] = FrameResult::kBudget;
      else if (one.TakesBack()) results[n] = FrameResult::kAgain;
      else if (++one.made_ == one.script_.border) one.left_ = one.script_.second;
    }
  }

  void Decode(const DecodeJob* jobs, size_t count) override {
    std::string line = "decode";
    for (size_t n = 0; n < count; n++) {
      ScriptedGeneration& one = Of(*jobs[n].generation);
      line += " " + one.script_.name + ":" + std::to_string(jobs[n].frames);
      if (one.made_ - one.decoded_ < jobs[n].frames) throw std::logic_error("frames that were not made");
      for (size_t i = 0; i < jobs[n].frames * kFrameSamples; i++) {
        jobs[n].samples[i] = static_cast<float>(one.decoded_ + i / kFrameSamples + 1);
      }
      one.decoded_ += jobs[n].frames;
      const bool is_broken = one.script_.what == "infinite" && one.decoded_ > one.script_.after;
      if (is_broken || breaks_sound) jobs[n].samples[kFrameSamples / 2] = is_broken ? INFINITY : NAN;
      now_ += static_cast<Clock::rep>(jobs[n].frames) * decode_time;
    }
    log.push_back(line);
    for (size_t n = 0; n < count; n++) {
      ScriptedGeneration& one = Of(*jobs[n].generation);
      if (one.decoded_ > one.script_.after) one.script_.Happens("decode");
    }
  }

  std::function<void()> during_prefill;

 private:
  friend class ScriptedGeneration;
  static ScriptedGeneration& Of(Generation& generation) {
    return static_cast<ScriptedGeneration&>(generation);
  }

  EngineFacts facts_;
  Clock::time_point now_{std::chrono::hours(1)};
  std::map<std::string, size_t> worked_;
  VoiceStore voices_{max_voices};
};

inline ScriptedGeneration::~ScriptedGeneration() { model_.bytes_in_use -= bytes_; }

// Writes down what it hears.
class TestSink final : public SpeechSink {
 public:
  explicit TestSink(size_t room_in_frames = 1'000'000)
      : room_(room_in_frames * ScriptedModel::kFrameSamples) {}

  size_t Room() override { return room_; }
  void Write(const float* samples, size_t count) override {
    if (ended) late_calls++;
    if (throws) throw std::runtime_error("the sink is gone");
    if (count > room_) overruns++;
    room_ -= std::min(room_, count);
    chunks.push_back(count / ScriptedModel::kFrameSamples);
    for (size_t n = 0; n < count; n++) {
      if (samples[n] != static_cast<float>(written / ScriptedModel::kFrameSamples + 1)) wrong_samples++;
      written++;
    }
  }
  void Waits(bool waits) override { changes += waits ? "waits " : "works "; }
  void Ended(const StreamEnd& how) override {
    if (ended) late_calls++;
    ended = true;
    end = how;
  }

  void Play(size_t frames) { room_ += frames * ScriptedModel::kFrameSamples; }
  std::string Chunks() const {
    std::string text;
    for (const size_t chunk : chunks) text += (text.empty() ? "" : " ") + std::to_string(chunk);
    return text;
  }
  std::string EndText() const { return ended ? std::string(NameOf(end.outcome)) : "not ended"; }

  std::vector<size_t> chunks;  // frames
  size_t written = 0;          // samples
  size_t wrong_samples = 0, overruns = 0, late_calls = 0;
  bool throws = false, ended = false;
  std::string changes;  // log of Waits
  StreamEnd end;

 private:
  size_t room_;
};

using std::chrono::milliseconds;
using std::chrono::seconds;

inline SchedulerOptions Usual() {
  SchedulerOptions options;
  options.max_streams = 8;
  options.memory_bytes = 1'000'000;
  return options;
}

inline SchedulerOptions WithMemory(size_t bytes) {
  SchedulerOptions options = Usual();
  options.memory_bytes = bytes;
  return options;
}

class Desk {
 public:
  explicit Desk(SchedulerOptions options = Usual())
      : mailbox(model.clock()), scheduler(model, mailbox, Timed(std::move(options), model.clock())) {}

  StreamId Start(const std::string& script, const std::shared_ptr<TestSink>& sink,
                 SpeechRequest request = {}) {
    request.text = script;
    return mailbox.Start(std::move(request), sink);
  }
  // Due so long from now.
  StreamId StartDue(const std::string& script, const std::shared_ptr<TestSink>& sink, Clock::duration due) {
    SpeechRequest request;
    request.due = model.now() + due;
    return Start(script, sink, std::move(request));
  }
  // As above, for a reader or for the server itself; overdue after two seconds.
  StreamId StartFor(Listener listener, const std::string& script, const std::shared_ptr<TestSink>& sink) {
    SpeechRequest request;
    request.due = model.now();
    request.overdue = model.now() + seconds(2);
    request.listener = listener;
    return Start(script, sink, std::move(request));
  }
  StreamId StartOpen(const std::string& script, const std::shared_ptr<TestSink>& sink) {
    SpeechRequest request;
    request.more_text = true;
    return Start(script, sink, std::move(request));
  }
  StreamId StartVoice(const std::string& script, const std::string& hash,
                      const std::shared_ptr<TestSink>& sink) {
    auto recording = std::make_shared<Recording>();
    recording->hash = hash;
    SpeechRequest request;
    request.recording = recording;
    return Start(script, sink, std::move(request));
  }

  // Calls of the model in `count` rounds.
  std::string Rounds(size_t count) {
    while (count-- > 0) scheduler.Round();
    return model.TakeLog();
  }
  // Runs rounds until there is nothing to do, which must happen.
  std::string ToIdle() {
    size_t rounds = 0;
    while (scheduler.Round()) {
      if (++rounds == 100'000) {
        CHECK(!"it never rests");
        break;
      }
    }
    return model.TakeLog();
  }
  const EngineStats& stats() const { return scheduler.stats(); }

  ScriptedModel model;
  SpeechMailbox mailbox;
  Scheduler scheduler;

 private:
  static SchedulerOptions Timed(SchedulerOptions options, TimeSource now) {
    options.now = std::move(now);
    return options;
  }
};

inline std::shared_ptr<TestSink> Sink(size_t room_in_frames = 1'000'000) {
  return std::make_shared<TestSink>(room_in_frames);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_SCRIPTED_DESK_H_
