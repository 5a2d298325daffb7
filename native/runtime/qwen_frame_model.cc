#include "runtime/qwen_frame_model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/speech/prompt.h"
#include "model/speech/speech_stream.h"
#include "model/text/unicode.h"
#include "runtime/attempt.h"
#include "runtime/stopwatch.h"
#include "runtime/token_budget.h"

namespace parley::runtime {
namespace {

constexpr size_t kLeastPrefix = 4;  // rows that are worth keeping

QwenGeneration& Of(Generation& generation) { return static_cast<QwenGeneration&>(generation); }

}  // namespace

EngineFacts FactsOf(const model::SpeechCheckpoint& checkpoint) {
  const model::ModelConfig& config = checkpoint.config();
  EngineFacts facts;
  facts.model_type = model::NameOf(config.type);
  facts.model_size = config.size;
  facts.sample_rate = static_cast<uint32_t>(checkpoint.codec_config().sample_rate);
  facts.takes_instruction = config.takes_instruction();
  facts.takes_recording = config.type == model::ModelType::kBase;
  for (const model::Speaker& speaker : config.talker.speakers) facts.speakers.push_back(speaker.name);
  for (const model::Language& language : config.talker.languages) {
    if (!language.dialect) facts.languages.push_back(language.name);
  }
  facts.open_frames = std::min({static_cast<size_t>(config.talker.positions),
                                static_cast<size_t>(checkpoint.generation().max_new_tokens), kOpenDraws});
  return facts;
}

Result<std::unique_ptr<const model::SpeechCheckpoint>> OpenCheckpoint(const std::string& directory,
                                                                      model::PieceRule pieces) {
  std::string problem;
  auto checkpoint = model::SpeechCheckpoint::Open(directory, pieces, &problem);
  if (checkpoint == nullptr) return Problem{problem};
  return checkpoint;
}

Result<std::unique_ptr<FrameModel>> QwenFrameModel::Make(
    std::unique_ptr<const model::SpeechCheckpoint> checkpoint, const std::string& directory,
    const Parts& parts, size_t memory, SpeechKernels& kernels) {
  const model::SpeechCheckpoint& files = *checkpoint;
  try {
    std::unique_ptr<QwenFrameModel> model(new QwenFrameModel(kernels, std::move(checkpoint), parts, memory));
    std::string problem;
    if (files.Changed(&problem)) return Problem{problem};
    return model;
  } catch (const std::invalid_argument& error) {
    return Problem{directory + ": " + error.what()};
  }
}

QwenFrameModel::QwenFrameModel(SpeechKernels& kernels,
                               std::unique_ptr<const model::SpeechCheckpoint> checkpoint, const Parts& parts,
                               size_t memory)
    : kernels_(kernels),
      checkpoint_(std::move(checkpoint)),
      memory_(memory),
      speech_(std::make_unique<model::SpeechModel>(kernels_, *checkpoint_, parts.quantize, parts.cache)),
      codec_(std::make_unique<model::CodecDecoder>(kernels_, *checkpoint_, parts.codec)),
      voices_(parts.max_voices) {
  if (checkpoint_->config().type == model::ModelType::kBase) {
    encoder_ = std::make_unique<model::VoiceEncoder>(kernels_, *checkpoint_);
  }
  FillFacts();
}

QwenFrameModel::~QwenFrameModel() = default;

void QwenFrameModel::CheckFiles() const {
  std::string problem;
  if (kernels_.ReadsHostMemory() && checkpoint_->Changed(&problem)) throw BackendLost(problem);
}

void QwenFrameModel::FillFacts() {
  facts_ = FactsOf(*checkpoint_);
  facts_.device = kernels_.Name();
  facts_.device_memory = kernels_.Figures().memory_total;
  facts_.weight_bytes = speech_->WeightBytes() + codec_->WeightBytes();
  if (encoder_ != nullptr) facts_.weight_bytes += encoder_->WeightBytes();
  // A typical stream of 40 s.
  facts_.stream_bytes = speech_->StreamBytes(500) + codec_->StateBytes();
}

size_t QwenFrameModel::FreeBytes() const {
  const size_t left = memory_ - std::min(memory_, facts_.weight_bytes);
  const BackendFigures figures = kernels_.Figures();
  // Other models may need some meanwhile.
  return figures.memory_total > 0 ? std::min(left, figures.memory_free / 4 * 3) : left;
}

Result<std::shared_ptr<Voice>> QwenFrameModel::FindVoice(const std::shared_ptr<const Recording>& recording,
                                                         bool work) {
  if (encoder_ == nullptr) return Problem{"a " + facts_.model_type + " model takes no recording"};
  std::shared_ptr<Voice> kept = voices_.Find(recording->hash);
  if (kept != nullptr || !work) return kept;
  const Stopwatch watch(&times_.voice);
  auto made = voices_.Make(recording->hash,
                           [&] { return std::make_unique<QwenVoiceWork>(*encoder_, *codec_, recording); });
  if (made && *made != nullptr) CheckFiles();
  return made;
}

size_t QwenFrameModel::WorkBytesOf(const Recording& recording) const {
  if (encoder_ == nullptr || voices_.works()) return 0;
  return QwenVoiceWork::BytesFor(*encoder_, *codec_, recording);
}

bool QwenFrameModel::ForgetVoice() { return voices_.MakeRoom(1) > 0; }

// True if every prompt of the voice begins alike and that prefix is not cached yet.
bool QwenFrameModel::KeepsPrefix(const QwenGeneration& generation) const {
  const QwenVoice* const voice = generation.voice().get();
  return voice != nullptr && generation.shared_rows() >= kLeastPrefix &&
         voice->prefixes.count(generation.prefix_key()) == 0;
}

void QwenFrameModel::KeepPrefix(const QwenGeneration& generation) {
  QwenVoice& voice = *generation.voice();
  voice.prefixes[generation.prefix_key()] =
      speech_->KeepPrefix(*generation.stream(), generation.shared_rows());
  voice.bytes += speech_->PrefixBytes(generation.shared_rows());
}

Result<model::DrawRules> QwenFrameModel::RulesOf(const SpeechRequest& request) const {
  model::DrawRules rules = model::DefaultRules(checkpoint_->generation());
  SamplingRules& talker = rules.talker;
  if (!(request.temperature < 0)) talker.temperature = request.temperature;
  if (!(request.top_p < 0)) talker.top_p = request.top_p;
  if (!(request.repetition_penalty < 0)) talker.repetition_penalty = request.repetition_penalty;
  if (request.top_k >= 0) talker.top_k = static_cast<uint32_t>(request.top_k);
  talker.greedy = talker.greedy || request.greedy;
  rules.predictor.greedy = rules.predictor.greedy || request.greedy;
  rules.seed = request.seed;
  model::DrawRules whole = rules;
  std::string problem;
  if (!model::CompleteRules(checkpoint_->config(), &whole, &problem)) return Problem{problem};
  return rules;
}

Result<std::unique_ptr<Generation>, Refusal> QwenFrameModel::Read(const SpeechRequest& request,
                                                                  std::shared_ptr<Voice> voice) {
  if (encoder_ != nullptr && voice == nullptr) {
    return BadRequest("a base model needs a recording to speak like");
  }
  const Result<model::DrawRules> rules = RulesOf(request);
  if (!rules) return BadRequest(rules.problem());
  auto generation = std::make_unique<QwenGeneration>(*checkpoint_, request, *rules,
                                                     std::static_pointer_cast<QwenVoice>(std::move(voice)));
  const auto read = generation->Read(request.text);
  if (!read) return read.reason();
  return generation;
}

size_t QwenFrameModel::BytesOf(const Generation& generation, size_t draws) const {
  const auto& one = static_cast<const QwenGeneration&>(generation);
  const size_t stream = speech_->StreamBytes(one.PromptRows() + draws) + codec_->StateBytes();
  return stream + (KeepsPrefix(one) ? speech_->PrefixBytes(one.shared_rows()) : 0);
}

void QwenFrameModel::Begin(Generation& generation, size_t draws) {
  CheckFiles();
  Of(generation).Begin(*speech_, *codec_, draws);
}

void QwenFrameModel::Prefill(Generation* const* generations, size_t count, size_t rows) {
  const Stopwatch watch(&times_.prefill);
  std::vector<model::SpeechStream*> streams;
  for (size_t n = 0; n < count; n++) streams.push_back(Of(*generations[n]).stream());
  speech_->Prefill(streams.data(), count, rows);
  CheckFiles();
  for (size_t n = 0; n < count; n++) {
    const QwenGeneration& one = Of(*generations[n]);
    if (one.PromptLeft() > 0 || !KeepsPrefix(one)) continue;
    try {
      KeepPrefix(one);
    } catch (const std::bad_alloc&) {
      // Then it is computed again: it saves time, nothing else.
    }
  }
}

void QwenFrameModel::Step(Generation* const* generations, size_t count, FrameResult* results) {
  const auto groups = static_cast<size_t>(checkpoint_->config().talker.code_groups);
  std::vector<model::SpeechStream*> streams;
  for (size_t n = 0; n < count; n++) streams.push_back(Of(*generations[n]).stream());
  std::vector<model::StepResult> made(count);
  codes_.resize(count * groups);
  speech_->Step(streams.data(), count, made.data(), codes_.data());
  CheckFiles();
  times_.talker += speech_->last_step().talker;
  times_.predictor += speech_->last_step().predictor;
  for (size_t n = 0; n < count; n++) {
    switch (made[n]) {
      case model::StepResult::kFrame:
        results[n] = FrameResult::kFrame;
        break;
      case model::StepResult::kEnd:
        results[n] = FrameResult::kEnd;
        break;
      case model::StepResult::kBudget:
        results[n] = FrameResult::kBudget;
        break;
      case model::StepResult::kBroken:
        results[n] = FrameResult::kBroken;
        break;
    }
    if (made[n] != model::StepResult::kFrame) continue;
    std::vector<int32_t>& codes = Of(*generations[n]).codes();
    codes.insert(codes.end(), codes_.data() + n * groups, codes_.data() + (n + 1) * groups);
  }
}

void QwenFrameModel::Decode(const DecodeJob* jobs, size_t count) {
  const Stopwatch watch(&times_.codec);
  const auto groups = static_cast<ptrdiff_t>(checkpoint_->config().talker.code_groups);
  std::vector<model::CodecDecoder::Job> decoded;
  for (size_t n = 0; n < count; n++) {
    QwenGeneration& one = Of(*jobs[n].generation);
    decoded.push_back({one.codec(), one.codes().data(), jobs[n].frames, jobs[n].samples});
  }
  codec_->Decode(decoded.data(), count);
  CheckFiles();
  for (size_t n = 0; n < count; n++) {
    std::vector<int32_t>& codes = Of(*jobs[n].generation).codes();
    codes.erase(codes.begin(), codes.begin() + static_cast<ptrdiff_t>(jobs[n].frames) * groups);
  }
}

QwenGeneration::QwenGeneration(const model::SpeechCheckpoint& checkpoint, const SpeechRequest& request,
                               const model::DrawRules& rules, std::shared_ptr<QwenVoice> voice)
    : checkpoint_(checkpoint),
      language_(model::LowerAscii(request.language)),
      speaker_(request.speaker),
      instruction_(request.instruction),
      more_text_(request.more_text),
      rules_(rules),
      voice_(std::move(voice)),
      feed_(checkpoint.tokenizer()) {}

Result<Done, Refusal> QwenGeneration::Read(std::string_view text) {
  // No text begins with a marker: this prompt differs from every other one where the text begins.
  // It is refused for what the request says beside its text.
  auto other = BuildPrompt({checkpoint_.config().text_ids.im_start});
  if (!other) return BadRequest(other.problem());
  other_ = std::move(*other);
  const Result<> counted = CountNeeded();
  if (!counted) return BadRequest(counted.problem());
  return AddText(text, !more_text_);
}

// While the text goes on, a recording's frames stand beside text, never beside padding: that would end it.
Result<> QwenGeneration::CountNeeded() {
  if (ReferenceFrames() == 0) return Done{};
  model::MarkedText reference;
  std::string problem;
  if (!model::EncodeMarked(checkpoint_.tokenizer(), model::Template::kReference, voice_->prompt->text,
                           &reference, &problem)) {
    return Problem{problem};
  }
  const size_t rows = ReferenceFrames() + 1, spoken = reference.end - reference.begin;
  if (rows > spoken) needed_ = rows - spoken;
  return Done{};
}

size_t QwenGeneration::ReferenceFrames() const {
  if (voice_ == nullptr) return 0;
  return voice_->prompt->codes.size() / static_cast<size_t>(checkpoint_.config().talker.code_groups);
}

Result<Done, Refusal> QwenGeneration::AddText(std::string_view text, bool last) {
  const auto read = feed_.Add(text, last);
  if (!read) return BadRequest(read.problem());
  ids_.insert(ids_.end(), read->begin(), read->end());
  text_tokens_ += read->size();
  if (text_tokens_ == 0 && last) return BadRequest("the text is empty");
  if (stream_ != nullptr) {
    stream_->AddText(std::exchange(ids_, {}));
    if (last) stream_->FinishText();
    return Done{};
  }
  if (Ready() || (!last && ids_.size() < needed_)) return Done{};
  auto prompt = BuildPrompt(std::exchange(ids_, {}));
  // With another text it was good: it can only be too long.
  if (!prompt) return Refusal{Outcome::kTooLarge, prompt.problem()};
  prompt_ = std::move(*prompt);
  shared_rows_ = model::CommonRows(prompt_, std::exchange(other_, {}));
  text_follows_ = !last;
  return Done{};
}

Result<model::Prompt> QwenGeneration::BuildPrompt(const std::vector<int32_t>& text_ids) const {
  model::PromptRequest request;
  request.text_ids = &text_ids;
  request.instruction = instruction_;
  request.language = language_;
  request.speaker = speaker_;
  request.reference_frames = ReferenceFrames();
  if (request.reference_frames > 0) request.reference_text = voice_->prompt->text;
  // As the models are used: with a voice by example the text is read frame by frame.
  request.whole_text = !more_text_ && checkpoint_.config().type != model::ModelType::kBase;
  model::Prompt prompt;
  std::string problem;
  if (!model::BuildPrompt(checkpoint_.config(), checkpoint_.tokenizer(), request, &prompt, &problem)) {
    return Problem{problem};
  }
  return prompt;
}

void QwenGeneration::Begin(model::SpeechModel& model, model::CodecDecoder& decoder, size_t draws) {
  rules_.max_new_tokens = draws;
  model::StreamOptions options;
  options.more_text = text_follows_;
  std::shared_ptr<const model::VoicePrompt> voice;
  if (voice_ != nullptr) {
    voice = voice_->prompt;
    const auto prefix = voice_->prefixes.find(prefix_key());
    if (prefix != voice_->prefixes.end()) options.prefix = prefix->second;
  }
  std::string problem;
  stream_ = model.BeginStream(prompt_, std::move(voice), rules_, &problem, options);
  if (stream_ == nullptr) throw std::logic_error(problem);  // all of it was judged before
  if (text_follows_) {
    stream_->AddText(std::exchange(ids_, {}));
    if (feed_.ended()) stream_->FinishText();
  }
  const bool begun = voice_ != nullptr && voice_->codec != nullptr;
  codec_ = begun ? decoder.CopyOf(*voice_->codec) : decoder.NewState();
}

}  // namespace parley::runtime
