// Advances live streams: prompts, frames, sound.
#include <algorithm>

#include "runtime/scheduler.h"

namespace parley::runtime {
namespace {

// Time that newcomers' prompts may take of a round, during which all others wait. Fewer rows than
// kLeastPrefillRows do not pay: they wait for a round that has time for them, for at most kRoundsPutOff
// rounds.
constexpr Clock::duration kPrefillTime = std::chrono::milliseconds(40);
constexpr size_t kLeastPrefillRows = 32;
constexpr size_t kRoundsPutOff = 4;
// Time that decoding may take of a round.
constexpr Clock::duration kDecodeTime = std::chrono::milliseconds(40);

// Safety margin before a listener's next deadline: estimates are not exact.
constexpr Clock::duration kReserve = std::chrono::milliseconds(3);

// A stream with less audio than this many frames gets its next frame even in a long round.
constexpr size_t kFramesToWait = 5;

// No listener has so much sound ahead.
constexpr Clock::duration kLongAhead = std::chrono::hours(1);

// A listener with less sound than this may run dry.
constexpr Clock::duration kSafe = std::chrono::milliseconds(500);

std::vector<Generation*> GenerationsOf(const std::vector<Stream*>& streams) {
  std::vector<Generation*> generations;
  for (Stream* const stream : streams) generations.push_back(stream->generation());
  return generations;
}

}  // namespace

Scheduler::Some Scheduler::LiveWith(Stream::Turn turn) {
  Some some;
  const Clock::time_point now = options_.now();
  for (const auto& stream : live_) {
    if (!stream->gone() && stream->NextTurn(now, round_rate_.Each()) == turn) some.push_back(stream.get());
  }
  return some;
}

// As they are in live_: those with a chunk, and those who hear the end of a chunk while the next one's prompt
// waits.
Scheduler::Some Scheduler::StreamsToDecode() {
  Some some;
  const Clock::time_point now = options_.now();
  for (const auto& stream : live_) {
    if (stream->gone()) continue;
    const Stream::Turn turn = stream->NextTurn(now, round_rate_.Each());
    if (turn == Stream::Turn::kDecode ||
        (turn == Stream::Turn::kPrefill && stream->HasSoundBeforePrompt(now)))
      some.push_back(stream.get());
  }
  return some;
}

// Smallest time that a listener's audio lasts, among those that can get more. Clock::duration::max() if there
// is none.
Clock::duration Scheduler::LeastAhead() {
  const Clock::time_point now = options_.now();
  Clock::duration least = Clock::duration::max();
  for (const auto& stream : live_) {
    if (stream->gone() || stream->Silent() || !stream->MayRunDry(now) || stream->Ahead(now) >= least)
      continue;
    const Stream::Turn turn = stream->NextTurn(now, round_rate_.Each());
    const bool gets_more = turn == Stream::Turn::kStep || turn == Stream::Turn::kDecode ||
                           (turn == Stream::Turn::kPrefill && stream->HasSoundBeforePrompt(now));
    if (gets_more) least = stream->Ahead(now);
  }
  return least;
}

// Number of streams with a listener whose audio cannot wait for another round.
size_t Scheduler::Bare() const {
  const Clock::time_point now = options_.now();
  const Clock::duration frames = static_cast<Clock::rep>(kFramesToWait) * Frame();
  return static_cast<size_t>(std::count_if(live_.begin(), live_.end(), [&](const auto& one) {
    return !one->gone() && one->live() && one->Ahead(now) < frames;
  }));
}

// Finds the earliest time at which a listener needs a round: when its first sound is due, or when it has
// heard everything that was sent.
std::optional<Need> Scheduler::Look() {
  if (idle_ && !mailbox_.HasNews()) return std::nullopt;
  idle_ = false;
  TakeOrders();
  const Clock::time_point now = options_.now();
  Need need;
  size_t together = 0;
  const auto hear = [&](const Stream& stream) {
    need.rank = Rank::kListeners;
    need.latest = std::min(need.latest, now + std::min<Clock::duration>(stream.Ahead(now), kLongAhead));
  };
  for (const auto& stream : waiting_) {
    const Generation* const generation = stream->generation();
    const bool waits_for_text = generation != nullptr && !generation->Ready();
    if (stream->live() && !stream->waits() && !waits_for_text) hear(*stream);
  }
  for (const auto& stream : live_) {
    if (stream->NextTurn(now, round_rate_.Each()) == Stream::Turn::kPark) continue;
    together++;
    if (stream->live()) hear(*stream);
  }
  need.least = WorkOf(std::min(together, options_.max_batch));
  if (need.rank == Rank::kListeners) need.latest -= WithSwing(need.least) + kReserve;
  return need;
}

Clock::duration Scheduler::WithSwing(Clock::duration time) const {
  return std::chrono::duration_cast<Clock::duration>(time * (1 + swing_.Share()));
}

// Rows of newcomers' prompts to compute before a listener would run dry. A newcomer whose prompt is completed
// takes part in the step and in decoding.
size_t Scheduler::RowsToSpare(const Some& newcomers) {
  const Clock::duration ahead = LeastAhead();
  const size_t most = prefill_rate_.In(kPrefillTime, kLeastPrefillRows);
  if (ahead == Clock::duration::max()) return most;
  size_t rows = 0, together = LiveWith(Stream::Turn::kStep).size();
  for (const Stream* const newcomer : newcomers) {
    const Clock::duration spare = ahead - kReserve - WithSwing(WorkOf(together + 1));
    const size_t fitting = spare > Clock::duration::zero() ? std::min(most, prefill_rate_.In(spare, 0)) : 0;
    const size_t left = newcomer->generation()->PromptLeft();
    if (rows + left > fitting) return std::max(rows, fitting);
    rows += left;
    together++;
  }
  return rows;
}

bool Scheduler::Prefill() {
  Some streams = LiveWith(Stream::Turn::kPrefill);
  if (streams.empty()) return false;
  size_t rows = RowsToSpare(streams);
  if (rows < std::min(kLeastPrefillRows, streams.front()->generation()->PromptLeft())) {
    if (rounds_put_off_++ < kRoundsPutOff) return false;
    rows = kLeastPrefillRows;
  }
  rounds_put_off_ = 0;
  // Only those whose turn comes: a mistake is not the others' end.
  size_t taken = 0, count = 0;
  while (count < streams.size() && taken < rows) taken += streams[count++]->generation()->PromptLeft();
  streams.resize(count);
  const std::vector<Generation*> generations = GenerationsOf(streams);
  const Clock::time_point began = options_.now();
  Guarded(streams, [&] { model_.Prefill(generations.data(), generations.size(), rows); });
  prefill_rate_.Record(std::min(taken, rows), options_.now() - began);
  return true;
}

// Live listeners come first. While one of them may run dry, the others are left out, but at most
// kRoundsGivenWay times in a row. The server's prompts are left out in the same way while readers are served.
Scheduler::Some Scheduler::StreamsToStep() {
  Some streams = LiveWith(Stream::Turn::kStep);
  const auto others =
      std::stable_partition(streams.begin(), streams.end(), [](Stream* one) { return one->live(); });
  const auto listeners = static_cast<size_t>(others - streams.begin());
  const Clock::duration least = LeastOf(Some(streams.begin(), others));
  const bool short_of_sound = least < kSafe;
  // If not all of them fit, they take turns.
  if (listeners > 0 || streams.size() > options_.max_batch) {
    std::stable_sort(others, streams.end(),
                     [](Stream* a, Stream* b) { return a->last_step() < b->last_step(); });
  }
  const auto left_out = short_of_sound ? others
                                       : std::stable_partition(others, streams.end(),
                                                               [](Stream* one) { return one->rank() < 2; });
  size_t first = static_cast<size_t>(left_out - streams.begin());
  if (!short_of_sound && first == listeners) first = streams.size();
  const bool gives_way = first > 0 && first < streams.size();
  const bool is_turn = gives_way && rounds_given_way_ == kRoundsGivenWay;
  rounds_given_way_ = gives_way && !is_turn ? rounds_given_way_ + 1 : 0;
  if (gives_way && !is_turn) streams.resize(first);
  // In a step that is full, the last place is for one of those who were left out.
  else if (is_turn && first >= options_.max_batch)
    std::rotate(streams.begin() + static_cast<ptrdiff_t>(options_.max_batch - 1), left_out, streams.end());
  const Clock::duration most = is_turn && short_of_sound ? TimeOfATurn(listeners) : least - kReserve;
  if (listeners > 0)
    streams.resize(
        std::min(streams.size(), listeners + OthersWithin(most, listeners, streams.size() - listeners)));
  if (streams.size() > options_.max_batch) streams.resize(options_.max_batch);
  return streams;
}

// The least time for which one of these listeners still has sound.
Clock::duration Scheduler::LeastOf(const Some& listeners) const {
  const Clock::time_point now = options_.now();
  Clock::duration least = Clock::duration::max();
  for (const Stream* const one : listeners) least = std::min(least, one->Ahead(now));
  return least;
}

// A round with others after kRoundsGivenWay rounds without: the time that it may take so that the mean keeps
// the listeners' pace.
Clock::duration Scheduler::TimeOfATurn(size_t listeners) const {
  const auto all = std::chrono::duration_cast<Clock::duration>(static_cast<double>(kRoundsGivenWay + 1) *
                                                               kUsable * Frame());
  return all - static_cast<Clock::rep>(kRoundsGivenWay) * (WorkOf(listeners) + other_rate_.Each());
}

// The most of the other streams whose step with the listeners fits into the time; at least one, so that none
// starves.
size_t Scheduler::OthersWithin(Clock::duration most, size_t listeners, size_t others) const {
  size_t fitting = std::min<size_t>(others, 1), too_many = others + 1;
  while (fitting + 1 < too_many) {
    const size_t middle = fitting + (too_many - fitting) / 2;
    (WithSwing(WorkOf(listeners + middle)) <= most ? fitting : too_many) = middle;
  }
  return fitting;
}

bool Scheduler::Step() {
  const Some streams = StreamsToStep();
  if (streams.empty()) return false;
  const std::vector<Generation*> generations = GenerationsOf(streams);
  std::vector<FrameResult> results(streams.size());
  const Clock::time_point began = options_.now();
  if (!Guarded(streams, [&] { model_.Step(generations.data(), generations.size(), results.data()); }))
    return true;
  stats_.steps++;
  stepped_ = streams.size();
  const Clock::duration took = options_.now() - began;
  swing_.Record(took, step_times_.Of(stepped_), Frame());
  step_times_.Record(stepped_, took);
  for (size_t n = 0; n < streams.size(); n++) {
    streams[n]->Stepped(results[n], stats_.steps);
    stats_.frames += results[n] == FrameResult::kFrame;
  }
  return true;
}

// Decodes first frames, and those of listeners that would run dry meanwhile, in a call of their own, before
// the others. While any listener may run dry, the number of frames decoded at a time is limited; the rest is
// decoded in later rounds.
bool Scheduler::Decode() {
  Some all = StreamsToDecode();
  if (all.empty()) return false;
  const Clock::time_point now = options_.now();
  const bool hurry =
      std::any_of(live_.begin(), live_.end(), [now](const auto& one) { return one->MayRunDry(now); });
  const size_t most = hurry ? decode_rate_.In(kDecodeTime, 1) : SIZE_MAX;
  const Clock::duration whole =
      WithSwing(static_cast<Clock::rep>(std::min(FramesOf(all), most)) * decode_rate_.Each());
  const auto urgent = std::stable_partition(all.begin(), all.end(), [&](Stream* one) {
    return one->Silent() || (one->MayRunDry(now) && one->Ahead(now) < whole + kReserve);
  });
  DecodeSome(Some(all.begin(), urgent), most);
  DecodeSome(Some(urgent, all.end()), hurry ? FramesToSpare() : SIZE_MAX);
  return true;
}

size_t Scheduler::FramesOf(const Some& streams) {
  size_t frames = 0;
  for (const Stream* const stream : streams) frames += stream->to_decode();
  return frames;
}

// Number of frames that can be decoded before the next step is due.
size_t Scheduler::FramesToSpare() {
  const Clock::duration next = WithSwing(step_times_.Of(stepped_) + other_rate_.Each());
  const Clock::duration spare = std::max(LeastAhead() - kReserve - next, Clock::duration::zero());
  return decode_rate_.In(std::min<Clock::duration>(kDecodeTime, spare), LeastDecoded(stepped_));
}

size_t Scheduler::DecodeSome(Some streams, size_t most) {
  std::vector<FrameModel::DecodeJob> jobs;
  size_t frames = 0;
  for (Stream* const stream : streams) {
    const size_t some = std::min(stream->to_decode(), most - frames);
    if (some == 0) break;
    jobs.push_back({stream->generation(), some, nullptr});
    frames += some;
  }
  if (frames == 0) return 0;
  streams.resize(jobs.size());
  samples_.resize(frames * model_.FrameSamples());
  float* samples = samples_.data();
  for (FrameModel::DecodeJob& job : jobs) {
    job.samples = samples;
    samples += job.frames * model_.FrameSamples();
  }
  const Clock::time_point began = options_.now();
  if (!Guarded(streams, [&] { model_.Decode(jobs.data(), jobs.size()); })) return frames;
  const Clock::time_point now = options_.now();
  decode_rate_.Record(frames, now - began);
  for (size_t n = 0; n < streams.size(); n++) streams[n]->Decoded(jobs[n].samples, jobs[n].frames, now);
  return frames;
}

}  // namespace parley::runtime
