// Makes an aligner's times rise: those out of order are taken from their neighbours.
#ifndef PARLEY_MODEL_RECOGNITION_ALIGNMENT_TIMES_H_
#define PARLEY_MODEL_RECOGNITION_ALIGNMENT_TIMES_H_

#include <cstdint>
#include <vector>

namespace parley::model {

// Milliseconds, in the order of the words. What is kept is a longest subsequence that does not fall, the same
// one as that of the package qwen-asr 0.0.6 (inference/qwen3_forced_aligner.py); n log n steps.
std::vector<int64_t> RisingTimes(const std::vector<int64_t>& times);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_ALIGNMENT_TIMES_H_
