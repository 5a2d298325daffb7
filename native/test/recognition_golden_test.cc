// Every stage of the recogniser against the golden vectors of the reference implementation.
#include <cstring>

#include "test/recognition_golden.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

std::string NameIn(Json one, const char* key) { return std::string(one.Find(key).text()); }

Values Slice(const Values& all, size_t first, size_t count) {
  return Values(all.begin() + static_cast<ptrdiff_t>(first),
                all.begin() + static_cast<ptrdiff_t>(first + count));
}

// One golden case and what its stages are computed from.
class Case {
 public:
  Case(const LoadedRecogniser& loaded, const std::string& name, const std::string& clip)
      : loaded_(loaded),
        name_(name),
        vectors_(name, "recognition"),
        prompt_(vectors_.Read<int32_t>("input_ids"), loaded.checkpoint->config().audio_pad),
        features_(loaded.model->mel()) {
    const Values samples = ReadClip(clip);
    features_.Push(samples.data(), samples.size());
    frames_ = features_.End(LastFrame::kDropped);
  }

  void Check() {
    CheckFeatures();
    CheckConvolutions();
    CheckEncoder();
    CheckDecoder();
    CheckText();
  }

 private:
  AudioEncoder& encoder() const { return loaded_.model->encoder(); }
  size_t tokens() const { return AudioTokensOf(frames_); }

  void CheckFeatures() {
    CHECK_EQ(tokens(), prompt_.audio_tokens);
    if (!vectors_.Has("mel")) return;
    const Values wanted = vectors_.ReadTransposed("mel");
    Values seen(wanted.size());
    CHECK_EQ(wanted.size(), frames_ * loaded_.model->mel().shape().bands);
    features_.Read(0, frames_, seen.data());
    double worst = 0;
    for (size_t i = 0; i < seen.size(); i++) worst = std::max(worst, std::fabs(double{seen[i]} - wanted[i]));
    CHECK(worst <= 1e-4);
  }

  // The encoder's input of all chunks.
  Values Convolved() {
    const size_t bands = loaded_.model->mel().shape().bands;
    Values features((frames_ + kChunkFrames) * bands), rows(tokens() * encoder().width());
    features_.Read(0, frames_, features.data());
    for (size_t first = 0; first < frames_; first += kChunkFrames) {
      const AudioConvolutions::Chunk chunk{
          features.data() + first * bands, std::min(size_t{kChunkFrames}, frames_ - first),
          frames_ > kChunkFrames, rows.data() + AudioTokensOf(first) * encoder().width()};
      encoder().convolutions().Run(&chunk, 1);
    }
    return rows;
  }

  void CheckConvolutions() {
    CheckNear(Convolved(), vectors_.Read("enc_in"), name_ + ": the encoder's input");
    if (vectors_.Has("enc_conv1")) CheckStages();
  }

  // [chunks, channels, bands, frames] as [frames, bands, channels] of one chunk.
  Values Plane(const std::string& name, size_t chunk) const {
    const Shape shape = vectors_.ShapeOf(name);
    const auto channels = static_cast<size_t>(shape[1]), bands = static_cast<size_t>(shape[2]),
               frames = static_cast<size_t>(shape[3]);
    const Values all = vectors_.Read(name);
    Values plane(channels * bands * frames);
    for (size_t c = 0; c < channels; c++) {
      for (size_t b = 0; b < bands; b++) {
        for (size_t t = 0; t < frames; t++) {
          plane[(t * bands + b) * channels + c] = all[((chunk * channels + c) * bands + b) * frames + t];
        }
      }
    }
    return plane;
  }

  void CheckStages() {
    AudioConvolutions& convolutions = encoder().convolutions();
    const size_t bands = loaded_.model->mel().shape().bands, width = encoder().width();
    const auto chunks = static_cast<size_t>(vectors_.ShapeOf("enc_conv1")[0]);
    const Values projected = vectors_.Read("enc_conv_out");
    for (size_t chunk = 0; chunk < chunks; chunk++) {
      const std::string what = name_ + ": chunk " + std::to_string(chunk);
      const size_t first = chunk * kChunkFrames, own = std::min(size_t{kChunkFrames}, frames_ - first);
      Values x(kChunkFrames * bands);
      features_.Read(first, own, x.data());
      size_t frames = kChunkFrames;
      for (size_t layer = 0; layer < AudioConvolutions::kLayers; layer++) {
        const size_t channels = static_cast<size_t>(loaded_.checkpoint->config().encoder.channels);
        Values y((frames + 1) / 2 * convolutions.BandsAt(layer + 1) * channels);
        convolutions.Convolve(layer, x.data(), 1, frames, y.data());
        const std::string tap = "enc_conv" + std::to_string(layer + 1);
        if (vectors_.Has(tap)) CheckNear(y, Plane(tap, chunk), what + ": " + tap);
        loaded_.kernels->Activate(Activation::kGelu, y.data(), y.size());
        x = y;
        frames = (frames + 1) / 2;
      }
      Values rows(kChunkTokens * width);
      convolutions.Project(x.data(), kChunkTokens, rows.data());
      CheckNear(rows, Slice(projected, chunk * rows.size(), rows.size()), what + ": after the projection");
    }
  }

  void CheckEncoder() {
    const Values input = vectors_.Read("enc_in"), layers = vectors_.Read("enc_layers");
    const size_t count = encoder().transformer().layers().size(), taps = layers.size() / input.size();
    std::vector<size_t> blocks;
    for (size_t first = 0; first < tokens(); first += encoder().block_tokens())
      blocks.push_back(std::min(encoder().block_tokens(), tokens() - first));
    const auto ends = vectors_.Read<int32_t>("enc_block_ends");
    CHECK_EQ(ends.size(), blocks.size() + 1);
    size_t end = 0;
    for (size_t n = 0; n < blocks.size(); n++) CHECK_EQ(ends[n + 1], static_cast<int32_t>(end += blocks[n]));
    for (size_t n = 0; n < taps; n++) {
      Values x = input;
      Attend(&x, count - taps + n + 1);
      CheckNear(x, Slice(layers, n * input.size(), input.size()),
                name_ + ": encoder layer " + std::to_string(n));
    }
    Values x = Slice(layers, layers.size() - input.size(), input.size()), normed(x.size());
    loaded_.kernels->NormRows(encoder().last_norm(), {x.data(), tokens(), normed.data()}, encoder().width());
    CheckNear(normed, vectors_.Read("enc_ln_post"), name_ + ": after ln_post");
    CheckNear(Tokens(), vectors_.Read("audio_embeds"), name_ + ": audio tokens");
  }

  Values Tokens() {
    Values rows = Convolved(), result(tokens() * encoder().output());
    Attend(&rows, encoder().transformer().layers().size());
    encoder().Project(rows.data(), tokens(), result.data());
    return result;
  }

  // Through so many layers.
  void Attend(Values* rows, size_t layers) {
    std::vector<size_t> blocks;
    for (size_t first = 0; first < tokens(); first += encoder().block_tokens())
      blocks.push_back(std::min(encoder().block_tokens(), tokens() - first));
    Transformer::Passage passage(*loaded_.kernels);
    encoder().Begin(blocks.data(), blocks.size(), rows->data(), &passage);
    encoder().transformer().Advance(&passage, layers);
  }

  void CheckDecoder() {
    TextDecoder& decoder = loaded_.model->decoder();
    std::vector<int32_t> ids = prompt_.head;
    ids.insert(ids.end(), prompt_.audio_tokens, kAudioToken);
    ids.insert(ids.end(), prompt_.tail.begin(), prompt_.tail.end());
    const Values audio = Tokens();
    Values x(ids.size() * decoder.hidden());
    KvState state(*loaded_.kernels, loaded_.checkpoint->config().decoder, Format::kF32, ids.size());
    const TextDecoder::Rows rows{&state, ids.data(), ids.size(), audio.data()};
    decoder.Embed(&rows, 1, x.data());
    if (vectors_.Has("dec_layers")) CheckDecoderLayers(x);
    decoder.Forward(&rows, 1, x.data());
    CheckNear(x, vectors_.Read("hidden"), name_ + ": hidden vectors");
    if (vectors_.Has("prefill_logits_all"))
      CheckLogits(x, ids.size(), vectors_.Read("prefill_logits_all"), "all logits of the prompt");
    CheckLogits(Slice(x, x.size() - decoder.hidden(), decoder.hidden()), 1, vectors_.Read("prefill_logits"),
                "the prompt's logits");
  }

  void CheckDecoderLayers(const Values& rows) {
    Transformer& transformer = loaded_.model->decoder().transformer();
    const Values wanted = vectors_.Read("dec_layers");
    const size_t count = rows.size() / loaded_.model->decoder().hidden();
    KvState state(*loaded_.kernels, transformer.config(), Format::kF32, count);
    const Transformer::Stream stream{&state, count};
    for (size_t n = 0; n < transformer.layers().size(); n++) {
      Values x = rows;
      transformer.ForwardLayers(&stream, 1, x.data(), n);
      CheckNear(x, Slice(wanted, n * rows.size(), rows.size()),
                name_ + ": input of layer " + std::to_string(n));
    }
  }

  void CheckLogits(const Values& hidden, size_t rows, const Values& wanted, const std::string& what) {
    TextDecoder& decoder = loaded_.model->decoder();
    std::vector<int32_t> ids(rows);
    decoder.Choose(hidden.data(), rows, ids.data());
    Values seen(rows * decoder.head_rows());
    std::copy_n(decoder.logits(), seen.size(), seen.data());
    CheckNear(seen, wanted, name_ + ": " + what);
  }

  // The whole way, with the logits of each step.
  void CheckText() {
    const auto wanted = vectors_.Read<int32_t>("generated_ids");
    const Values logits = vectors_.Read("step_logits");
    const auto stream = loaded_.Stream(prompt_.head);
    PushClip(stream.get());
    Pass pass;
    pass.tail = prompt_.tail;
    pass.max_new_tokens = 96;
    CHECK(stream->BeginPass(pass));
    CHECK_EQ(stream->audio_tokens(), prompt_.audio_tokens);
    RecognitionModel& model = *loaded_.model;
    RecognitionWork work(model);
    RecognitionStream* const one = stream.get();
    size_t steps = 0;
    const size_t vocabulary = model.decoder().head_rows();
    using Turn = RecognitionStream::Turn;
    for (Turn turn = one->turn(); turn != Turn::kDone; turn = one->turn()) {
      if (turn == Turn::kEncode) work.Encode(&one, 1, 2);
      if (turn == Turn::kPrefill) work.Prefill(&one, 1, 100);
      while (work.Advance()) continue;
      if (turn == Turn::kDecode) model.Decode(&one, 1);
      if (one->turn() == Turn::kEncode || one->turn() == Turn::kPrefill) continue;
      Values seen(model.decoder().logits(), model.decoder().logits() + vocabulary);
      CheckNear(seen, Slice(logits, steps * vocabulary, vocabulary),
                name_ + ": logits of step " + std::to_string(steps));
      steps++;
    }
    CHECK_EQ(steps, wanted.size());
    std::vector<int32_t> ids = stream->generated();
    const std::vector<int32_t>& ends = loaded_.checkpoint->ends();
    const bool ended = std::find(ends.begin(), ends.end(), wanted.back()) != ends.end();
    CHECK((stream->end() == RecognitionStream::End::kEndToken) == ended);
    if (ended) ids.push_back(wanted.back());
    CHECK(ids == wanted);
  }

  void PushClip(RecognitionStream* stream) const {
    const std::string clip(RecognitionManifest()->root().Find("cases").Find(name_).Find("clip").text());
    const Values samples = ReadClip(clip);
    stream->Push(samples.data(), samples.size());
  }

  const LoadedRecogniser& loaded_;
  const std::string name_;
  const GoldenVectors vectors_;
  const GoldenPrompt prompt_;
  MelFeatures features_;
  size_t frames_ = 0;
};

void EveryCaseComesOutAsTheReferenceHasIt() {
  const auto manifest = RecognitionManifest();
  size_t cases = 0;
  for (const char* const name : {"tiny-asr-a", "tiny-asr-b"}) {
    const LoadedRecogniser loaded(name);
    const Json all = manifest->root().Find("cases");
    for (Json one = all.first(); one.present(); one = one.next()) {
      if (NameIn(one, "model") != name) continue;
      Case(loaded, std::string(one.key()), NameIn(one, "clip")).Check();
      cases++;
    }
  }
  CHECK_EQ(cases, 19u);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_golden) {
  using namespace parley::test;
  return Run({
      {"every case comes out as the reference has it", EveryCaseComesOutAsTheReferenceHasIt},
  });
}
