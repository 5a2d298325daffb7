// Reads and checks config.json of Qwen3-ASR and Qwen3-ForcedAligner.
#ifndef PARLEY_MODEL_RECOGNITION_RECOGNITION_CONFIG_H_
#define PARLEY_MODEL_RECOGNITION_RECOGNITION_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/files/json.h"
#include "model/shared/transformer.h"

namespace parley::model {

enum class RecognitionKind : uint8_t { kRecogniser, kAligner };
const char* NameOf(RecognitionKind kind);

// Mel frames of a chunk that the convolutions see at once: one second. The models' length formula has it as a
// literal (2 n_window), as it has the audio tokens that a chunk gives.
inline constexpr int64_t kChunkFrames = 100;
inline constexpr int64_t kChunkTokens = 13;

// Mel frames to audio tokens.
struct AudioEncoderConfig {
  TransformerConfig transformer;
  int64_t mel_bands = 0;
  int64_t channels = 0;      // of the convolutions
  int64_t block_tokens = 0;  // audio tokens that attend to each other
  int64_t output = 0;        // width of an audio token: the decoder's hidden size

  // Rows of the mel spectrum that three convolutions of stride 2 leave.
  int64_t bands_left() const { return (((mel_bands + 1) / 2 + 1) / 2 + 1) / 2; }
};

struct RecognitionConfig {
  RecognitionKind kind = RecognitionKind::kRecogniser;
  AudioEncoderConfig encoder;
  TransformerConfig decoder;
  int64_t vocabulary = 0;  // rows of the embedding
  int64_t head_rows = 0;   // the vocabulary, or an aligner's classes of time
  bool tied_head = false;  // the embedding is the head
  int64_t positions = 0;   // that the decoder was made for
  int32_t audio_pad = 0, audio_start = 0, audio_end = 0;
  int32_t timestamp = -1;          // aligner
  int64_t class_milliseconds = 0;  // aligner: time of a class
  std::vector<std::string> languages;
};

RecognitionConfig ReadRecognitionConfig(const ConfigReader& reader);

// Audio tokens of so many mel frames.
size_t AudioTokensOf(size_t frames);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_RECOGNITION_CONFIG_H_
