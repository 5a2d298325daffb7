// Reads objects of options from JavaScript. Every mistake throws a TypeError or RangeError that names the
// field.
#ifndef PARLEY_BINDING_OPTIONS_H_
#define PARLEY_BINDING_OPTIONS_H_

#include <napi.h>

#include <string>
#include <vector>

#include "binding/arguments.h"
#include "runtime/processor.h"

namespace parley {

inline constexpr double kMostWhole = 9007199254740991.0;  // JavaScript's greatest safe integer

bool Has(const Napi::Object& object, const char* name);
// Empty if there is none.
std::string Text(const Napi::Object& object, const char* name);
size_t Count(const Napi::Object& object, const char* name, size_t otherwise, double least, double most);
Napi::Array Names(Napi::Env env, const std::vector<std::string>& names);

// The fields device, cudaFile, cudaGraphs, fullVectors, memoryBytes, memoryShare, threads, cores, numaNode.
void ReadDevice(const Napi::Object& object, runtime::DeviceOptions* options);

}  // namespace parley

#endif  // PARLEY_BINDING_OPTIONS_H_
