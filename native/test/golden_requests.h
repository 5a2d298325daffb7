// The golden requests spoken by an engine, and compared with the golden waveforms.
#ifndef PARLEY_TEST_GOLDEN_REQUESTS_H_
#define PARLEY_TEST_GOLDEN_REQUESTS_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/golden_engine.h"

namespace parley::test {

inline double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (size_t n = 0; n < a.size(); n++) worst = std::max(worst, std::fabs(static_cast<double>(a[n]) - b[n]));
  return worst;
}

inline std::unique_ptr<const model::JsonDocument> GoldenManifest() {
  std::string problem;
  return model::JsonDocument::Parse(ReadAll(kGolden + "/vectors/manifest.json"), &problem);
}

// As a caller would: text that is given frame by frame comes after the start. A voice by example reads
// its text so in any case; the two cases that do otherwise are the model's own tests.
inline bool SpokenByTheEngine(model::Json one) {
  return !(one.Find("ref_wave").present() && one.Find("request").Find("non_streaming_mode").boolean());
}

inline const std::vector<float>& DecodedOnce(const GoldenCase& golden) {
  static std::map<std::string, std::vector<float>> decoded;
  std::vector<float>& samples = decoded[golden.name];
  if (samples.empty()) samples = DecodedCodes(golden);
  return samples;
}

inline void CheckGoldenRequest(Engine& engine, model::Json one) {
  SpeechRequest request = GoldenRequest(one);
  const bool whole = one.Find("request").Find("non_streaming_mode").boolean();
  const bool comes_later = one.Find("model").text() != "tiny-base" && !whole;
  const std::string text = request.text;
  if (comes_later) {
    request.text.clear();
    request.more_text = true;
  }
  const auto listener = std::make_shared<Listener>();
  const StreamId id = engine.Start(request, listener);
  if (comes_later) engine.AddText(id, text, true);
  const StreamEnd end = listener->AwaitEnd();
  const GoldenCase& golden = GoldenCaseNamed(std::string(one.key()));
  CHECK_EQ(std::string(NameOf(end.outcome)) + " " + end.problem.substr(0, 2),
           golden.stopped_on_eos ? "done " : "budget no");
  CHECK_EQ(end.frames, golden.codes.size() / 16);
  // Bit for bit: the same codes, and no cut between chunks can be heard.
  CHECK_EQ(LargestDifference(listener->samples(), DecodedOnce(golden)), 0.0);
  if (golden.vectors->Has("waveform")) {
    CHECK(LargestDifference(listener->samples(), golden.vectors->Read("waveform")) <= 1e-5);
  }
}

using EngineOpener = std::function<std::unique_ptr<Engine>(const std::string& model)>;

// All of them, each spoken by the engine of its model.
inline void CheckGoldenRequests(const EngineOpener& open) {
  const auto manifest = GoldenManifest();
  std::map<std::string, std::unique_ptr<Engine>> engines;
  size_t spoken = 0, waveforms = 0;
  for (model::Json one = manifest->root().Find("cases").first(); one.present(); one = one.next()) {
    if (!SpokenByTheEngine(one)) continue;
    auto& engine = engines[std::string(one.Find("model").text())];
    if (!engine) engine = open(std::string(one.Find("model").text()));
    const int before = OwnFailures();
    CheckGoldenRequest(*engine, one);
    if (OwnFailures() != before) std::fprintf(stderr, "    in %s\n", std::string(one.key()).c_str());
    spoken++;
    waveforms += GoldenCaseNamed(std::string(one.key())).vectors->Has("waveform");
  }
  CHECK_EQ(spoken, size_t{11});
  CHECK_EQ(waveforms, size_t{2});
}

}  // namespace parley::test

#endif  // PARLEY_TEST_GOLDEN_REQUESTS_H_
