#include "media/replay.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parley {
namespace {

// A decoder needs so many of the frames that were received before to begin.
constexpr size_t kWarmFrames = 8;

bool IsAfter(uint32_t timestamp, uint32_t other) { return static_cast<int32_t>(timestamp - other) > 0; }

}  // namespace

Replay::Replay(PlayoutQueue& queue, const Replay* before, uint32_t received_timestamp) {
  Held held = Gather(queue, before);
  size_t first = 0;
  for (size_t n = held.frames.size(); n > 0; n--) {
    const bool has_left = n <= held.left_end || n > held.waiting_end;
    if (!has_left || IsAfter(held.frames[n - 1].timestamp, received_timestamp)) continue;
    first = n;
    break;
  }
  for (SentFrame& frame : held.frames) {
    frame.counted = frame.counted && !IsAfter(frame.timestamp, received_timestamp);
  }
  Begin(std::move(held), first);
}

// A voice that faded out while frames were repeated goes back from the last frame that counts as sent: the
// place does not depend on how often it faded out.
Replay::Replay(PlayoutQueue& queue, const Replay* before, const Repeat& repeat) {
  Held held = Gather(queue, before);
  std::vector<SentFrame>& frames = held.frames;
  size_t end = frames.size();
  while (end > held.left_end && !frames[end - 1].counted) end--;
  const size_t back = std::min(end, std::max(repeat.faded, repeat.back));
  size_t first = held.left_end - std::min(held.left_end, repeat.faded);
  while (first > end - back && frames[first - 1].track == repeat.track) first--;
  for (size_t n = first; n < held.left_end; n++) frames[n].counted = true;
  Begin(std::move(held), first);
}

// The frames of the replay before left before those that the queue has sent since.
Replay::Held Replay::Gather(PlayoutQueue& queue, const Replay* before) {
  Held held{};
  size_t waiting = 0;
  if (before) {
    held.frames = before->Before(before->size(), before->size());
    waiting = before->left();
  }
  const size_t waiting_end = held.frames.size();
  PlayoutQueue::SentFrames since = queue.SentSince(before ? before->sent_up_to_ : 0);
  sent_up_to_ = since.up_to;
  std::move(since.frames.begin(), since.frames.end(), std::back_inserter(held.frames));
  held.waiting_end = waiting == 0 ? held.frames.size() : waiting_end;
  held.left_end = held.waiting_end - waiting;
  return held;
}

void Replay::Begin(Held held, size_t first) {
  const size_t begin = first > kWarmFrames ? first - kWarmFrames : 0;
  frames_.assign(std::make_move_iterator(held.frames.begin() + static_cast<ptrdiff_t>(begin)),
                 std::make_move_iterator(held.frames.end()));
  timestamps_ = std::vector<std::atomic<uint32_t>>(frames_.size());
  for (size_t n = 0; n < frames_.size(); n++) timestamps_[n].store(frames_[n].timestamp);
  next_.store(first - begin);
}

const SentFrame* Replay::Claim(uint32_t timestamp, size_t* at) {
  const size_t next = next_.load();
  if (next >= frames_.size()) return nullptr;
  // Before the claim: whoever sees that the frame has left sees its timestamp.
  timestamps_[next].store(timestamp, std::memory_order_relaxed);
  if (next_.fetch_add(1) != next) return nullptr;  // stopped meanwhile
  *at = next;
  return &frames_[next];
}

uint64_t Replay::LeftOf(uint32_t track) const {
  uint64_t count = 0;
  for (size_t n = next_.load(); n < frames_.size(); n++) {
    count += frames_[n].track == track && !frames_[n].counted;
  }
  return count;
}

const SentFrame* Replay::LookAtNext(size_t* at) const {
  *at = next_.load();
  return *at < frames_.size() ? &frames_[*at] : nullptr;
}

std::vector<SentFrame> Replay::Before(size_t at, size_t most) const {
  const size_t end = std::min(at, frames_.size());
  const size_t begin = end > most ? end - most : 0;
  std::vector<SentFrame> before(frames_.begin() + static_cast<ptrdiff_t>(begin),
                                frames_.begin() + static_cast<ptrdiff_t>(end));
  for (size_t n = 0; n < before.size(); n++) before[n].timestamp = timestamps_[begin + n].load();
  return before;
}

Replay::Rest Replay::Stop(size_t most_sent) {
  stopped_ = true;
  const size_t next = std::min(next_.exchange(frames_.size()), frames_.size());
  if (next == frames_.size()) return {};
  Rest rest{Before(next, most_sent), {}};
  rest.left.assign(frames_.begin() + static_cast<ptrdiff_t>(next), frames_.end());
  return rest;
}

}  // namespace parley
