#include "binding/options.h"

#include <cmath>

namespace parley {
namespace {

std::vector<int> CoresIn(const Napi::Object& object) {
  std::vector<int> cores;
  if (!Has(object, "cores")) return cores;
  if (!object.Get("cores").IsArray()) throw Napi::TypeError::New(object.Env(), "cores must be an array");
  const auto list = object.Get("cores").As<Napi::Array>();
  for (uint32_t n = 0; n < list.Length(); n++) {
    cores.push_back(static_cast<int>(Uint32In(list.Get(n), "cores[]", 0, 65'535)));
  }
  return cores;
}

}  // namespace

bool Has(const Napi::Object& object, const char* name) { return !object.Get(name).IsUndefined(); }

std::string Text(const Napi::Object& object, const char* name) {
  return Has(object, name) ? StringIn(object.Get(name), name) : "";
}

size_t Count(const Napi::Object& object, const char* name, size_t otherwise, double least, double most) {
  if (!Has(object, name)) return otherwise;
  const double value = NumberIn(object.Get(name), name, least, most);
  if (std::floor(value) != value)
    throw Napi::TypeError::New(object.Env(), std::string(name) + " must be a whole number");
  return static_cast<size_t>(value);
}

Napi::Array Names(Napi::Env env, const std::vector<std::string>& names) {
  Napi::Array list = Napi::Array::New(env, names.size());
  for (size_t n = 0; n < names.size(); n++) list.Set(static_cast<uint32_t>(n), names[n]);
  return list;
}

void ReadDevice(const Napi::Object& object, runtime::DeviceOptions* options) {
  if (Has(object, "device")) options->device = StringIn(object.Get("device"), "device");
  if (Has(object, "cudaFile")) options->cuda_file = StringIn(object.Get("cudaFile"), "cudaFile");
  if (Has(object, "cudaGraphs")) options->cuda_graphs = BooleanIn(object.Get("cudaGraphs"), "cudaGraphs");
  if (Has(object, "fullVectors")) options->full_vectors = BooleanIn(object.Get("fullVectors"), "fullVectors");
  options->memory_bytes = Count(object, "memoryBytes", options->memory_bytes, 0, kMostWhole);
  if (Has(object, "memoryShare"))
    options->memory_share = NumberIn(object.Get("memoryShare"), "memoryShare", 0, 1);
  options->threads = static_cast<unsigned>(Count(object, "threads", options->threads, 0, 256));
  options->cores = CoresIn(object);
  if (Has(object, "numaNode")) options->numa_node = static_cast<int>(Count(object, "numaNode", 0, 0, 65'535));
}

}  // namespace parley
