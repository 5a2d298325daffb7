// The parts of the codec decoder, each against the golden taps before and after it.
#include "kernels/kernels.h"
#include "model/speech/codebooks.h"
#include "model/speech/codec_decoder.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

constexpr size_t kFrames = 7;

// A golden checkpoint, the taps of its codec, and a pass of their seven frames from an empty state.
struct Taps {
  const std::string name;
  const std::unique_ptr<const SpeechCheckpoint> checkpoint;
  const GoldenVectors vectors;
  const std::unique_ptr<cpu::CpuKernels> kernels;
  const NamedTensors tensors;
  Weights weights;
  TailPlan plan;
  std::unique_ptr<CodecState> state;
  CodecPass pass;

  Taps(const std::string& name, const cpu::Variant& variant)
      : name(name + ", " + variant.name),
        checkpoint(OpenGolden(name)),
        vectors(name + "__codec_decode"),
        kernels(MakeKernels(variant, 2)),
        tensors(checkpoint->CodecTensors().Under("decoder")),
        weights(*kernels) {}

  const CodecDecoderConfig& config() const { return checkpoint->codec_config().decoder; }
  // Time-major, as the kernels have it.
  Values Tap(const std::string& tap) const { return vectors.ReadTransposed("n7_" + tap); }
  void Check(const Values& seen, const Values& wanted, const std::string& tap) const {
    CheckNear(seen, wanted, name + ": " + tap);
  }
  // Once every layer has its place.
  void Begin() {
    state = std::make_unique<CodecState>(*kernels, plan.floats(), config().transformer,
                                         static_cast<size_t>(config().window) + kFrames - 1);
    pass.Clear();
    pass.Add(state.get(), kFrames);
  }
};

template <class Body>
void ForEachTaps(const Body& body) {
  for (const char* model : {"tiny-customvoice", "tiny-base"}) {
    for (const cpu::Variant* variant : Variants()) {
      Taps taps(model, *variant);
      body(taps);
    }
  }
}

// Runs a stage's body with room for its signals; `x` and the result are plain.
template <class Body>
Values WithRoom(size_t floats, const Values& x, size_t wanted, const Body& body) {
  Values in(floats, NAN), y(floats, NAN), spare(floats, NAN);
  std::copy(x.begin(), x.end(), in.begin());
  body(in.data(), y.data(), spare.data());
  y.resize(wanted);
  return y;
}

void CodesBecomeTheSumOfTheirEntries() {
  ForEachTaps([](Taps& taps) {
    CodeTables tables(taps.weights, taps.tensors.Under("quantizer"), taps.config(), Format::kF32);
    const auto codes = taps.vectors.Read<int32_t>("codes_7");
    Values sums(kFrames * tables.table_width()), z(kFrames * tables.width());
    tables.Sum(*taps.kernels, codes.data(), kFrames, sums.data(), z.data());
    taps.Check(z, taps.Tap("quantized"), "quantized");
  });
}

void TheFirstConvolutionsAreTheReferences() {
  ForEachTaps([](Taps& taps) {
    const auto check = [&](const char* tensors, size_t rate, const char* from, const char* to) {
      const auto layer =
          CausalLayer::Load(taps.weights, taps.tensors.Under(tensors), 1, Format::kF32, &taps.plan);
      taps.Begin();
      const Values x = taps.Tap(from), wanted = taps.Tap(to);
      Values room(layer.InputFloats(taps.pass, rate), NAN), y(wanted.size(), NAN);
      layer.Run(*taps.kernels, taps.pass, rate, x.data(), room.data(), y.data());
      taps.Check(y, wanted, to);
    };
    check("pre_conv.conv", 1, "quantized", "pre_conv");
    check("decoder.0.conv", 4, "upsample1", "dec0");
  });
}

void TheTransformerReplacesItsInput() {
  ForEachTaps([](Taps& taps) {
    LatentTransformer transformer(*taps.kernels, taps.weights, taps.tensors.Under("pre_transformer"),
                                  taps.config(), Format::kF32);
    taps.Begin();
    Values x = taps.Tap("pre_conv"), hidden(kFrames * transformer.hidden());
    transformer.Run(*taps.kernels, taps.pass, true, x.data(), hidden.data());
    taps.Check(x, taps.vectors.Read("n7_pre_transformer"), "pre_transformer");
    CHECK_EQ(taps.state->keys().position(), kFrames);
  });
}

void EachUpsamplingStageIsTheReferences() {
  ForEachTaps([](Taps& taps) {
    size_t rate = 1;
    for (size_t n = 0; n < 2; n++) {
      const auto ratio = static_cast<size_t>(taps.config().upsampling_ratios[n]);
      const UpsampleStage stage(taps.weights, taps.tensors.Under("upsample", n), ratio, Format::kF32,
                                &taps.plan);
      taps.Begin();
      const Values x = n == 0 ? taps.vectors.Read("n7_pre_transformer") : taps.Tap("upsample0");
      const size_t floats = stage.Floats(taps.pass, rate);
      if (n == 0) {
        const Values wanted = taps.Tap("upsample0_conv");
        taps.Check(WithRoom(floats, x, wanted.size(),
                            [&](float* in, float* y, float* spare) {
                              stage.expansion().Run(*taps.kernels, taps.pass, rate, in, spare, y);
                            }),
                   wanted, "upsample0_conv");
      }
      const std::string tap = "upsample" + std::to_string(n);
      const Values wanted = taps.Tap(tap);
      taps.Check(WithRoom(floats, x, wanted.size(),
                          [&](float* in, float* y, float* spare) {
                            stage.Run(*taps.kernels, taps.pass, rate, in, y, spare);
                          }),
                 wanted, tap);
      rate *= ratio;
    }
  });
}

void EachBlockIsTheReferences() {
  ForEachTaps([](Taps& taps) {
    size_t rate = 4;
    for (size_t n = 1; n <= 2; n++) {
      const auto upsampling = static_cast<size_t>(taps.config().upsample_rates[n - 1]);
      const DecoderBlock block(taps.weights, taps.tensors.Under("decoder", n), upsampling, Format::kF32,
                               &taps.plan);
      taps.Begin();
      const Values x = taps.Tap("dec" + std::to_string(n - 1)), wanted = taps.Tap("dec" + std::to_string(n));
      const size_t floats = block.Floats(taps.pass, rate);
      taps.Check(WithRoom(floats, x, wanted.size(),
                          [&](float* in, float* y, float* spare) {
                            block.Run(*taps.kernels, taps.pass, rate, in, y, spare);
                          }),
                 wanted, "dec" + std::to_string(n));
      rate *= upsampling;
    }
  });
}

void TheBeginningOfTheFirstBlockIsTheReferences() {
  ForEachTaps([](Taps& taps) {
    const auto upsampling = static_cast<size_t>(taps.config().upsample_rates[0]);
    const DecoderBlock block(taps.weights, taps.tensors.Under("decoder", 1), upsampling, Format::kF32,
                             &taps.plan);
    const auto snake = SnakeWeights::Load(taps.weights, taps.tensors.Under("decoder", 1).Under("block.0"));
    taps.Begin();
    const Values x = taps.Tap("dec0"), wanted = taps.Tap("dec1_tconv");
    Values waved(x.size());
    taps.kernels->Snake(x.data(), snake.a, snake.b, 4 * kFrames, block.expansion().channels(), waved.data());
    taps.Check(waved, taps.Tap("dec1_snake"), "dec1_snake");
    taps.Check(WithRoom(block.Floats(taps.pass, 4), x, wanted.size(),
                        [&](float* in, float* y, float* spare) {
                          block.Expand(*taps.kernels, taps.pass, 4, in, y, spare);
                        }),
               wanted, "dec1_tconv");
  });
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(codec_stages) {
  using namespace parley::test;
  return Run({
      {"codes become the sum of their entries", CodesBecomeTheSumOfTheirEntries},
      {"the first convolutions are the reference's", TheFirstConvolutionsAreTheReferences},
      {"the transformer replaces its input", TheTransformerReplacesItsInput},
      {"each upsampling stage is the reference's", EachUpsamplingStageIsTheReferences},
      {"the beginning of the first block is the reference's", TheBeginningOfTheFirstBlockIsTheReferences},
      {"each block is the reference's", EachBlockIsTheReferences},
  });
}
