// Sound on its way to the recogniser: at another rate, too loud, in pieces of any size.
#include "model/recognition/quiet_splits.h"
#include "model/shared/resampling.h"
#include "test/recognition_golden.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

Values Streamed(const Values& samples, uint32_t from, size_t step) {
  StreamResampling resampling(std::make_shared<ResamplingTaps>(from, 16'000));
  Values result;
  for (size_t at = 0; at < samples.size(); at += step)
    resampling.Push(samples.data() + at, std::min(step, samples.size() - at), &result);
  resampling.Finish(&result);
  return result;
}

// Signal to error in dB, without the ends.
double Ratio(const Values& seen, const Values& wanted) {
  constexpr size_t kEnds = 200;
  double signal = 0, error = 0;
  for (size_t i = kEnds; i + kEnds < wanted.size(); i++) {
    signal += double{wanted[i]} * wanted[i];
    error += (double{seen[i]} - wanted[i]) * (double{seen[i]} - wanted[i]);
  }
  return 10 * std::log10(signal / error);
}

void OtherRatesAreTheReferences() {
  const GoldenVectors vectors("resample", "recognition");
  for (const uint32_t rate : {8000u, 24'000u, 44'100u, 48'000u}) {
    const std::string name = std::to_string(rate);
    Values samples = vectors.Read("in_" + name);
    if (vectors.ShapeOf("in_" + name).size() == 2) {  // two channels
      for (size_t n = 0; n < samples.size() / 2; n++) samples[n] = (samples[2 * n] + samples[2 * n + 1]) / 2;
      samples.resize(samples.size() / 2);
    }
    const Values wanted = vectors.Read("out_" + name), seen = Streamed(samples, rate, samples.size());
    CHECK_EQ(seen.size(), wanted.size());
    CHECK(Ratio(seen, wanted) >= 50);
    for (const size_t step : {size_t{1}, size_t{160}, size_t{4001}})
      CHECK(SameBits(Streamed(samples, rate, step), seen));
  }
}

void RatesWithoutACommonDivisorAreCloseToo() {
  Values sine(47'999);
  for (size_t n = 0; n < sine.size(); n++)
    sine[n] = static_cast<float>(std::sin(2 * 3.14159265358979 * 1000 * static_cast<double>(n) / 47'999));
  const Values seen = Streamed(sine, 47'999, 1000);
  CHECK_EQ(seen.size(), 16'000u);
  Values wanted(seen.size());
  for (size_t n = 0; n < wanted.size(); n++)
    wanted[n] = static_cast<float>(std::sin(2 * 3.14159265358979 * 1000 * static_cast<double>(n) / 16'000));
  CHECK(Ratio(seen, wanted) >= 50);
  CHECK(RefusalOf([] { ResamplingTaps(0, 16'000); }) != "");
}

void ALoudSoundIsDividedByItsPeak() {
  const GoldenVectors vectors("resample", "recognition");
  Values loud = vectors.Read("loud_in");
  Level(&loud);
  const Values wanted = vectors.Read("loud_out");
  CHECK_EQ(loud.size(), wanted.size());
  CHECK(PeakError(loud, wanted) < 1e-6);
  Values quiet = {0.5f, -1};
  Level(&quiet);
  CHECK(quiet == Values({0.5f, -1}));
}

// Features of a sound that comes in pieces, and of all of it.
void FeaturesOfPiecesAreThoseOfTheWhole() {
  const LogMel mel(kRecognitionMel);
  const Values samples = ReadClip("odd37");
  for (const LastFrame last : {LastFrame::kDropped, LastFrame::kFilled}) {
    MelFeatures whole(mel);
    whole.Push(samples.data(), samples.size());
    const size_t frames = whole.End(last);
    CHECK_EQ(frames, last == LastFrame::kFilled ? (samples.size() + 159) / 160 : samples.size() / 160);
    Values wanted(frames * 128), seen(frames * 128);
    whole.Read(0, frames, wanted.data());
    MelFeatures pieces(mel);
    for (size_t at = 0; at < samples.size(); at += 777) {
      pieces.Push(samples.data() + at, std::min<size_t>(777, samples.size() - at));
      pieces.End(last);
    }
    CHECK_EQ(pieces.End(last), frames);
    pieces.Read(0, frames, seen.data());
    CHECK(SameBits(seen, wanted));
  }
}

void AKeyTellsWhatChanged() {
  const LogMel mel(kRecognitionMel);
  const Values samples = ReadClip("odd37");
  MelFeatures features(mel);
  Values quiet(samples.begin(), samples.begin() + 32'000);
  for (float& sample : quiet) sample *= 1e-4f;
  features.Push(quiet.data(), quiet.size());
  features.End(LastFrame::kFilled);
  const ChunkKey before = features.KeyOf(0);
  features.Push(quiet.data(), 16'000);
  features.End(LastFrame::kFilled);
  CHECK(features.KeyOf(0) == before);
  features.Push(samples.data(), samples.size());  // louder by 80 dB: the floor rises over what came before
  features.End(LastFrame::kFilled);
  CHECK(features.KeyOf(0) != before);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_sound) {
  using namespace parley::test;
  return Run({
      {"other rates are the reference's", OtherRatesAreTheReferences},
      {"rates without a common divisor are close, too", RatesWithoutACommonDivisorAreCloseToo},
      {"a loud sound is divided by its peak", ALoudSoundIsDividedByItsPeak},
      {"features of pieces are those of the whole", FeaturesOfPiecesAreThoseOfTheWhole},
      {"a key tells what changed", AKeyTellsWhatChanged},
  });
}
