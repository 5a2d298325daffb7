#include "runtime/sound_reader.h"

#include <cmath>
#include <utility>

namespace parley::runtime {
namespace {

constexpr size_t kBlockSamples = 4096;

}  // namespace

SoundReader::SoundReader(std::shared_ptr<SoundSource> source,
                         std::shared_ptr<const model::ResamplingTaps> taps)
    : source_(std::move(source)) {
  if (taps != nullptr) resampling_.emplace(std::move(taps));
}

bool SoundReader::Read(size_t most, std::vector<float>* samples, std::string* problem) {
  const size_t before = samples->size();
  while (!ended_ && samples->size() - before < most) {
    piece_.resize(kBlockSamples);
    const size_t count = source_->Read(piece_.data(), kBlockSamples);
    for (size_t n = 0; n < count; n++) {
      if (std::isfinite(piece_[n])) continue;
      *problem = "the sound's sample " + std::to_string(read_ + n) + " is no finite number";
      return false;
    }
    read_ += count;
    if (resampling_) resampling_->Push(piece_.data(), count, samples);
    else samples->insert(samples->end(), piece_.begin(), piece_.begin() + static_cast<ptrdiff_t>(count));
    if (count > 0) continue;
    ended_ = source_->Ended(problem);
    if (!problem->empty()) return false;
    if (ended_ && resampling_) resampling_->Finish(samples);
    break;
  }
  samples_ += samples->size() - before;
  return true;
}

}  // namespace parley::runtime
