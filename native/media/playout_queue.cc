#include "media/playout_queue.h"

#include <algorithm>
#include <cstring>

namespace parley {
namespace {

// A frame lies in one piece: beside it, up to a frame's bytes at the end of the ring may stay unused.
constexpr size_t kSpareBytes = 2 * PlayoutQueue::kMaxPayload;

size_t PowerOfTwo(size_t least) {
  size_t size = 1;
  while (size < least) size *= 2;
  return size;
}

// Places for all frames and marks, and half as many for what a clear drops while the clock copies a frame.
size_t EntryCount(uint32_t high_frames) {
  return PowerOfTwo((size_t{high_frames} + PlayoutQueue::kMaxMarks) * 3 / 2);
}

// Fewer frames fit that are larger; there is room for any frame where HasRoom says so.
size_t ByteCount(uint32_t high_frames, size_t usual_payload) {
  return PowerOfTwo(size_t{high_frames} * usual_payload + kSpareBytes);
}

}  // namespace

PlayoutQueue::PlayoutQueue(uint32_t low_frames, uint32_t high_frames, size_t usual_payload)
    : low_frames_(low_frames),
      high_frames_(high_frames),
      mask_(EntryCount(high_frames) - 1),
      byte_mask_(static_cast<uint32_t>(ByteCount(high_frames, usual_payload) - 1)),
      entries_(EntryCount(high_frames)),
      kinds_(EntryCount(high_frames)),
      timestamps_(EntryCount(high_frames)),
      bytes_(new uint8_t[ByteCount(high_frames, usual_payload)]) {}

// Producers.

PushResult PlayoutQueue::Push(uint32_t generation, uint32_t track, const uint8_t* payload, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.load() || generation != generation_.load()) return PushResult::kStale;
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (QueuedFrames() >= high_frames_ || !HasEntryPlace(tail)) return PushResult::kFull;
  Entry entry{track, static_cast<uint32_t>(bytes), 0, generation};
  if (!PlacePayload(bytes, &entry.byte_end)) return PushResult::kFull;
  Track* record = OpenTrack(track);
  if (!record) return PushResult::kFull;

  record->pushed++;
  std::memcpy(&bytes_[OffsetOf(entry)], payload, bytes);
  byte_tail_ = entry.byte_end;
  bytes_in_.fetch_add(bytes);
  Append(record, tail, Kind::kFrame, entry);
  frames_in_.fetch_add(1);  // a frame counts as queued only once it can be taken
  return PushResult::kTaken;
}

PushResult PlayoutQueue::Mark(uint32_t generation, uint32_t track, uint32_t mark, bool end_of_track) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.load() || generation != generation_.load()) return PushResult::kStale;
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (marks_out_.load() >= kMaxMarks || !HasEntryPlace(tail)) return PushResult::kFull;
  Track* record = OpenTrack(track);
  if (!record) return PushResult::kFull;

  if (end_of_track) record->end = tail + 1;
  marks_out_.fetch_add(1);
  Append(record, tail, end_of_track ? Kind::kTrackEnd : Kind::kMark,
         Entry{track, mark, byte_tail_, generation});
  return PushResult::kTaken;
}

PushResult PlayoutQueue::Rest(uint32_t generation, uint32_t track) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.load() || generation != generation_.load()) return PushResult::kStale;
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (!HasEntryPlace(tail)) return PushResult::kFull;
  Track* record = OpenTrack(track);
  if (!record) return PushResult::kFull;
  Append(record, tail, Kind::kRest, Entry{track, 0, byte_tail_, generation});
  return PushResult::kTaken;
}

ClearedQueue PlayoutQueue::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearedQueue cleared{};
  DropAll(&cleared);
  return cleared;
}

// Dropped entries stay intact until the mutex is released: only producers may reuse their places.
TakenQueue PlayoutQueue::Take(size_t most_sent) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t generation = generation_.load();
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  TakenQueue taken{};
  const uint64_t head = DropAll(&taken.cleared);
  for (uint64_t n = head; n > 0 && taken.sent.size() < most_sent && IsIntact(n - 1, tail); n--) {
    if (entries_[(n - 1) & mask_].generation != generation) break;  // it was dropped, not sent
    if (kinds_[(n - 1) & mask_].load(std::memory_order_relaxed) == Kind::kFrame)
      taken.sent.push_back(Copy(n - 1));
  }
  std::reverse(taken.sent.begin(), taken.sent.end());
  for (uint64_t n = head; n < tail; n++) taken.entries.push_back(Copy(n));
  return taken;
}

PlayoutQueue::SentFrames PlayoutQueue::SentSince(uint64_t from, size_t most) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t generation = generation_.load();
  const uint64_t tail = tail_.load(std::memory_order_relaxed), head = head_.load();
  SentFrames sent{{}, head};
  for (uint64_t n = head; n > from && sent.frames.size() < most && IsIntact(n - 1, tail); n--) {
    const Entry& entry = entries_[(n - 1) & mask_];
    if (entry.generation != generation) break;  // it was dropped, not sent
    if (kinds_[(n - 1) & mask_].load(std::memory_order_relaxed) != Kind::kFrame) continue;
    const uint32_t timestamp = timestamps_[(n - 1) & mask_].load(std::memory_order_relaxed);
    sent.frames.push_back({entry.track, timestamp, Copy(n - 1).payload});
  }
  std::reverse(sent.frames.begin(), sent.frames.end());
  return sent;
}

// The clock may take the frame meanwhile: its place is not used again before the mutex is released.
bool PlayoutQueue::LookAtNext(NextFrame* next) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (uint64_t n = head_.load(); n < tail; n++) {
    if (kinds_[n & mask_].load(std::memory_order_relaxed) != Kind::kFrame) continue;
    *next = {n, entries_[n & mask_].track, Copy(n).payload};
    return true;
  }
  return false;
}

void PlayoutQueue::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_.store(true);
}

uint64_t PlayoutQueue::Sent(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Track* track = FindTrack(id);
  if (!track) return 0;
  uint64_t queued = 0;
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (uint64_t n = head_.load(); n < tail; n++) {
    queued +=
        kinds_[n & mask_].load(std::memory_order_relaxed) == Kind::kFrame && entries_[n & mask_].track == id;
  }
  return track->pushed - track->dropped - queued;
}

uint32_t PlayoutQueue::QueuedFrames() const {
  // A frame may be claimed before it is counted as in.
  const uint64_t claimed = frames_claimed_.load();
  const uint64_t in = frames_in_.load();
  return in > claimed ? static_cast<uint32_t>(in - claimed) : 0;
}

// Bytes of the frames that wait, and of one that the clock copies.
size_t PlayoutQueue::HeldBytes() const {
  const uint64_t released = bytes_released_.load();
  const uint64_t in = bytes_in_.load();
  return in > released ? in - released : 0;
}

bool PlayoutQueue::HasRoom() const {
  return closed_.load() || (QueuedFrames() < low_frames_ && marks_out_.load() <= kMaxMarks / 2 &&
                            HeldBytes() + kSpareBytes <= size_t{byte_mask_} + 1);
}

bool PlayoutQueue::AwaitRoom() {
  room_armed_.store(true);
  // Exactly one side takes the flag back and reports the room: this call, or the notice under way.
  return HasRoom() && room_armed_.exchange(false);
}

// Under the mutex.

// Returns where the head was.
uint64_t PlayoutQueue::DropAll(ClearedQueue* cleared) {
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  // Raised before head moves: a clock that finds the queue emptied by this clear
  // sees that the last frame it claimed is of an older generation.
  cleared->generation = generation_.fetch_add(1) + 1;
  const uint64_t head = head_.exchange(tail, std::memory_order_acq_rel);
  DropFrom(head, tail, cleared);
  return head;
}

TakenEntry PlayoutQueue::Copy(uint64_t n) const {
  const Entry& entry = entries_[n & mask_];
  const Kind kind = kinds_[n & mask_].load(std::memory_order_relaxed);
  if (kind != Kind::kFrame) return {kind, entry.track, entry.value, {}};
  const uint8_t* const bytes = &bytes_[OffsetOf(entry)];
  return {kind, entry.track, 0, {bytes, bytes + entry.value}};
}

// Neither its place nor its payload's was used again.
bool PlayoutQueue::IsIntact(uint64_t n, uint64_t tail) const {
  if (tail - n > entries_.size()) return false;
  const Entry& entry = entries_[n & mask_];
  const bool frame = kinds_[n & mask_].load(std::memory_order_relaxed) == Kind::kFrame;
  return byte_tail_ - entry.byte_end + (frame ? entry.value : 0) <= byte_mask_ + 1;
}

uint64_t PlayoutQueue::FreedUpTo() const {
  const uint64_t released = released_.load(std::memory_order_acquire);
  return released >= dropped_from_ ? std::max(released, dropped_to_) : released;
}

// A payload lies in one piece: what does not fit before the end of the ring
// starts again at its beginning.
bool PlayoutQueue::PlacePayload(size_t bytes, uint32_t* byte_end) const {
  const uint64_t freed = FreedUpTo();
  const uint32_t free_from = freed == 0 ? 0 : entries_[(freed - 1) & mask_].byte_end;
  const uint32_t size = byte_mask_ + 1;
  uint32_t start = byte_tail_;
  if ((start & byte_mask_) + bytes > size) start += size - (start & byte_mask_);
  *byte_end = start + static_cast<uint32_t>(bytes);
  return *byte_end - free_from <= size;
}

PlayoutQueue::Track* PlayoutQueue::FindTrack(uint32_t id) {
  for (auto track = tracks_.rbegin(); track != tracks_.rend(); ++track) {
    if (track->id == id) return &*track;
  }
  return nullptr;
}

// The record of a track, made at its first entry; the oldest one of which
// nothing waits makes place. Null when 64 tracks have entries waiting.
PlayoutQueue::Track* PlayoutQueue::OpenTrack(uint32_t id) {
  if (Track* track = FindTrack(id)) {
    track->end = 0;  // a track that gets more is not over
    return track;
  }
  if (tracks_.size() >= kTracksKept) {
    const uint64_t head = head_.load();
    const auto over = std::find_if(tracks_.begin(), tracks_.end(),
                                   [head](const Track& track) { return track.last <= head; });
    if (over == tracks_.end()) return nullptr;
    tracks_.erase(over);
  }
  tracks_.push_back(Track{id});
  return &tracks_.back();
}

void PlayoutQueue::Append(Track* track, uint64_t tail, Kind kind, const Entry& entry) {
  track->last = tail + 1;
  entries_[tail & mask_] = entry;
  kinds_[tail & mask_].store(kind, std::memory_order_relaxed);
  tail_.store(tail + 1, std::memory_order_release);
}

// Remembers [head, tail) as dropped. Three cases: all before head is free; the
// clock is copying the entry before head; it was already copying at the last
// clear, and the two ranges join.
void PlayoutQueue::CoverGap(uint64_t head, uint64_t tail) {
  const uint64_t released = released_.load(std::memory_order_acquire);
  if (FreedUpTo() == head) {
    dropped_from_ = released;
  } else if (released >= dropped_from_) {
    dropped_from_ = head;
  }
  dropped_to_ = tail;
}

// Counts the entries [head, tail) as dropped and ends every track.
void PlayoutQueue::DropFrom(uint64_t head, uint64_t tail, ClearedQueue* cleared) {
  CoverGap(head, tail);
  // A track that ended reports nothing: its last word, the end mark, was sent.
  for (Track& track : tracks_) {
    if (track.end != 0 && track.end <= head) continue;
    TrackCount count{track.id, 0, 0, {}};
    uint64_t bytes = 0;
    for (uint64_t n = head; n < tail; n++) {
      const Entry& entry = entries_[n & mask_];
      if (entry.track != track.id) continue;
      const Kind kind = kinds_[n & mask_].load(std::memory_order_relaxed);
      if (kind == Kind::kFrame) {
        count.dropped_frames++;
        bytes += entry.value;
      } else if (kind != Kind::kRest) {
        count.dropped_marks.push_back(entry.value);
      }
    }
    track.dropped += count.dropped_frames;
    track.end = tail;
    count.sent_frames = track.pushed - track.dropped;
    frames_in_.fetch_sub(count.dropped_frames);
    bytes_in_.fetch_sub(bytes);
    marks_out_.fetch_sub(static_cast<uint32_t>(count.dropped_marks.size()));
    cleared->tracks.push_back(std::move(count));
  }
}

// The clock.

PlayoutQueue::Frame PlayoutQueue::TakeFrame(uint8_t* out, uint32_t timestamp) {
  for (;;) {
    const uint64_t head = head_.load(std::memory_order_acquire);
    if (head == tail_.load(std::memory_order_acquire)) return {};
    if (kinds_[head & mask_].load(std::memory_order_relaxed) != Kind::kFrame) return {};
    // Before the claim: whoever sees that the frame has left sees its timestamp.
    timestamps_[head & mask_].store(timestamp, std::memory_order_relaxed);
    if (!Claim(head)) continue;  // cleared meanwhile
    frames_claimed_.fetch_add(1);
    const Entry entry = entries_[head & mask_];
    std::memcpy(out, &bytes_[OffsetOf(entry)], entry.value);
    released_.store(head + 1, std::memory_order_release);
    bytes_released_.fetch_add(entry.value);
    return {entry.value, entry.track, entry.generation, head};
  }
}

bool PlayoutQueue::MarkFollows() const {
  const uint64_t head = head_.load(std::memory_order_acquire);
  return head != tail_.load(std::memory_order_acquire) &&
         kinds_[head & mask_].load(std::memory_order_relaxed) != Kind::kFrame;
}

bool PlayoutQueue::TakeMark(ReachedMark* out) {
  for (;;) {
    const uint64_t head = head_.load(std::memory_order_acquire);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    const Kind kind = kinds_[head & mask_].load(std::memory_order_relaxed);
    if (kind == Kind::kFrame) return false;
    if (!Claim(head)) continue;
    const Entry& entry = entries_[head & mask_];
    *out = {entry.track, entry.value, kind == Kind::kTrackEnd, kind == Kind::kRest};
    released_.store(head + 1, std::memory_order_release);
    return true;
  }
}

}  // namespace parley
