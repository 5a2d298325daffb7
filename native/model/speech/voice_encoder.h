// Turns a reference recording into a voice by example: the speaker's vector, and the recording's codes. Only
// for checkpoints of ModelType::kBase.
//
//   Prepare -> Advance, ..., by any thread  ->  Begin -> Advance, ..., by the thread that calls the backend
//
// The caller must provide one channel (several are mixed by their mean), samples with a full scale of 1, and
// the recording's true rate. Files are decoded elsewhere.
#ifndef PARLEY_MODEL_VOICE_ENCODER_H_
#define PARLEY_MODEL_VOICE_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/preparation.h"
#include "model/shared/weights.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

// A recording on its way to a voice, piece by piece, so that streams which speak can take their
// steps in between. The encoder outlives it.
class VoiceEncoding {
 public:
  ~VoiceEncoding();

  // One piece of the work: what costs kPieceCost of the speaker encoder, which goes through the whole
  // recording layer by layer, or CodecEncoder::kPieceFrames through the codec encoder. False: there is
  // nothing left. Throws std::bad_alloc, after which this is good for nothing but to be destroyed.
  bool Advance();

  // Once Advance() returned false.
  const std::vector<float>& speaker() const { return speaker_; }
  const std::vector<int32_t>& codes() const;  // [frames, code_groups]; none without codes

 private:
  friend class VoiceEncoder;
  struct Runs;
  VoiceEncoding(std::vector<float> samples);

  const std::vector<float> samples_;
  std::unique_ptr<Runs> runs_;
  std::vector<float> speaker_;
};

class VoiceEncoder {
 public:
  static constexpr size_t kMaxSeconds = 60;
  static constexpr uint32_t kMinRate = 4000, kMaxRate = 192'000;  // Hz
  // Lower bound for the loudest sample: -80 dB is the level of an input to which nothing is connected.
  static constexpr float kSilence = 1e-4f;
  // Above full scale by more than a filter overshoots: samples of another scale.
  static constexpr float kLoudest = 2;

  static RecordingRules Rules(uint32_t sample_rate, size_t min_samples) {
    return {kMaxSeconds, kMinRate, kMaxRate, kSilence, kLoudest, sample_rate, min_samples};
  }

  // Throws std::bad_alloc, and std::invalid_argument for a checkpoint of another type.
  VoiceEncoder(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint);
  ~VoiceEncoder();

  size_t sample_rate() const;
  // Fewer samples cannot be encoded; more than max_samples() are refused, to bound the work.
  size_t min_samples() const;
  size_t max_samples() const { return kMaxSeconds * sample_rate(); }
  size_t code_groups() const;
  size_t FramesOf(size_t samples) const;  // frames of codes

  // To the recording at sample_rate(), in pieces of kPieceCost; refused are those that are empty, too short,
  // too long, silent, not finite, too loud, or of a rate out of range. The recording outlives it. Any
  // thread may call it.
  std::unique_ptr<Preparation> Prepare(const std::vector<float>& recording, uint32_t rate) const;
  // All of it at once. False with `problem` set: it is refused.
  bool Prepare(const std::vector<float>& recording, uint32_t rate, std::vector<float>* samples,
               std::string* problem) const;

  // samples: at sample_rate(). Null with `problem` set, as Prepare: they are checked once more, which takes
  // milliseconds. Throws std::bad_alloc.
  std::unique_ptr<VoiceEncoding> Begin(std::vector<float> samples, bool with_codes, std::string* problem);

  // All at once. codes: [FramesOf(samples), code_groups]
  bool Speaker(const std::vector<float>& samples, std::vector<float>* vector, std::string* problem);
  bool Codes(const std::vector<float>& samples, std::vector<int32_t>* codes, std::string* problem);

  size_t WeightBytes() const;
  // The most bytes of the backend's memory while a recording of `samples` samples is encoded, known before it
  // begins. With the published sizes 13 MB for 10 s and 75 MB for a minute. The part that works on a piece is
  // kept.
  size_t WorkBytes(size_t samples) const;

 private:
  struct Parts;
  bool Validate(const std::vector<float>& samples, std::string* problem) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_VOICE_ENCODER_H_
