// Copies of the golden models of Pocket TTS, with changes.
#ifndef PARLEY_TEST_POCKET_COPY_H_
#define PARLEY_TEST_POCKET_COPY_H_

#include <filesystem>
#include <string>

#include "model/pocket/pocket_checkpoint.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley::test {

// A folder with the golden model and, if asked for, its voices.
inline void CopyPocket(const std::string& model, const std::string& folder, bool with_voices) {
  const std::string from = kGolden + "/pocket/" + model;
  for (const char* const name : {"/config.yaml", "/tokenizer.model", "/model.safetensors"})
    WriteAll(folder + name, ReadAll(from + name));
  if (with_voices) std::filesystem::copy(from + "/embeddings", folder + "/embeddings");
}

// Zeros in place of the encoder's first convolution, as the open repositories have them.
inline void DropEncoder(const std::string& folder) {
  std::string weights = ReadAll(folder + "/model.safetensors"), problem;
  const auto checkpoint = model::PocketCheckpoint::Open(folder, &problem);
  CHECK_EQ(problem, "");
  const model::Tensor& first = checkpoint->tensors()["mimi.encoder.model.0.conv.weight"];
  const size_t at = weights.find(std::string(reinterpret_cast<const char*>(first.data), first.bytes));
  weights.replace(at, first.bytes, std::string(first.bytes, '\0'));
  WriteAll(folder + "/model.safetensors", weights);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_POCKET_COPY_H_
