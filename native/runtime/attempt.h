// Work whose exceptions become problems to tell.
#ifndef PARLEY_RUNTIME_ATTEMPT_H_
#define PARLEY_RUNTIME_ATTEMPT_H_

#include <exception>
#include <new>

#include "runtime/result.h"

namespace parley::runtime {

inline constexpr char kMemoryIsOut[] = "memory is out";

// Returns the Result of the work; a problem if it throws.
template <class Work>
auto Attempt(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Problem{kMemoryIsOut};
  } catch (const std::exception& error) {
    return Problem{error.what()};
  }
}

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ATTEMPT_H_
