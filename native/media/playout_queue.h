// Bounded queue of the encoded frames and marks that a call is about to send, in order.
//
//   producers ──Push, Mark──▶ [released ··· head ··· tail) ──TakeFrame, TakeMark──▶ clock
//                                    Clear moves head to tail
//
// An entry belongs to the side that moved `head` past it: the clock, which sends it, or Clear(), which drops
// it. The move is one atomic step, so no entry is both sent and dropped. The clock then copies the entry and
// moves `released`; only after that may a producer reuse its place. Producers and Clear() share a mutex that
// the clock never takes. Entry numbers only grow, so head cannot return to a value that the clock has seen
// before (no ABA problem).
#ifndef PARLEY_MEDIA_PLAYOUT_QUEUE_H_
#define PARLEY_MEDIA_PLAYOUT_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace parley {

enum class PushResult : int { kStale = -1, kFull = 0, kTaken = 1 };

// Counts for one track at a clear.
struct TrackCount {
  uint32_t track;
  uint64_t sent_frames;
  uint64_t dropped_frames;
  std::vector<uint32_t> dropped_marks;  // in order
};

struct ClearedQueue {
  uint32_t generation;             // the one that pushes must carry from now on
  std::vector<TrackCount> tracks;  // every track that had not reached its end, oldest first
};

enum class EntryKind : uint8_t { kFrame, kMark, kTrackEnd, kRest };

// One thing that was queued, out of the queue.
struct TakenEntry {
  EntryKind kind;
  uint32_t track;
  uint32_t mark;
  std::vector<uint8_t> payload;
};

// A frame that left, with the RTP timestamp that it had.
struct SentFrame {
  uint32_t track;
  uint32_t timestamp;
  std::vector<uint8_t> payload;
  bool counted = false;  // in a replay: counts as sent while it waits to be sent once more
};

// A queue that goes on somewhere else.
struct TakenQueue {
  ClearedQueue cleared;
  std::vector<TakenEntry> sent;     // the last frames that left, oldest first: what a decoder begins with
  std::vector<TakenEntry> entries;  // entries not yet sent, in order
};

class PlayoutQueue {
 public:
  static constexpr size_t kMaxPayload = 1500;  // bytes
  // Marks on their way, queued or not yet taken by JavaScript: as many as the
  // clock's event ring keeps places for (clock.h).
  static constexpr uint32_t kMaxMarks = 63;

  struct Frame {
    size_t bytes = 0;  // 0: there is no frame
    uint32_t track = 0;
    uint32_t generation = 0;  // that it was pushed with
    uint64_t number = 0;      // its entry's
  };
  // A frame that waits.
  struct NextFrame {
    uint64_t number;  // its entry's
    uint32_t track;
    std::vector<uint8_t> payload;
  };
  struct ReachedMark {
    uint32_t track;
    uint32_t mark;
    bool end_of_track;
    bool rest;  // not a mark: reported to the clock only
  };

  // Bytes of an ordinary frame: 64 kbit/s at 20 ms.
  static constexpr size_t kUsualPayload = 160;

  // Room is worth a notice below `low_frames`; the queue is full at `high_frames`, or earlier if most frames
  // have more than `usual_payload` bytes.
  PlayoutQueue(uint32_t low_frames, uint32_t high_frames, size_t usual_payload = kUsualPayload);

  // Producers, any thread.
  PushResult Push(uint32_t generation, uint32_t track, const uint8_t* payload, size_t bytes);
  PushResult Mark(uint32_t generation, uint32_t track, uint32_t mark, bool end_of_track);
  // The producer itself waits for what comes next: an empty queue after this is no underrun.
  PushResult Rest(uint32_t generation, uint32_t track);
  ClearedQueue Clear();
  // Clears, and hands out what was dropped, after up to `most_sent` frames that were sent just before it.
  TakenQueue Take(size_t most_sent);
  // The frames of the present generation that have left, oldest first, as far as their places were not used
  // again. Only entries from number `from` on, and the last `most` of them.
  struct SentFrames {
    std::vector<SentFrame> frames;
    uint64_t up_to;  // number of the entry after the last one that left
  };
  SentFrames SentSince(uint64_t from, size_t most = SIZE_MAX);
  // The frame that the clock takes next, behind any marks. False: no frame waits.
  bool LookAtNext(NextFrame* next);
  // False: the clock or a clear has taken that entry.
  bool Waits(uint64_t number) const { return head_.load() <= number; }
  // Closes the queue: every later push is stale. Queued entries are dropped uncounted.
  void Close();
  uint32_t generation() const { return generation_.load(); }
  bool closed() const { return closed_.load(); }
  uint64_t Sent(uint32_t track);
  uint32_t QueuedFrames() const;

  // Room: below the low mark with places for marks and bytes for any frame, or nothing to wait for.
  bool HasRoom() const;
  // True: there is room now. False: ShouldNotify() will say so once.
  bool AwaitRoom();
  // One true per false of AwaitRoom, once there is room. Any thread, no lock.
  bool ShouldNotify() { return room_armed_.load() && HasRoom() && room_armed_.exchange(false); }

  // After a notice that could not be passed on: ask again.
  void RepeatNotice() { room_armed_.store(true); }

  // JavaScript has taken marks that were reached.
  void MarksDelivered(uint32_t count) { marks_out_.fetch_sub(count); }

  // The clock only. A frame is copied to `out`, which has kMaxPayload bytes. It leaves with this RTP
  // timestamp.
  Frame TakeFrame(uint8_t* out, uint32_t timestamp);
  // True when the next entry was a mark or a rest.
  bool TakeMark(ReachedMark* out);
  // True when the next entry is a mark or a rest.
  bool MarkFollows() const;

 private:
  using Kind = EntryKind;

  // Byte numbers run over the end of 32 bits; only their differences count.
  struct Entry {
    uint32_t track;
    uint32_t value;     // of a frame its bytes, else the mark
    uint32_t byte_end;  // byte_tail_ after this entry
    uint32_t generation;
  };
  struct Track {
    uint32_t id;
    uint64_t pushed = 0;   // frames
    uint64_t dropped = 0;  // frames
    uint64_t last = 0;     // number of the entry after its last one
    uint64_t end = 0;      // number of the entry after its end mark; 0 while it has none
  };

  static constexpr size_t kTracksKept = 64;

  bool Claim(uint64_t head) {
    return head_.compare_exchange_strong(head, head + 1, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // Start of a frame's payload in bytes_.
  size_t OffsetOf(const Entry& entry) const { return (entry.byte_end - entry.value) & byte_mask_; }
  size_t HeldBytes() const;

  // Under the mutex.
  uint64_t FreedUpTo() const;
  bool HasEntryPlace(uint64_t tail) const { return tail - FreedUpTo() < entries_.size(); }
  uint64_t DropAll(ClearedQueue* cleared);
  TakenEntry Copy(uint64_t n) const;
  bool IsIntact(uint64_t n, uint64_t tail) const;
  bool PlacePayload(size_t bytes, uint32_t* byte_end) const;
  Track* FindTrack(uint32_t id);
  Track* OpenTrack(uint32_t id);
  void Append(Track* track, uint64_t tail, Kind kind, const Entry& entry);
  void CoverGap(uint64_t head, uint64_t tail);
  void DropFrom(uint64_t head, uint64_t tail, ClearedQueue* cleared);

  const uint32_t low_frames_;
  const uint32_t high_frames_;
  const uint64_t mask_;
  const uint32_t byte_mask_;

  std::vector<Entry> entries_;
  // Beside the entries because the clock looks at the next kind before it owns the entry.
  std::vector<std::atomic<Kind>> kinds_;
  // RTP timestamps of the frames that left. The clock writes them while other threads read the entries.
  std::vector<std::atomic<uint32_t>> timestamps_;
  const std::unique_ptr<uint8_t[]> bytes_;  // byte_mask_ + 1; begin uninitialised

  alignas(64) std::atomic<uint64_t> head_{0};      // next to claim
  alignas(64) std::atomic<uint64_t> tail_{0};      // next to write
  alignas(64) std::atomic<uint64_t> released_{0};  // the clock has copied all that it claimed before this
  std::atomic<uint64_t> frames_claimed_{0};        // by the clock
  std::atomic<uint64_t> frames_in_{0};             // pushed and not dropped
  std::atomic<uint64_t> bytes_released_{0};        // of frames, by the clock
  std::atomic<uint64_t> bytes_in_{0};              // of frames pushed and not dropped
  std::atomic<uint32_t> marks_out_{0};
  std::atomic<uint32_t> generation_{1};
  std::atomic<bool> closed_{false};
  std::atomic<bool> room_armed_{false};

  std::mutex mutex_;  // producers and Clear; guards everything below
  uint32_t byte_tail_ = 0;
  // Entries that the last clear dropped: [from, to). The clock never releases them, so they count as released
  // once the clock has released everything before them.
  uint64_t dropped_from_ = 0;
  uint64_t dropped_to_ = 0;
  std::deque<Track> tracks_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_PLAYOUT_QUEUE_H_
