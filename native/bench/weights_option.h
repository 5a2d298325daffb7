// How benches are told of which weights a model is to be.
#ifndef PARLEY_BENCH_WEIGHTS_OPTION_H_
#define PARLEY_BENCH_WEIGHTS_OPTION_H_

#include <string>
#include <utility>

#include "model/shared/weights.h"

namespace parley::bench {

// False: it is no level's name.
inline bool ReadQuantize(const std::string& name, model::Quantize* quantize) {
  using model::Quantize;
  const std::pair<const char*, Quantize> levels[] = {{"none", Quantize::kNone},
                                                     {"int8", Quantize::kAll},
                                                     {"int8-talker", Quantize::kTalker},
                                                     {"fp8", Quantize::kFp8}};
  for (const auto& [known, level] : levels) {
    if (name == known) return *quantize = level, true;
  }
  return false;
}

}  // namespace parley::bench

#endif  // PARLEY_BENCH_WEIGHTS_OPTION_H_
