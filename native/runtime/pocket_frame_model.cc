#include "runtime/pocket_frame_model.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "model/pocket/pocket_voice.h"
#include "runtime/pocket_voice_work.h"
#include "runtime/stopwatch.h"

namespace parley::runtime {
namespace {

constexpr size_t kUsualChunkPositions = 300;  // of a chunk of usual length
constexpr float kUsualTemperature = 0.3f;
constexpr const char* kVoiceFolder = "/embeddings/";
constexpr const char* kVoiceFile = ".safetensors";

PocketGeneration& PocketOf(Generation& generation) { return static_cast<PocketGeneration&>(generation); }

// Names of the voices whose files are in the folder, in order.
std::vector<std::string> VoicesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory + kVoiceFolder, none)) {
    if (entry.path().extension() == kVoiceFile) names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

EngineFacts FactsOf(const model::PocketCheckpoint& checkpoint, const std::string& directory) {
  const model::PocketConfig& config = checkpoint.config();
  EngineFacts facts;
  facts.model_type = "pocket";
  facts.model_size = std::to_string(config.backbone.layers) + " layers";
  facts.sample_rate = static_cast<uint32_t>(config.codec.sample_rate);
  for (std::string& name : VoicesIn(directory)) {
    std::string problem;
    const bool fits =
        model::PocketVoice::Fits(directory + kVoiceFolder + name + kVoiceFile, config.backbone, &problem);
    if (fits) {
      facts.speakers.push_back(std::move(name));
    } else {
      facts.voice_problems.push_back(std::move(problem));
    }
  }
  facts.takes_recording = checkpoint.clones();
  return facts;
}

Result<std::unique_ptr<FrameModel>> PocketFrameModel::Make(
    std::unique_ptr<const model::PocketCheckpoint> checkpoint, const std::string& directory,
    const Parts& parts, size_t memory, SpeechKernels& kernels) {
  const model::PocketCheckpoint& files = *checkpoint;
  try {
    std::unique_ptr<PocketFrameModel> model(
        new PocketFrameModel(kernels, std::move(checkpoint), directory, parts, memory));
    std::string problem;
    if (files.Changed(&problem)) return Problem{problem};
    return model;
  } catch (const std::invalid_argument& error) {
    return Problem{directory + ": " + error.what()};
  }
}

PocketFrameModel::PocketFrameModel(SpeechKernels& kernels,
                                   std::unique_ptr<const model::PocketCheckpoint> checkpoint,
                                   const std::string& directory, const Parts& parts, size_t memory)
    : kernels_(kernels),
      checkpoint_(std::move(checkpoint)),
      directory_(directory),
      memory_(memory),
      speech_(kernels_, *checkpoint_, {Activation::kGeluTanh, parts.backbone, parts.cache, 1}),
      codec_(kernels_, *checkpoint_, Activation::kGeluTanh, parts.codec),
      voices_(std::max(parts.max_voices, size_t{1})),
      facts_(FactsOf(*checkpoint_, directory)) {
  if (checkpoint_->clones()) {
    encoder_ = std::make_unique<model::PocketVoiceEncoder>(kernels_, *checkpoint_, Activation::kGeluTanh);
    facts_.weight_bytes = encoder_->WeightBytes();
  }
  facts_.device = kernels_.Name();
  facts_.device_memory = kernels_.Figures().memory_total;
  facts_.weight_bytes += speech_.WeightBytes() + codec_.WeightBytes();
  facts_.stream_bytes = speech_.StreamBytes(kUsualChunkPositions) + codec_.StateBytes();
}

void PocketFrameModel::CheckFiles() const {
  std::string problem;
  if (kernels_.ReadsHostMemory() && checkpoint_->Changed(&problem)) throw BackendLost(problem);
}

size_t PocketFrameModel::FreeBytes() const {
  const size_t left = memory_ - std::min(memory_, facts_.weight_bytes);
  const BackendFigures figures = kernels_.Figures();
  // Other models may need some meanwhile.
  return figures.memory_total > 0 ? std::min(left, figures.memory_free / 4 * 3) : left;
}

Result<std::shared_ptr<Voice>> PocketFrameModel::FindVoice(const std::shared_ptr<const Recording>& recording,
                                                           bool work) {
  if (encoder_ == nullptr) return Problem{"this model of Pocket TTS takes no recording"};
  std::shared_ptr<Voice> kept = voices_.Find(recording->hash);
  if (kept != nullptr || !work) return kept;
  const Stopwatch watch(&times_.voice);
  auto made = voices_.Make(recording->hash,
                           [&] { return std::make_unique<PocketVoiceWork>(*encoder_, speech_, recording); });
  if (made && *made != nullptr) CheckFiles();
  return made;
}

size_t PocketFrameModel::WorkBytesOf(const Recording& recording) const {
  if (encoder_ == nullptr || voices_.works()) return 0;
  return PocketVoiceWork::BytesFor(*encoder_, speech_, recording);
}

Result<std::shared_ptr<Voice>, Refusal> PocketFrameModel::VoiceNamed(const std::string& name) {
  if (name.empty()) return BadRequest("the request has neither a voice's name nor a recording");
  const std::string file = kVoiceFolder + name + kVoiceFile;
  std::shared_ptr<Voice> kept = voices_.Find(file);
  if (kept != nullptr) return kept;
  const auto& names = facts_.speakers;
  // The name comes from a client: it becomes a path only if it is one of the folder's.
  if (std::find(names.begin(), names.end(), name) == names.end())
    return BadRequest("there is no voice \"" + name + "\"");
  std::string problem;
  const auto opened = model::PocketVoice::Open(directory_ + file, checkpoint_->config().backbone, &problem);
  if (opened == nullptr) return Refusal{Outcome::kFailed, problem};
  auto voice = std::make_shared<PocketVoiceState>();
  voice->state = speech_.LoadVoice(*opened);
  voice->bytes = speech_.StreamBytes(voice->state->capacity());
  voices_.Keep(file, voice);
  return std::shared_ptr<Voice>(std::move(voice));
}

Result<std::unique_ptr<Generation>, Refusal> PocketFrameModel::Read(const SpeechRequest& request,
                                                                    std::shared_ptr<Voice> voice) {
  if (voice == nullptr) {
    auto named = VoiceNamed(request.speaker);
    if (!named) return named.reason();
    voice = std::move(*named);
  }
  // The generation holds the voice as a whole, so that the store knows that it is used.
  const auto& made = static_cast<const PocketVoiceState&>(*voice);
  const std::shared_ptr<const model::KvState> state(voice, made.state.get());
  const double usual = checkpoint_->config().default_temperature.value_or(kUsualTemperature);
  const float stated = request.temperature < 0 ? static_cast<float>(usual) : request.temperature;
  const float temperature = request.greedy ? 0 : stated;
  if (!(temperature <= model::DrawnNoise::kMaxTemperature)) return BadRequest("temperature is at most 100");
  auto generation = std::make_unique<PocketGeneration>(*checkpoint_, state, temperature, request);
  const auto added = generation->AddText(request.text, !request.more_text);
  if (!added) return added.reason();
  return generation;
}

size_t PocketFrameModel::BytesOf(const Generation& generation, size_t) const {
  const auto& one = static_cast<const PocketGeneration&>(generation);
  return speech_.StreamBytes(static_cast<size_t>(one.voice().position()) + one.positions()) +
         codec_.StateBytes();
}

void PocketFrameModel::Begin(Generation& generation, size_t draws) {
  CheckFiles();
  PocketOf(generation).Begin(speech_, draws);
}

void PocketFrameModel::Prefill(Generation* const* generations, size_t count, size_t rows) {
  const Stopwatch watch(&times_.prefill);
  streams_.clear();
  for (size_t n = 0; n < count; n++) streams_.push_back(PocketOf(*generations[n]).stream());
  speech_.Prefill(streams_.data(), count, rows);
  CheckFiles();
}

void PocketFrameModel::Step(Generation* const* generations, size_t count, FrameResult* results) {
  streams_.clear();
  for (size_t n = 0; n < count; n++) {
    const PocketGeneration& one = PocketOf(*generations[n]);
    if (one.has_draws()) streams_.push_back(one.stream());
  }
  made_.resize(streams_.size());
  latents_.resize(streams_.size() * speech_.latent());
  speech_.Step(streams_.data(), streams_.size(), made_.data(), latents_.data());
  CheckFiles();
  times_.talker += speech_.last_step().backbone;
  times_.predictor += speech_.last_step().flow;
  for (size_t n = 0, at = 0; n < count; n++) {
    PocketGeneration& one = PocketOf(*generations[n]);
    results[n] = FrameResult::kBudget;
    if (!one.has_draws()) continue;
    results[n] = one.Take(made_[at], latents_.data() + at * speech_.latent(), speech_.latent(), &chunks_);
    at++;
  }
}

void PocketFrameModel::Decode(const DecodeJob* jobs, size_t count) {
  const Stopwatch watch(&times_.codec);
  std::vector<size_t> done(count);
  // A pass decodes frames of one chunk of each: the next chunk has another state.
  for (bool more = true; more;) {
    decoded_.clear();
    for (size_t n = 0; n < count; n++) {
      if (done[n] == jobs[n].frames) continue;
      const auto piece = PocketOf(*jobs[n].generation).NextPiece(jobs[n].frames - done[n], codec_);
      float* const samples = jobs[n].samples + done[n] * FrameSamples();
      decoded_.push_back({piece.state, piece.latents, piece.frames, samples});
      done[n] += piece.frames;
    }
    more = !decoded_.empty();
    if (more) codec_.Decode(decoded_.data(), decoded_.size());
  }
  CheckFiles();
}

}  // namespace parley::runtime
