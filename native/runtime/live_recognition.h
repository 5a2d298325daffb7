// Turns of a live caller. Each turn is recognised while it is spoken, and once more when it pauses: if it
// does not go on, that text is final.
//
//   waiting ── kBegin ──▶ speaking ── kPause ──▶ paused ── kEnd ──▶ ending ── final text ──▶ waiting
//                            ▲                     │
//                            └───── kResume ───────┘
//
// Without a gate it speaks from the start. A turn of any length is a row of segments: one ends at a pause
// after eight seconds, or at a quiet place before thirty. A segment's text is fixed when it ends. While a
// turn is ending, what follows waits.
#ifndef PARLEY_RUNTIME_LIVE_RECOGNITION_H_
#define PARLEY_RUNTIME_LIVE_RECOGNITION_H_

#include <memory>
#include <string>
#include <vector>

#include "model/recognition/live_transcript.h"
#include "model/recognition/recognition_prompt.h"
#include "model/recognition/speech_energy.h"
#include "runtime/live_input.h"
#include "runtime/recognition.h"

namespace parley::runtime {

class LiveRecognition final : public Recognition {
 public:
  // Sound before the order that begins a turn, which is recognised with it.
  static constexpr size_t kPreRoll = SoundReader::kRate / 2;
  // Lengths of a segment: from which on it ends at a pause, and at the quietest place of the last five
  // seconds.
  static constexpr size_t kPauseEnds = size_t{8} * SoundReader::kRate;
  static constexpr size_t kLongest = size_t{30} * SoundReader::kRate;

  // The prompt is that of the request, without a text.
  LiveRecognition(StreamId id, RecognitionRequest request, std::string language,
                  model::RecognitionPrompt prompt, std::shared_ptr<SoundReader> reader,
                  std::shared_ptr<TextSink> sink, const RecognitionSetup& setup, Clock::time_point now);

  bool Look(Clock::time_point now, const Room& room) override;
  void Take(const PlacedOrder& order) override { input_.Add(order); }
  void AddWanted(std::vector<WantedPass>* wanted) override;
  void Advanced(model::RecognitionStream* stream, Clock::time_point now) override;
  size_t Bytes() const override;
  std::shared_ptr<TextSink> Leave(Clock::time_point now, RecognitionEnd* end) override;

 private:
  enum class State : uint8_t { kWaiting, kSpeaking, kPaused, kEnding };
  enum class PassKind : uint8_t { kNone, kPartial, kFinal };

  struct Segment {
    std::unique_ptr<model::RecognitionStream> stream;
    model::LiveTranscript transcript;
    uint64_t first = 0;             // sample of the sound at which it begins
    std::vector<float> last;        // its last samples, in which it may be cut
    size_t most_frames = SIZE_MAX;  // where it is cut
    bool is_closed = false;         // its text is wanted as a final one, whatever follows
    bool is_settled = false;        // all of it was recognised as final
    size_t recognised = 0;          // samples of the last pass
  };

  void Obey(TurnOrder order, Clock::time_point now);
  void TakeSound(const std::vector<float>& samples);
  void AddToSegment(const float* samples, size_t count);
  void OpenSegment(uint64_t first);
  void CutLongSegment();
  void BeginTurn(uint64_t first);
  void GoOn();
  void ReportIfOver(Clock::time_point now);
  void Settle(Clock::time_point now);
  void DropPass();
  bool BeginDuePass(Clock::time_point now);
  bool BeginPass(PassKind kind, Clock::time_point now);
  void CloseSegment();
  void ReportPartial();
  void ReportPause();
  RecognisedText TextSoFar() const;

  const RecognitionSetup setup_;
  const std::string language_;
  const model::RecognitionPrompt prompt_;

  LiveInput input_;
  State state_ = State::kWaiting;
  bool sound_ended_ = false;
  std::vector<float> kept_;                         // waiting: the pre-roll; paused: what came since
  uint64_t taken_ = 0;                              // samples of the sound so far
  std::vector<std::unique_ptr<Segment>> segments_;  // of the turn, that are not closed with a text
  std::vector<std::string> texts_, languages_;      // of the turn's closed segments
  uint64_t turn_ = 0, turn_first_ = 0;
  model::SpeechEnergy energy_;  // of the turn
  std::string last_text_;       // of the last turn
  std::string reported_;        // the last partial text

  PassKind pass_ = PassKind::kNone;
  size_t offered_ = 0;  // ids of its draft
  Clock::time_point pass_began_{}, next_partial_{}, final_due_{};
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_LIVE_RECOGNITION_H_
