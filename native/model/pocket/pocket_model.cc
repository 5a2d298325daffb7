#include "model/pocket/pocket_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace parley::model {
namespace {

// Rows of texts that are computed together. The number bounds the memory and changes no bit.
constexpr size_t kPrefillRows = 256;
// Rows of a voice's file that are computed together: as many as of a recording's voice.
constexpr size_t kVoiceRows = 12;

// Sets a stage's time, from when it is made until it is destroyed.
class StageTimer {
 public:
  explicit StageTimer(double* milliseconds) : milliseconds_(milliseconds) {}
  ~StageTimer() {
    *milliseconds_ = std::chrono::duration<double, std::milli>(Steady::now() - begin_).count();
  }

 private:
  using Steady = std::chrono::steady_clock;

  double* const milliseconds_;
  const Steady::time_point begin_ = Steady::now();
};

}  // namespace

PocketModel::PocketModel(SpeechKernels& kernels, const PocketCheckpoint& checkpoint,
                         const PocketModelOptions& options)
    : kernels_(kernels),
      config_(checkpoint.config().backbone),
      latent_(static_cast<size_t>(checkpoint.config().latent)),
      cache_(options.cache),
      backbone_(kernels, checkpoint, options.activation, options.backbone),
      flow_(kernels, checkpoint, options.flow_steps),
      workspace_(kernels) {}

std::shared_ptr<const KvState> PocketModel::LoadVoice(const PocketVoice& voice) {
  std::shared_ptr<KvState> state = NewVoice(voice.positions());
  if (voice.rows().empty()) {
    voice.CopyTo(kernels_, state.get());
    return state;
  }
  for (size_t done = 0; done < voice.positions(); done += kVoiceRows) {
    const size_t some = std::min(kVoiceRows, voice.positions() - done);
    AppendVoice(state.get(), voice.rows().data() + done * backbone_.width(), some);
  }
  return state;
}

void PocketModel::AppendVoice(KvState* voice, const float* rows, size_t count) {
  const size_t floats = count * backbone_.width();
  float* const x = workspace_.Floats(floats);
  kernels_.Upload(x, rows, floats * sizeof(float));
  backbone_.Append(voice, x, count);
  kernels_.Wait();
}

size_t PocketModel::StreamBytes(size_t positions) const {
  return KvState::BytesOf(config_, cache_, positions);
}

std::unique_ptr<PocketStream> PocketModel::BeginStream(const KvState& voice, size_t positions,
                                                       const PocketStreamOptions& options) const {
  const auto spoken = static_cast<size_t>(voice.position());
  auto state = backbone_.NewState(spoken + positions, cache_);
  state->CopyFrom(voice, spoken);
  return std::make_unique<PocketStream>(std::move(state), options, latent_);
}

void PocketModel::Prefill(PocketStream* const* streams, size_t count, size_t rows) {
  while (rows > 0) {
    const size_t most = std::min(rows, kPrefillRows);
    piece_.clear();
    ids_.clear();
    for (size_t s = 0; s < count && ids_.size() < most; s++) {
      PocketStream& stream = *streams[s];
      const size_t take = std::min(stream.prompt_left(), most - ids_.size());
      if (take == 0) continue;
      const auto begin = stream.ids_.begin() + static_cast<ptrdiff_t>(stream.prompt_done_);
      ids_.insert(ids_.end(), begin, begin + static_cast<ptrdiff_t>(take));
      piece_.push_back({stream.state_.get(), take});
      stream.prompt_done_ += take;
    }
    if (ids_.empty()) return;
    backbone_.AppendText(piece_.data(), piece_.size(), ids_);
    kernels_.Wait();
    rows -= ids_.size();
  }
}

void PocketModel::Step(PocketStream* const* streams, size_t count, LatentResult* results, float* latents) {
  Arrange(streams, count, results);
  if (places_.empty()) return;
  Compute();
  for (size_t n = 0; n < places_.size(); n++) {
    const size_t index = places_[n].index;
    results[index] =
        Finish(*places_[n].stream, eos_[n], made_.data() + n * latent_, latents + index * latent_);
  }
}

// Fills places_, and the latents and the noise that they are computed from.
void PocketModel::Arrange(PocketStream* const* streams, size_t count, LatentResult* results) {
  for (size_t i = 0; i < count; i++) {
    if (streams[i]->noise_ == nullptr) throw std::logic_error("a stream cannot step before its chunk began");
    if (streams[i]->prompt_left() > 0)
      throw std::logic_error("a stream cannot step before its text was computed");
  }
  places_.clear();
  states_.clear();
  for (size_t i = 0; i < count; i++) {
    PocketStream& stream = *streams[i];
    const bool found = stream.rule_.first_end().has_value();
    results[i] = stream.broken_ ? LatentResult::kBroken : found ? LatentResult::kEnd : LatentResult::kBudget;
    if (stream.broken_ || stream.Done()) continue;
    places_.push_back({&stream, i});
    states_.push_back(stream.state_.get());
  }
  const size_t floats = places_.size() * latent_;
  fed_.resize(2 * floats);
  for (size_t n = 0; n < places_.size(); n++) {
    const PocketStream& stream = *places_[n].stream;
    const float* const last = stream.frames() > 0 ? stream.last_.data() : backbone_.BosLatent();
    std::copy_n(last, latent_, fed_.data() + n * latent_);
    stream.noise_->Draw(stream.frames(), fed_.data() + floats + n * latent_, latent_);
  }
}

void PocketModel::Compute() {
  const size_t count = places_.size(), floats = count * latent_;
  const auto [fed, hidden, eos] = workspace_.Parts<3>({2 * floats, count * backbone_.width(), count});
  made_.resize(floats);
  eos_.resize(count);
  kernels_.Upload(fed, fed_.data(), 2 * floats * sizeof(float));
  {
    const StageTimer timer(&times_.backbone);
    backbone_.Step(states_.data(), count, fed, hidden, eos);
  }
  const StageTimer timer(&times_.flow);
  flow_.Sample(hidden, count, fed + floats);
  kernels_.Download(eos_.data(), eos, count * sizeof(float));
  kernels_.Download(made_.data(), fed + floats, floats * sizeof(float));
  kernels_.Wait();
}

LatentResult PocketModel::Finish(PocketStream& stream, float eos, const float* made, float* latent) const {
  const bool finite =
      std::isfinite(eos) && std::all_of(made, made + latent_, [](float x) { return std::isfinite(x); });
  stream.broken_ = !finite;
  if (!finite) return LatentResult::kBroken;
  if (!stream.rule_.Take(eos > stream.options_.end_threshold)) return LatentResult::kEnd;
  std::copy_n(made, latent_, stream.last_.data());
  std::copy_n(made, latent_, latent);
  return LatentResult::kFrame;
}

}  // namespace parley::model
