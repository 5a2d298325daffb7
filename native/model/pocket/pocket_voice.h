// A voice of Pocket TTS: the keys and values that the backbone made of somebody's sound, before any text, or
// the rows that it makes them of.
#ifndef PARLEY_MODEL_POCKET_POCKET_VOICE_H_
#define PARLEY_MODEL_POCKET_POCKET_VOICE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "model/shared/transformer.h"

namespace parley::model {

class PocketVoice {
 public:
  static constexpr size_t kMaxPositions = 4096;

  // A published file: per layer "transformer.layers.N.self_attn/cache" [2, 1, positions, heads, head_dim] F32
  // with the rotated keys and the values, and "offset" (or in older files the length of "current_end"), which
  // counts the positions that hold something. Files of the first release have rows instead, which the
  // backbone has not seen: "audio_prompt" [1, positions, width] F32. Null with `problem` set, which begins
  // with the path.
  static std::unique_ptr<const PocketVoice> Open(const std::string& path, const TransformerConfig& backbone,
                                                 std::string* problem);
  // True if the file has the tensors that Open needs. It reads none of their numbers, which Open checks as
  // well. False with `problem` set.
  static bool Fits(const std::string& path, const TransformerConfig& backbone, std::string* problem);

  size_t positions() const { return positions_; }
  // [positions, width] of a file of the first release; else empty.
  const std::vector<float>& rows() const { return rows_; }
  // Writes it into an empty state of the backbone, which then stands behind it. Throws std::length_error if
  // the state has less room, std::logic_error for rows.
  void CopyTo(Kernels& kernels, KvState* state) const;

 private:
  PocketVoice() = default;
  // Without `numbers` the voice has none.
  static std::unique_ptr<const PocketVoice> Read(const std::string& path, const TransformerConfig& backbone,
                                                 bool numbers, std::string* problem);

  size_t positions_ = 0;
  // Keys, then values, of every layer: [positions, heads, head_dim]; keys in the order of the kernels.
  std::vector<std::vector<float>> arrays_;
  std::vector<float> rows_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_VOICE_H_
