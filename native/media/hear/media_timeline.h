// Places packets on one line of samples, which continues over changes of the source and over jumps of
// timestamps and sequence numbers. Between two such changes, an epoch, timestamps decide the place.
//
// It also remembers which sequence numbers came, to tell losses, duplicates and pauses apart.
#ifndef PARLEY_MEDIA_HEAR_MEDIA_TIMELINE_H_
#define PARLEY_MEDIA_HEAR_MEDIA_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley {

class MediaTimeline {
 public:
  static constexpr uint32_t kLeastClockRate = 8000, kMostClockRate = 192'000;  // Hz
  static constexpr int64_t kRate = 16'000;  // samples of the line, per second

  struct Packet {
    // kSound moves the line's end. A packet of kPlaceless has no place of its own: its place is that end.
    enum Kind : uint8_t { kSound, kSilence, kPlaceless };
    Kind kind;
    uint32_t clock_rate;
    uint64_t sequence, timestamp;
    int64_t arrival_ns;  // never decreases
    uint32_t samples;    // of the line
  };
  enum class Verdict : uint8_t {
    kNext,       // newer than all before
    kReordered,  // older than the newest
    kDuplicate,
    kOld,    // too old, or of the time before a jump: it has no place
    kEpoch,  // the first of an epoch
  };
  struct Place {
    Verdict verdict;
    uint32_t epoch;
    int64_t position;
    uint64_t skipped;  // kNext: sequence numbers between the newest before and this one
  };

  // An epoch begins at the line's end, and not before `live`.
  Place Map(const Packet& packet, int64_t live);
  // The next packet begins an epoch: it is of another source.
  void Restart() { restart_ = true; }
  bool started() const { return epoch_ > 0; }
  // Sequence numbers between both that have not come. What came in an earlier epoch is not remembered.
  uint64_t Missing(uint32_t epoch, uint64_t after, uint64_t before) const;

 private:
  static constexpr uint64_t kWindow = 1024;  // sequence numbers that are remembered
  static constexpr int64_t kMostSkipped = 1000;
  static constexpr int kOldInARow = 4;      // then the sequence numbers began again
  static constexpr double kJump = 1;        // s between the progress of timestamps and that of arrivals
  static constexpr double kLongest = 3600;  // s without packets

  Place Begin(const Packet& packet, int64_t live);
  Place Old(const Packet& packet, int64_t live);
  Place Advance(const Packet& packet, Verdict verdict, uint64_t skipped, int64_t position);
  bool Jumps(const Packet& packet, bool newer) const;
  bool HasCome(uint64_t sequence) const { return came_[sequence % kWindow]; }

  uint32_t epoch_ = 0;
  bool restart_ = false;
  uint32_t clock_rate_ = 0;
  uint64_t first_timestamp_ = 0;
  int64_t first_position_ = 0, end_ = 0;
  uint64_t newest_sequence_ = 0;
  uint64_t newest_timestamp_ = 0;  // of a packet with a place
  int64_t newest_arrival_ns_ = 0;  // of the same
  std::array<bool, kWindow> came_{};
  uint64_t next_old_ = 0;
  int old_in_a_row_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_MEDIA_TIMELINE_H_
