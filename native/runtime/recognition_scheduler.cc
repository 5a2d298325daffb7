#include "runtime/recognition_scheduler.h"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "model/recognition/alignment_words.h"
#include "model/recognition/recognition_prompt.h"
#include "model/recognition/transcript.h"
#include "runtime/alignment_recognition.h"
#include "runtime/file_recognition.h"
#include "runtime/live_recognition.h"
#include "runtime/official_recognition.h"

namespace parley::runtime {
namespace {

constexpr uint32_t kLeastRate = 8000, kMostRate = 192'000;
constexpr double kLeastPiece = 10, kMostPiece = 1200;  // seconds
// Blocks and rows of one work. On a processor more together would gain nothing and bar the way.
constexpr size_t kBlocksTogether = 1, kRowsTogether = 128;
constexpr size_t kBlocksApart = 64, kRowsApart = 4096, kLeastRows = 64;
constexpr std::chrono::milliseconds kPieceApart{15};
// A file gets one piece of work after so many of live turns.
constexpr size_t kPiecesGivenWay = 40;
constexpr double kLiveSegment = 30;  // seconds
constexpr std::chrono::milliseconds kFreeMemoryHolds{100};
// After this time a look at all sounds leaves the remaining files to the next look.
constexpr std::chrono::milliseconds kLookAtFiles{5};

RecognitionEnd Refused(Outcome outcome, std::string problem) { return {outcome, std::move(problem), 0, 0}; }

}  // namespace

StreamId RecognitionMailbox::Start(RecognitionRequest request, std::shared_ptr<SoundSource> source,
                                   std::shared_ptr<TextSink> sink) {
  StreamId id = 0;
  Leave([&](RecognitionOrders& orders) {
    orders.arrivals.push_back({last_id_ + 1, std::move(request), std::move(source), std::move(sink), now_()});
    id = ++last_id_;
  });
  return id;
}

void RecognitionMailbox::Order(StreamId stream, PlacedOrder order) {
  Leave([&](RecognitionOrders& orders) { orders.turns.emplace_back(stream, order); });
}

void RecognitionMailbox::Cancel(StreamId stream) {
  Leave([&](RecognitionOrders& orders) { orders.cancels.push_back(stream); });
}

RecognitionScheduler::RecognitionScheduler(const RecognitionSetup& setup, RecognitionMailbox& mailbox,
                                           const RecognitionSchedulerOptions& options)
    : setup_(setup),
      mailbox_(mailbox),
      options_(options),
      live_work_(*setup.model),
      file_work_(*setup.model) {
  UpdateStats();
}

std::optional<Need> RecognitionScheduler::Look() {
  const Clock::time_point began = options_.now();
  TakeOrders();
  Admit();
  const bool busy = LookAtSound();
  EndOver();
  DropStaleWork();
  SortWanted();
  if (busy) stats_.busy_ms += Milliseconds(options_.now() - began);
  if (!lost_.empty()) throw BackendLost(lost_);
  if (wanted_.empty()) {
    if (busy) return Need{};
    UpdateStats();
    return std::nullopt;
  }
  const WantedPass& first = wanted_.front();
  return Need{first.rank, first.due, LeastOf(*first.stream), first.is_final};
}

bool RecognitionScheduler::Work(Clock::duration spare) {
  if (wanted_.empty()) return UpdateStats(), false;
  const Clock::time_point began = options_.now();
  const bool has_file = wanted_.back().rank == Rank::kFiles;
  const bool has_live = wanted_.front().rank == Rank::kLiveText;
  pieces_given_way_ = has_live && has_file ? pieces_given_way_ + 1 : 0;
  const bool is_files_turn = !has_live || pieces_given_way_ > kPiecesGivenWay;
  if (is_files_turn) pieces_given_way_ = 0;
  WorkOn(is_files_turn ? Rank::kFiles : Rank::kLiveText, spare);
  EndOver();
  stats_.busy_ms += Milliseconds(options_.now() - began);
  UpdateStats();
  if (!lost_.empty()) throw BackendLost(lost_);
  return true;
}

// --- requests

void RecognitionScheduler::TakeOrders() {
  RecognitionOrders orders = mailbox_.Take();
  closing_ = closing_ || orders.close;
  for (RecognitionArrival& arrival : orders.arrivals) waiting_.push_back(std::move(arrival));
  for (const auto& [id, order] : orders.turns) {
    for (const auto& one : live_) {
      if (one->id() == id) one->Take(order);
    }
    for (RecognitionArrival& arrival : waiting_) {
      if (arrival.id == id) arrival.request.orders.push_back(order);
    }
  }
  for (const StreamId id : orders.cancels) {
    for (const auto& one : live_) {
      if (one->id() == id) one->EndWith(Outcome::kCancelled, "it was cancelled");
    }
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [id = id](const RecognitionArrival& one) { return one.id == id; });
    if (found == waiting_.end()) continue;
    stats_.cancelled++;
    ends_.emplace_back(std::move(found->sink), Refused(Outcome::kCancelled, "it was cancelled"));
    waiting_.erase(found);
  }
  DropStaleWork();
}

// Work on a stream whose pass was dropped, or whose owner is over, is of no use. Others of that work begin
// anew: nothing of theirs had changed.
void RecognitionScheduler::DropStaleWork() {
  wanted_.clear();
  for (const auto& one : live_) {
    if (!one->ending()) one->AddWanted(&wanted_);
  }
  for (model::RecognitionWork* const work : {&live_work_, &file_work_}) {
    const bool is_stale =
        std::any_of(work->streams().begin(), work->streams().end(), [this](const auto* stream) {
          return std::none_of(wanted_.begin(), wanted_.end(),
                              [stream](const WantedPass& one) { return one.stream == stream; });
        });
    if (!is_stale) continue;
    work->Drop();
    stats_.dropped_passes++;
  }
}

// Live callers never wait for a place; files do.
void RecognitionScheduler::Admit() {
  size_t files = static_cast<size_t>(
      std::count_if(live_.begin(), live_.end(), [](const auto& one) { return !one->is_live(); }));
  std::vector<RecognitionArrival> still_waiting;
  for (RecognitionArrival& arrival : std::exchange(waiting_, {})) {
    const bool is_file = arrival.request.use != RecognitionUse::kLive;
    if (is_file && files >= options_.max_files) {
      still_waiting.push_back(std::move(arrival));
      continue;
    }
    if (Begin(&arrival) && is_file) files++;
  }
  waiting_ = std::move(still_waiting);
}

bool RecognitionScheduler::Begin(RecognitionArrival* arrival) {
  RecognitionEnd refusal;
  const std::shared_ptr<TextSink> sink = arrival->sink;
  std::unique_ptr<Recognition> made;
  try {
    if (FitsMemory(&arrival->request, &refusal)) made = Made(arrival, &refusal);
  } catch (const std::bad_alloc&) {
    refusal = Refused(Outcome::kOutOfMemory, "memory is out");
  } catch (const std::exception& error) {
    refusal = Refused(Outcome::kFailed, std::string("a mistake in the engine: ") + error.what());
  }
  if (made == nullptr) {
    stats_.refused++;
    ends_.emplace_back(sink, std::move(refusal));
    return false;
  }
  stats_.begun++;
  live_.push_back(std::move(made));
  return true;
}

// A file's pieces become as short as the memory requires. False with `refusal` set: not even the shortest
// fits, or no other live caller does.
bool RecognitionScheduler::FitsMemory(RecognitionRequest* request, RecognitionEnd* refusal) {
  if (request->use == RecognitionUse::kAlign) return true;
  const bool is_live = request->use == RecognitionUse::kLive;
  const size_t taken = is_live ? stats_.memory_in_use : 0;
  size_t left = options_.memory_bytes - std::min(options_.memory_bytes, taken);
  if (is_live) left = std::min(left, FreeMemory(options_.now()));
  const double second = static_cast<double>(setup_.BytesOf(kLeastPiece)) / kLeastPiece;
  const double fits = static_cast<double>(left) / second;
  if (fits < (is_live ? kLiveSegment : kLeastPiece)) {
    *refusal =
        Refused(Outcome::kOutOfMemory, "the memory for recognition is taken: " + std::to_string(left >> 20) +
                                           " MiB are left of " + std::to_string(options_.memory_bytes >> 20));
    return false;
  }
  if (!is_live) request->piece_seconds = std::min(request->piece_seconds, std::max(fits, kLeastPiece));
  return true;
}

std::shared_ptr<const model::ResamplingTaps> RecognitionScheduler::TapsOf(uint32_t rate) {
  if (rate == SoundReader::kRate) return nullptr;
  std::weak_ptr<const model::ResamplingTaps>& kept = taps_[rate];
  auto taps = kept.lock();
  if (taps == nullptr) kept = taps = std::make_shared<const model::ResamplingTaps>(rate, SoundReader::kRate);
  return taps;
}

// Null with `refusal` set.
std::unique_ptr<Recognition> RecognitionScheduler::Made(RecognitionArrival* arrival,
                                                        RecognitionEnd* refusal) {
  RecognitionRequest& request = arrival->request;
  const model::RecognitionConfig& config = setup_.model->config();
  const bool aligns = config.kind == model::RecognitionKind::kAligner;
  *refusal = Refused(Outcome::kBadRequest, "");
  if (request.rate < kLeastRate || request.rate > kMostRate) {
    refusal->problem =
        "the sound's rate is " + std::to_string(request.rate) + " Hz; 8000 to 192000 are taken";
    return nullptr;
  }
  if ((request.use == RecognitionUse::kAlign) != aligns) {
    refusal->problem =
        aligns ? "an aligner recognises nothing: it needs a text" : "a recogniser aligns nothing";
    return nullptr;
  }
  if (!(request.piece_seconds >= kLeastPiece && request.piece_seconds <= kMostPiece)) {
    refusal->problem = "the pieces of a sound are 10 to 1200 seconds long";
    return nullptr;
  }
  std::string language(model::LanguageOfTag(request.language));
  if (language.empty()) language = model::LanguageName(request.language);
  const auto& known = config.languages;
  if (!language.empty() && std::find(known.begin(), known.end(), language) == known.end()) {
    refusal->problem = "the language \"" + request.language + "\" is none of the model's";
    return nullptr;
  }
  auto reader = std::make_shared<SoundReader>(std::move(arrival->source), TapsOf(request.rate));
  if (aligns) {
    request.language = language;
    return MadeAlignment(arrival, std::move(reader), refusal);
  }
  model::RecognitionPrompt prompt;
  if (!model::BuildPrompt(setup_.model->checkpoint().tokenizer(), {request.context, language, ""}, &prompt,
                          &refusal->problem)) {
    refusal->problem = "the context: " + refusal->problem;
    return nullptr;
  }
  if (request.use == RecognitionUse::kLive && setup_.official) {
    return std::make_unique<OfficialRecognition>(arrival->id, std::move(request), std::move(language),
                                                 std::move(reader), std::move(arrival->sink), setup_,
                                                 arrival->at);
  }
  if (request.use == RecognitionUse::kLive) {
    return std::make_unique<LiveRecognition>(arrival->id, std::move(request), std::move(language),
                                             std::move(prompt), std::move(reader), std::move(arrival->sink),
                                             setup_, arrival->at);
  }
  return std::make_unique<FileRecognition>(arrival->id, std::move(request), std::move(language),
                                           std::move(prompt), std::move(reader), std::move(arrival->sink),
                                           setup_, arrival->at);
}

std::unique_ptr<Recognition> RecognitionScheduler::MadeAlignment(RecognitionArrival* arrival,
                                                                 std::shared_ptr<SoundReader> reader,
                                                                 RecognitionEnd* refusal) {
  const RecognitionRequest& request = arrival->request;
  std::vector<std::string> words = model::AlignmentWords(request.context, request.language, setup_.nouns);
  if (words.empty()) {
    refusal->problem = "the text to align has no words";
    return nullptr;
  }
  return std::make_unique<AlignmentRecognition>(arrival->id, std::move(arrival->request), std::move(words),
                                                std::move(reader), std::move(arrival->sink), setup_,
                                                arrival->at);
}

// --- work

bool RecognitionScheduler::LookAtSound() {
  bool busy = false, has_next = false;
  const Clock::time_point now = options_.now();
  size_t in_use = stats_.memory_in_use;
  for (const auto& one : live_) {
    if (one->is_live()) {
      busy = GuardedLook(*one, now, {}) || busy;
      continue;
    }
    if (busy && options_.now() - now >= kLookAtFiles) continue;
    const size_t limit = options_.memory_bytes,
                 left = std::min(limit - std::min(limit, in_use), FreeMemory(now));
    const size_t before = one->Bytes();
    const bool was_busy = GuardedLook(*one, now, {left, !has_next});
    in_use += one->Bytes();
    in_use -= std::min(in_use, before);
    busy = busy || was_busy;
    // Without memory the oldest file that has something to do goes on alone.
    has_next = has_next || was_busy || IsWorkedOn(*one);
  }
  return busy;
}

bool RecognitionScheduler::GuardedLook(Recognition& one, Clock::time_point now, const Room& room) {
  try {
    return one.Look(now, room);
  } catch (const std::bad_alloc&) {
    one.EndWith(Outcome::kOutOfMemory, "memory is out");
  } catch (const BackendLost& lost) {
    lost_ = lost.what();
    one.EndWith(Outcome::kLost, lost_);
  } catch (const std::exception& error) {
    one.EndWith(Outcome::kFailed, std::string("a mistake in the engine: ") + error.what());
  }
  return true;
}

bool RecognitionScheduler::IsWorkedOn(Recognition& one) {
  wanted_.clear();
  one.AddWanted(&wanted_);
  return !std::exchange(wanted_, {}).empty();
}

// Returns three quarters of the machine's free memory: the voice and the aligner allocate from it as well.
size_t RecognitionScheduler::FreeMemory(Clock::time_point now) {
  if (now < free_until_) return free_;
  free_until_ = now + kFreeMemoryHolds;
  free_ = options_.free_memory() / 4 * 3;
  return free_;
}

void RecognitionScheduler::SortWanted() {
  std::stable_sort(wanted_.begin(), wanted_.end(), [](const WantedPass& a, const WantedPass& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    return a.is_final != b.is_final ? a.is_final : a.due < b.due;
  });
}

// Estimates the time of the shortest piece of a stream's next work.
Clock::duration RecognitionScheduler::LeastOf(const model::RecognitionStream& stream) const {
  const model::RecognitionStream::Turn turn = stream.turn();
  if (turn == model::RecognitionStream::Turn::kDecode) return decode_rate_.Each();
  if (setup_.model->kernels().AnswersAtOnce()) return piece_rate_.Each();
  if (turn == model::RecognitionStream::Turn::kEncode) return encode_rate_.Each();
  return static_cast<Clock::rep>(kLeastRows) * prefill_rate_.Each();
}

// One piece of work for the passes of this rank.
void RecognitionScheduler::WorkOn(Rank rank, Clock::duration spare) {
  model::RecognitionWork& work = rank == Rank::kFiles ? file_work_ : live_work_;
  Streams streams;
  for (const WantedPass& one : wanted_) {
    if (one.rank == rank) streams.push_back(one.stream);
  }
  // A final text does not wait for the partial ones of others.
  const bool is_final = std::any_of(wanted_.begin(), wanted_.end(),
                                    [&](const WantedPass& one) { return one.rank == rank && one.is_final; });
  const bool works_on_first =
      std::find(work.streams().begin(), work.streams().end(), streams.front()) != work.streams().end();
  if (work.busy() && is_final && !works_on_first) work.Drop();
  if (!work.busy() && streams.front()->turn() == model::RecognitionStream::Turn::kDecode)
    return Decode(streams);
  if (!work.busy() && !BeginWork(rank, streams, spare)) return;
  const bool encodes = streams.front()->turn() == model::RecognitionStream::Turn::kEncode;
  const Streams working = work.streams();
  const size_t units = work.units();
  const Clock::time_point began = options_.now();
  bool goes_on = true;
  // A GPU runs the parts later, so that only the time of all parts together means something.
  const auto advance = [&] {
    while (goes_on) {
      goes_on = work.Advance();
      if (setup_.model->kernels().AnswersAtOnce()) return;
    }
  };
  if (!Guarded(working, advance)) return work.Drop();
  const Clock::duration took = options_.now() - began;
  (encodes ? stats_.encode_ms : stats_.prefill_ms) += Milliseconds(took);
  if (setup_.model->kernels().AnswersAtOnce()) piece_rate_.Record(1, took);
  else (encodes ? encode_rate_ : prefill_rate_).Record(units, took);
  if (!goes_on) Tell(working);
}

// Streams that want the same as the most urgent one go with it.
bool RecognitionScheduler::BeginWork(Rank rank, const Streams& streams, Clock::duration spare) {
  model::RecognitionWork& work = rank == Rank::kFiles ? file_work_ : live_work_;
  const bool at_once = setup_.model->kernels().AnswersAtOnce();
  const bool encodes = streams.front()->turn() == model::RecognitionStream::Turn::kEncode;
  const Clock::duration time = std::min<Clock::duration>(spare, kPieceApart);
  const size_t blocks = at_once ? kBlocksTogether : std::min(kBlocksApart, encode_rate_.In(time, 1));
  const size_t rows = at_once ? kRowsTogether : std::min(kRowsApart, prefill_rate_.In(time, kLeastRows));
  bool begun = false;
  // If memory ends, that of the most urgent stream is freed.
  Guarded({streams.front()}, [&] {
    begun = encodes ? work.Encode(streams.data(), streams.size(), blocks)
                    : work.Prefill(streams.data(), streams.size(), rows);
  });
  return begun;
}

// One id of all streams that want one, whatever their rank: the weights are read once for all.
void RecognitionScheduler::Decode(const Streams& first) {
  Streams streams = first;
  for (const WantedPass& one : wanted_) {
    if (std::find(first.begin(), first.end(), one.stream) == first.end()) streams.push_back(one.stream);
  }
  const auto decodes = [](const auto* stream) {
    return stream->turn() == model::RecognitionStream::Turn::kDecode;
  };
  streams.erase(
      std::remove_if(streams.begin(), streams.end(), [&](const auto* one) { return !decodes(one); }),
      streams.end());
  const Clock::time_point began = options_.now();
  if (!Guarded(streams, [&] { setup_.model->Decode(streams.data(), streams.size()); })) return;
  const Clock::duration took = options_.now() - began;
  stats_.decode_ms += Milliseconds(took);
  decode_rate_.Record(1, took);
  Tell(streams);
}

void RecognitionScheduler::Tell(const Streams& streams) {
  const Clock::time_point now = options_.now();
  for (const WantedPass& one : wanted_) {
    if (std::find(streams.begin(), streams.end(), one.stream) == streams.end()) continue;
    try {
      one.owner->Advanced(one.stream, now);
    } catch (const std::exception& error) {
      one.owner->EndWith(Outcome::kFailed, std::string("a mistake in the engine: ") + error.what());
    }
  }
}

// --- ends

// Runs work that may throw. If it does, returns false and ends the owners of its streams.
bool RecognitionScheduler::Guarded(const Streams& streams, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    EndOwners(streams, Outcome::kOutOfMemory, "memory is out");
  } catch (const BackendLost& lost) {
    lost_ = lost.what();
    EndOwners(streams, Outcome::kLost, lost_);
  } catch (const std::exception& error) {
    EndOwners(streams, Outcome::kFailed, std::string("a mistake in the engine: ") + error.what());
  }
  return false;
}

void RecognitionScheduler::EndOwners(const Streams& streams, Outcome outcome, const std::string& problem) {
  for (const WantedPass& one : wanted_) {
    if (std::find(streams.begin(), streams.end(), one.stream) != streams.end())
      one.owner->EndWith(outcome, problem);
  }
}

void RecognitionScheduler::EndAll(Outcome outcome, const std::string& problem) {
  TakeOrders();
  for (const RecognitionArrival& arrival : std::exchange(waiting_, {}))
    ends_.emplace_back(arrival.sink, Refused(outcome, problem));
  for (const auto& one : live_) one->EndWith(outcome, problem);
  EndOver();
  UpdateStats();
}

void RecognitionScheduler::EndOver() {
  const bool any = std::any_of(live_.begin(), live_.end(), [](const auto& one) { return one->ending(); });
  if (!any && ends_.empty()) return;
  DropStaleWork();
  for (const auto& one : live_) {
    if (one->ending()) End(*one);
  }
  live_.erase(std::remove_if(live_.begin(), live_.end(), [](const auto& one) { return one->gone(); }),
              live_.end());
  wanted_.clear();
  // The figures include every end that a sink is told of.
  UpdateStats();
  for (const auto& [sink, end] : std::exchange(ends_, {})) {
    try {
      sink->Ended(end);
    } catch (const std::exception&) {
      // The sink was called, and there is no one else to notify.
    }
  }
}

void RecognitionScheduler::End(Recognition& one) {
  const Recognition::Counts counts = one.TakeCounts();
  stats_.passes += counts.passes;
  stats_.dropped_passes += counts.dropped;
  stats_.ids += counts.ids;
  stats_.draft_offered += counts.offered;
  stats_.draft_taken += counts.taken;
  stats_.runaways += counts.runaways;
  stats_.sound_seconds += counts.sound_seconds;
  switch (one.ending()->outcome) {
    case Outcome::kDone:
    case Outcome::kBudget:
    case Outcome::kRunaway:
      stats_.done++;
      break;
    case Outcome::kCancelled:
    case Outcome::kClosed:
      stats_.cancelled++;
      break;
    case Outcome::kTooLarge:
    case Outcome::kBadRequest:
      stats_.refused++;
      break;
    case Outcome::kOutOfMemory:
    case Outcome::kFailed:
    case Outcome::kLost:
      stats_.failed++;
      break;
  }
  RecognitionEnd end;
  std::shared_ptr<TextSink> sink = one.Leave(options_.now(), &end);
  ends_.emplace_back(std::move(sink), std::move(end));
}

void RecognitionScheduler::UpdateStats() {
  stats_.live = stats_.files = stats_.memory_in_use = 0;
  for (const auto& one : live_) {
    (one->is_live() ? stats_.live : stats_.files)++;
    stats_.memory_in_use += one->Bytes();
    const Recognition::Counts counts = one->TakeCounts();
    stats_.passes += counts.passes;
    stats_.dropped_passes += counts.dropped;
    stats_.ids += counts.ids;
    stats_.draft_offered += counts.offered;
    stats_.draft_taken += counts.taken;
    stats_.runaways += counts.runaways;
    stats_.sound_seconds += counts.sound_seconds;
  }
  stats_.waiting = waiting_.size();
  stats_.memory_limit = options_.memory_bytes;
  options_.publish(stats_);
}

}  // namespace parley::runtime
