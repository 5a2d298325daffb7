// A first generation or two that nobody hears, in English and Chinese, short and
// long: weights are read in and memory grows before anybody waits for it.
#ifndef PARLEY_RUNTIME_WARM_UP_H_
#define PARLEY_RUNTIME_WARM_UP_H_

#include <string>

#include "runtime/frame_model.h"

namespace parley::runtime {

// A text that does not fit the model is left out. False with `problem` set, the first text's, when none is taken;
// what the model throws is passed on.
bool WarmUp(FrameModel& model, std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WARM_UP_H_
