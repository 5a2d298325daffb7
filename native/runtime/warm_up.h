// A first generation or two that nobody hears, in English and Chinese, short and
// long: weights are read in and memory grows before anybody waits for it.
#ifndef PARLEY_RUNTIME_WARM_UP_H_
#define PARLEY_RUNTIME_WARM_UP_H_

#include <string>

#include "runtime/frame_model.h"

namespace parley::runtime {

// False with `problem` set when the model cannot speak; what it throws is passed on.
bool WarmUp(FrameModel& model, std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WARM_UP_H_
