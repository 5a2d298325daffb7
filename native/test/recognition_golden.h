// The golden checkpoints of recogniser and aligner, their clips and vectors.
#ifndef PARLEY_TEST_RECOGNITION_GOLDEN_H_
#define PARLEY_TEST_RECOGNITION_GOLDEN_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/files/json.h"
#include "model/recognition/recognition_checkpoint.h"
#include "model/recognition/recognition_model.h"
#include "model/recognition/recognition_work.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"
#include "tools/wav_file.h"

namespace parley::test {

// A checkpoint that has to be right.
inline std::unique_ptr<const model::RecognitionCheckpoint> OpenedRecognition(
    const std::string& directory, model::RecognitionKind kind = model::RecognitionKind::kRecogniser) {
  std::string problem;
  auto checkpoint = model::RecognitionCheckpoint::Open(directory, kind, &problem);
  CHECK_EQ(problem, "");
  return checkpoint;
}

inline std::unique_ptr<const model::RecognitionCheckpoint> OpenRecognition(
    const std::string& name, model::RecognitionKind kind = model::RecognitionKind::kRecogniser) {
  return OpenedRecognition(kGolden + "/" + name, kind);
}

inline std::vector<float> ReadClip(const std::string& name) {
  const std::string file = ReadAll(kGolden + "/clips/" + name + ".wav");
  constexpr size_t kHeader = 44;
  std::vector<float> samples;
  for (size_t at = kHeader; at + 1 < file.size(); at += 2) {
    const auto low = static_cast<uint8_t>(file[at]), high = static_cast<uint8_t>(file[at + 1]);
    samples.push_back(static_cast<float>(static_cast<int16_t>(low | high << 8)) / 32768);
  }
  return samples;
}

inline std::unique_ptr<const model::JsonDocument> RecognitionManifest(
    const std::string& name = "manifest.json") {
  std::string problem;
  auto document = model::JsonDocument::Parse(ReadAll(kGolden + "/recognition/" + name), &problem);
  CHECK_EQ(problem, "");
  return document;
}

// A golden prompt, cut at its audio tokens.
struct GoldenPrompt {
  std::vector<int32_t> head, tail;
  size_t audio_tokens = 0;

  GoldenPrompt(const std::vector<int32_t>& ids, int32_t audio_pad) {
    const auto first = std::find(ids.begin(), ids.end(), audio_pad);
    const auto last = std::find_if(first, ids.end(), [&](int32_t id) { return id != audio_pad; });
    head.assign(ids.begin(), first);
    tail.assign(last, ids.end());
    audio_tokens = static_cast<size_t>(last - first);
  }
};

// A recogniser or aligner, of a golden checkpoint or another.
struct LoadedRecogniser {
  std::unique_ptr<const model::RecognitionCheckpoint> checkpoint;
  std::unique_ptr<Kernels> kernels;
  std::unique_ptr<model::RecognitionModel> model;

  explicit LoadedRecogniser(const std::string& name,
                            model::RecognitionKind kind = model::RecognitionKind::kRecogniser,
                            const cpu::Variant& variant = cpu::ChooseVariant(), unsigned threads = 1)
      : checkpoint(OpenRecognition(name, kind)), kernels(MakeKernels(variant, threads)) {
    model = std::make_unique<model::RecognitionModel>(*kernels, *checkpoint, std::nullopt);
  }
  // The decoder's matrices in this format, or without one as the files have them.
  explicit LoadedRecogniser(std::unique_ptr<const model::RecognitionCheckpoint> opened,
                            std::optional<Format> decoder = std::nullopt,
                            std::unique_ptr<Kernels> made = MakeKernels(cpu::ChooseVariant()))
      : checkpoint(std::move(opened)), kernels(std::move(made)) {
    model = std::make_unique<model::RecognitionModel>(*kernels, *checkpoint, decoder);
  }

  std::unique_ptr<model::RecognitionStream> Stream(const std::vector<int32_t>& head,
                                                   Format cache = Format::kF32) const {
    return std::make_unique<model::RecognitionStream>(*model, head, cache);
  }
};

// Runs a pass to its end, in turns of so many blocks and rows.
inline void RunPass(model::RecognitionModel& model, model::RecognitionStream* stream, size_t blocks = 4,
                    size_t rows = 256) {
  using Turn = model::RecognitionStream::Turn;
  model::RecognitionWork work(model);
  for (Turn turn = stream->turn(); turn != Turn::kDone; turn = stream->turn()) {
    if (turn == Turn::kEncode) CHECK(work.Encode(&stream, 1, blocks));
    if (turn == Turn::kPrefill) CHECK(work.Prefill(&stream, 1, rows));
    while (work.Advance()) continue;
    if (turn == Turn::kDecode) model.Decode(&stream, 1);
  }
}

}  // namespace parley::test

#endif  // PARLEY_TEST_RECOGNITION_GOLDEN_H_
