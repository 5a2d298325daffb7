// Work whose exceptions become problems to tell.
#ifndef PARLEY_RUNTIME_ATTEMPT_H_
#define PARLEY_RUNTIME_ATTEMPT_H_

#include <exception>
#include <new>
#include <string>

namespace parley::runtime {

inline constexpr char kMemoryIsOut[] = "memory is out";

// Returns what the work returns; false with `problem` set if it throws.
template <class Work>
bool Attempt(const Work& work, std::string* problem) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    *problem = kMemoryIsOut;
  } catch (const std::exception& error) {
    *problem = error.what();
  }
  return false;
}

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ATTEMPT_H_
