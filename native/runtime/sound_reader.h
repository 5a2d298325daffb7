// Reads the sound of a source at the recogniser's rate.
#ifndef PARLEY_RUNTIME_SOUND_READER_H_
#define PARLEY_RUNTIME_SOUND_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/shared/resampling.h"
#include "runtime/recogniser.h"

namespace parley::runtime {

// Reads a source at 16 kHz. NaN and infinity are a defect of the sound.
class SoundReader {
 public:
  static constexpr uint32_t kRate = 16'000;

  SoundReader(std::shared_ptr<SoundSource> source, std::shared_ptr<const model::ResamplingTaps> taps);

  // Appends what there is, at most about so many samples. False with `problem` set: the sound cannot be used.
  bool Read(size_t most, std::vector<float>* samples, std::string* problem);
  bool ended() const { return ended_; }
  uint64_t samples() const { return samples_; }  // of 16 kHz, so far
  uint64_t source_samples() const { return read_; }

 private:
  const std::shared_ptr<SoundSource> source_;
  std::optional<model::StreamResampling> resampling_;
  std::vector<float> piece_;
  uint64_t read_ = 0, samples_ = 0;
  bool ended_ = false;
};

inline double SecondsOf(uint64_t samples) { return static_cast<double>(samples) / SoundReader::kRate; }

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_SOUND_READER_H_
