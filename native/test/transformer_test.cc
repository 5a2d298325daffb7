// The transformer against the golden vectors of three of its users, and what
// holds however its rows are cut and batched.
#include "model/shared/transformer.h"

#include <stdexcept>

#include "model/shared/layer_weights.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

// One transformer of a golden checkpoint.
struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<Weights> weights;
  TransformerConfig config;
  std::unique_ptr<Transformer> transformer;

  explicit Loaded(const std::string& name, const cpu::Variant& variant = cpu::ChooseVariant(),
                  unsigned threads = 1)
      : checkpoint(OpenGolden(name)), kernels(MakeKernels(variant, threads)) {
    weights = std::make_unique<Weights>(*kernels);
  }

  void Use(const TransformerConfig& of, const NamedTensors& tensors, const LayerParts& parts, size_t window) {
    config = of;
    auto layers = LoadLayers(*weights, tensors, static_cast<size_t>(of.layers), parts);
    transformer = std::make_unique<Transformer>(*kernels, of, std::move(layers), Sight{window});
  }
  void UseTalker() {
    Use(checkpoint->config().talker.transformer, checkpoint->ModelTensors().Under("talker.model"),
        kQwen3Layer, 0);
  }

  size_t width() const { return static_cast<size_t>(config.hidden); }
  std::unique_ptr<KvState> State(size_t capacity, Format format = Format::kF32) const {
    return std::make_unique<KvState>(*kernels, config, format, capacity);
  }
  // x after `rows` more positions of one stream.
  Values Forward(KvState* state, Values x) const {
    const Transformer::Stream stream{state, x.size() / width()};
    transformer->Forward(&stream, 1, x.data());
    return x;
  }
};

Values RowsOf(const Values& x, size_t width, size_t first, size_t last) {
  return Values(x.begin() + static_cast<ptrdiff_t>(first * width),
                x.begin() + static_cast<ptrdiff_t>(last * width));
}

void CheckPrefill(const std::string& model, const std::string& name, const cpu::Variant& variant,
                  unsigned threads) {
  Loaded talker(model, variant, threads);
  talker.UseTalker();
  const GoldenVectors vectors(name);
  const Values rows = vectors.Read("prompt_embeds"), wanted = vectors.Read("prefill_layers");
  const size_t count = rows.size() / talker.width(), layers = static_cast<size_t>(talker.config.layers);
  CHECK_EQ(wanted.size(), (layers + 1) * rows.size());
  const auto state = talker.State(count);
  const Transformer::Stream stream{state.get(), count};
  for (size_t n = 0; n < layers; n++) {
    Values x = rows;
    talker.transformer->ForwardLayers(&stream, 1, x.data(), n);
    CheckNear(x, RowsOf(wanted, rows.size(), n, n + 1), name + ": input of layer " + std::to_string(n));
  }
  Values x = talker.Forward(state.get(), rows), normed(x.size());
  const float* const norm =
      talker.weights->Floats(talker.checkpoint->ModelTensor("talker.model.norm.weight"));
  talker.kernels->RmsNorm(x.data(), norm, count, talker.width(), static_cast<float>(talker.config.norm_eps),
                          normed.data());
  CheckNear(normed, RowsOf(wanted, rows.size(), layers, layers + 1), name + ": after the final norm");
  CHECK_EQ(state->position(), count);
}

void EveryLayerOfThePrefillIsTheReferences() {
  for (const cpu::Variant* variant : Variants()) {
    for (const unsigned threads : {1u, 2u}) {
      CheckPrefill("tiny-customvoice", "tiny-customvoice__lang_english", *variant, threads);
      CheckPrefill("tiny-base", "tiny-base__icl_text_longer", *variant, threads);
    }
  }
}

void TheCodecDecodersTransformerIsTheReferences() {
  for (const char* model : {"tiny-customvoice", "tiny-base"}) {
    Loaded codec(model);
    const CodecDecoderConfig& config = codec.checkpoint->codec_config().decoder;
    const NamedTensors tensors = codec.checkpoint->CodecTensors().Under("decoder.pre_transformer");
    codec.Use(config.transformer, tensors, kCodecDecoderLayer, static_cast<size_t>(config.window));
    const GoldenVectors vectors(model + std::string("__codec_decode"));
    const Values input = vectors.ReadTransposed("n7_pre_conv");
    const size_t width = codec.width(), latent = static_cast<size_t>(config.latent);
    Values x(7 * width), normed(x.size()), output(7 * latent);
    codec.kernels->Multiply(codec.weights->Of(tensors["input_proj.weight"]), Rows(input.data(), 7, latent),
                            {codec.weights->Floats(tensors["input_proj.bias"])}, x.data());
    x = codec.Forward(codec.State(static_cast<size_t>(config.window) + 6).get(), x);
    codec.kernels->RmsNorm(x.data(), codec.weights->Floats(tensors["norm.weight"]), 7, width,
                           static_cast<float>(codec.config.norm_eps), normed.data());
    codec.kernels->Multiply(codec.weights->Of(tensors["output_proj.weight"]), Rows(normed.data(), 7, width),
                            {codec.weights->Floats(tensors["output_proj.bias"])}, output.data());
    CheckNear(output, vectors.Read("n7_pre_transformer"), model);
  }
}

void TheCodecEncodersTransformerIsTheReferences() {
  Loaded codec("tiny-base");
  codec.Use(codec.checkpoint->codec_config().encoder->transformer,
            codec.checkpoint->CodecTensors().Under("encoder.encoder_transformer"), kCodecEncoderLayer, 0);
  for (const char* name : {"tiny-base__ref_short", "tiny-base__ref_long", "tiny-base__ref_exact"}) {
    const GoldenVectors vectors(name);
    const Values x = vectors.ReadTransposed("enc_seanet");
    CheckNear(codec.Forward(codec.State(x.size() / codec.width()).get(), x),
              vectors.ReadTransposed("enc_transformer"), name);
  }
}

void RowsInAnyPiecesGiveTheSameBits() {
  Loaded talker("tiny-base");
  talker.UseTalker();
  const Values x = RandomFloats(23 * talker.width(), 1);
  for (const Format format : {Format::kF32, Format::kBf16, Format::kF16}) {
    const Values whole = talker.Forward(talker.State(23, format).get(), x);
    for (const size_t piece : {1u, 2u, 5u, 22u}) {
      const auto state = talker.State(23, format);
      Values seen;
      for (size_t at = 0; at < 23; at += piece) {
        const Values some =
            talker.Forward(state.get(), RowsOf(x, talker.width(), at, std::min<size_t>(23, at + piece)));
        seen.insert(seen.end(), some.begin(), some.end());
      }
      CHECK(SameBits(seen, whole));
    }
  }
}

void AStreamInABatchGivesTheBitsOfOneAlone() {
  Loaded talker("tiny-customvoice");
  talker.UseTalker();
  const size_t width = talker.width(), lengths[] = {3, 17, 1, 8}, later[] = {1, 0, 4, 1};
  std::vector<std::unique_ptr<KvState>> states;
  std::vector<Transformer::Stream> first, second;
  for (size_t s = 0; s < 4; s++) {
    states.push_back(talker.State(lengths[s] + later[s]));
    first.push_back({states[s].get(), lengths[s]});
    second.push_back({states[s].get(), later[s]});
  }
  Values x = RandomFloats(29 * width, 2), y = RandomFloats(6 * width, 3);
  const Values x_before = x, y_before = y;
  talker.transformer->Forward(first.data(), 4, x.data());
  talker.transformer->Forward(second.data(), 4, y.data());
  for (size_t s = 0, at = 0, at_later = 0; s < 4; at += lengths[s], at_later += later[s], s++) {
    const auto alone = talker.State(lengths[s] + later[s]);
    CHECK(SameBits(talker.Forward(alone.get(), RowsOf(x_before, width, at, at + lengths[s])),
                   RowsOf(x, width, at, at + lengths[s])));
    CHECK(SameBits(talker.Forward(alone.get(), RowsOf(y_before, width, at_later, at_later + later[s])),
                   RowsOf(y, width, at_later, at_later + later[s])));
  }
}

void AWindowedRingSeesWhatAWholeCacheSees() {
  Loaded codec("tiny-base");
  const CodecDecoderConfig& config = codec.checkpoint->codec_config().decoder;
  const auto window = static_cast<size_t>(config.window);
  codec.Use(config.transformer, codec.checkpoint->CodecTensors().Under("decoder.pre_transformer"),
            kCodecDecoderLayer, window);
  const size_t count = 4 * window + 3, width = codec.width();
  const Values x = RandomFloats(count * width, 4);
  const Values whole = codec.Forward(codec.State(count).get(), x);
  for (const size_t piece : {size_t{1}, size_t{4}, window}) {
    const auto ring = codec.State(window + piece - 1);
    for (size_t at = 0; at < count; at += piece) {
      const size_t end = std::min(count, at + piece);
      CHECK(SameBits(codec.Forward(ring.get(), RowsOf(x, width, at, end)), RowsOf(whole, width, at, end)));
    }
  }
}

// True if so many rows are refused, with nothing touched.
bool Refused(const Loaded& of, KvState* state, size_t rows) {
  Values x = RandomFloats(rows * of.width(), 5);
  const Values before = x;
  const uint64_t position = state->position();
  const Transformer::Stream stream{state, rows};
  try {
    of.transformer->Forward(&stream, 1, x.data());
  } catch (const std::length_error&) {
    CHECK(SameBits(x, before));
    CHECK_EQ(state->position(), position);
    return true;
  }
  return false;
}

void RowsWithoutRoomAreRefused() {
  Loaded talker("tiny-customvoice");
  talker.UseTalker();
  const auto state = talker.State(5);
  CHECK(Refused(talker, state.get(), 6));
  CHECK(!Refused(talker, state.get(), 4));
  CHECK(Refused(talker, state.get(), 2));
  CHECK(!Refused(talker, state.get(), 1));
  CHECK(Refused(talker, state.get(), 1));
  state->Rewind();
  CHECK(!Refused(talker, state.get(), 5));

  Loaded codec("tiny-base");
  const CodecDecoderConfig& config = codec.checkpoint->codec_config().decoder;
  codec.Use(config.transformer, codec.checkpoint->CodecTensors().Under("decoder.pre_transformer"),
            kCodecDecoderLayer, static_cast<size_t>(config.window));
  const auto ring = codec.State(static_cast<size_t>(config.window) + 1);
  for (size_t n = 0; n < 40; n++) CHECK(!Refused(codec, ring.get(), 2));
  CHECK(Refused(codec, ring.get(), 3));
}

bool CannotBecome(KvState* state, const KvState& other, size_t positions) {
  return RefusalOf([&] { state->CopyFrom(other, positions); }) != "";
}

void ACopiedPrefixGoesOnAsTheOriginalDoes() {
  Loaded talker("tiny-customvoice");
  talker.UseTalker();
  const size_t width = talker.width();
  const Values x = RandomFloats(12 * width, 6);
  for (const Format format : {Format::kF32, Format::kBf16}) {
    const auto original = talker.State(12, format);
    const Values whole = talker.Forward(original.get(), x);
    for (const size_t positions : {5u, 12u}) {
      const auto copy = talker.State(20, format);
      copy->CopyFrom(*original, positions);
      CHECK_EQ(copy->position(), positions);
      CHECK(SameBits(talker.Forward(copy.get(), RowsOf(x, width, positions, 12)),
                     RowsOf(whole, width, positions, 12)));
    }
  }
  const auto original = talker.State(12), small = talker.State(3);
  talker.Forward(original.get(), x);
  CHECK(CannotBecome(small.get(), *original, 4));
  CHECK(CannotBecome(talker.State(20).get(), *original, 13));
}

void ARingThatWentRoundIsCopiedWholeOrNotAtAll() {
  Loaded codec("tiny-base");
  const CodecDecoderConfig& config = codec.checkpoint->codec_config().decoder;
  const auto window = static_cast<size_t>(config.window);
  codec.Use(config.transformer, codec.checkpoint->CodecTensors().Under("decoder.pre_transformer"),
            kCodecDecoderLayer, window);
  const auto ring = codec.State(window), copy = codec.State(window);
  for (size_t n = 0; n < window + 9; n++) codec.Forward(ring.get(), RandomFloats(codec.width(), n));
  copy->CopyFrom(*ring, window + 9);
  const Values x = RandomFloats(codec.width(), 7);
  CHECK(SameBits(codec.Forward(copy.get(), x), codec.Forward(ring.get(), x)));
  CHECK(CannotBecome(codec.State(window + 1).get(), *ring, window + 10));
  CHECK(CannotBecome(codec.State(window).get(), *ring, 3));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(transformer) {
  using namespace parley::test;
  return Run({
      {"every layer of the prefill is the reference's", EveryLayerOfThePrefillIsTheReferences},
      {"the codec decoder's transformer is the reference's", TheCodecDecodersTransformerIsTheReferences},
      {"the codec encoder's transformer is the reference's", TheCodecEncodersTransformerIsTheReferences},
      {"rows in any pieces give the same bits", RowsInAnyPiecesGiveTheSameBits},
      {"a stream in a batch gives the bits of one alone", AStreamInABatchGivesTheBitsOfOneAlone},
      {"a windowed ring sees what a whole cache sees", AWindowedRingSeesWhatAWholeCacheSees},
      {"rows without room are refused", RowsWithoutRoomAreRefused},
      {"a copied prefix goes on as the original does", ACopiedPrefixGoesOnAsTheOriginalDoes},
      {"a ring that went round is copied whole or not at all", ARingThatWentRoundIsCopiedWholeOrNotAtAll},
  });
}
