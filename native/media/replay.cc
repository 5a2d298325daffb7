#include "media/replay.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parley {
namespace {

// A decoder needs so many of the frames that were received before to begin.
constexpr size_t kWarmFrames = 8;

bool IsAfter(uint32_t timestamp, uint32_t other) { return static_cast<int32_t>(timestamp - other) > 0; }

TakenEntry EntryOf(const SentFrame& frame) { return {EntryKind::kFrame, frame.track, 0, frame.payload}; }

}  // namespace

// The frames of the replay before left before those that the queue has sent since.
Replay::Replay(PlayoutQueue& queue, const Replay* before, uint32_t received_timestamp) {
  std::vector<SentFrame> sent;
  size_t unsent = 0;
  if (before) {
    sent = before->frames_;
    unsent = before->left();
  }
  const size_t again_end = sent.size() - unsent;  // those after it never left again
  PlayoutQueue::SentFrames since = queue.SentSince(before ? before->sent_up_to_ : 0);
  sent_up_to_ = since.up_to;
  std::move(since.frames.begin(), since.frames.end(), std::back_inserter(sent));
  size_t first = 0;
  for (size_t n = sent.size(); n > 0; n--) {
    const bool has_left = n <= again_end || n > again_end + unsent;
    if (!has_left || IsAfter(sent[n - 1].timestamp, received_timestamp)) continue;
    first = n;
    break;
  }
  const size_t begin = first > kWarmFrames ? first - kWarmFrames : 0;
  frames_.assign(std::make_move_iterator(sent.begin() + static_cast<ptrdiff_t>(begin)),
                 std::make_move_iterator(sent.end()));
  next_.store(first - begin);
}

const SentFrame* Replay::Claim(uint32_t timestamp) {
  if (left() == 0) return nullptr;
  const size_t at = next_.fetch_add(1);
  if (at >= frames_.size()) return nullptr;
  frames_[at].timestamp = timestamp;
  return &frames_[at];
}

uint64_t Replay::LeftOf(uint32_t track) const {
  uint64_t count = 0;
  for (size_t n = next_.load(); n < frames_.size(); n++) count += frames_[n].track == track;
  return count;
}

Replay::Rest Replay::Stop(size_t most_sent) {
  stopped_ = true;
  const size_t next = std::min(next_.exchange(frames_.size()), frames_.size());
  Rest rest;
  if (next == frames_.size()) return rest;
  for (size_t n = next > most_sent ? next - most_sent : 0; n < next; n++) {
    rest.sent.push_back(EntryOf(frames_[n]));
  }
  for (size_t n = next; n < frames_.size(); n++) rest.left.push_back(EntryOf(frames_[n]));
  return rest;
}

}  // namespace parley
