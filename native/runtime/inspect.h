// Inspects a checkpoint directory without loading it: checks its files completely, but does not read its
// weights.
#ifndef PARLEY_RUNTIME_INSPECT_H_
#define PARLEY_RUNTIME_INSPECT_H_

#include <string>

#include "model/files/checkpoint.h"
#include "runtime/engine.h"

namespace parley::runtime {

// Returns the facts without device, times and sizes.
EngineFacts FactsOf(const model::Checkpoint& checkpoint);

// Returns the same facts of a directory. False with `problem` set; never throws.
bool Inspect(const std::string& directory, EngineFacts* facts, std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_INSPECT_H_
