// First generations that nobody hears, in English and Chinese, short and long, one and several at a time: weights
// are read in, memory grows and what a backend prepares is prepared before anybody waits for it.
#ifndef PARLEY_RUNTIME_WARM_UP_H_
#define PARLEY_RUNTIME_WARM_UP_H_

#include <string>

#include "runtime/frame_model.h"
#include "runtime/round_times.h"

namespace parley::runtime {

// A text that does not fit the model is left out. False with `problem` set, the first text's, when none is taken;
// what the model throws is passed on.
// `times` hears what rounds of several sizes took, none larger than max_streams.
bool WarmUp(FrameModel& model, size_t max_streams, MeasuredTimes* times, std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WARM_UP_H_
