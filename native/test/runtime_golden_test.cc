// The engine against the golden requests, from text to waveform.
#include "test/golden_requests.h"

namespace parley::test {
namespace {

void EveryGoldenRequestGivesItsWaveform() {
  CheckGoldenRequests([](const std::string& model) { return GoldenEngine(model); });
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_golden) {
  using namespace parley::test;
  return Run({
      {"every golden request gives its waveform", EveryGoldenRequestGivesItsWaveform},
  });
}
