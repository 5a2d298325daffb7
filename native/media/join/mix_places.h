// The places of a mix: the loudest few members that are heard, and every sound of ours.
//
// A member keeps its place until another one needs it. Another one takes it where the weakest has been quiet
// for 400 ms, or where it was 3 dB louder than the weakest for so long. Places change with a ramp of 10 ms.
#ifndef PARLEY_MEDIA_JOIN_MIX_PLACES_H_
#define PARLEY_MEDIA_JOIN_MIX_PLACES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/join/mix_input.h"

namespace parley {

class MixPlaces {
 public:
  static constexpr size_t kMostLoudest = 16, kMostRings = 16;
  static constexpr size_t kMost = 2 * kMostLoudest + kMostRings;  // members that leave their places, too
  static_assert(kMost <= 64, "a mask of places has 64 bits");

  struct Place {
    MixInput* input = nullptr;  // null: it is free
    bool is_ring = false;
    bool leaves = false;
    GainRamp fade{1};
    bool sounds = false;
    std::array<float, JoinedSound::kQuantum> sound;  // of this quantum, with its gains
  };

  // At most kMostLoudest.
  explicit MixPlaces(size_t loudest) : loudest_(loudest) {}

  // False: no place is free.
  bool AddRing(RingInput* ring);
  // The input ends: its place is free at once.
  void Remove(MixInput* input);
  // Choose gives places to the loudest members and takes them from others. All members were heard before.
  void Choose(const std::vector<LegInput*>& members);
  // Writes the sound of each place.
  void Fill();
  // Writes the sound of this input's place only.
  void Fill(const MixInput& input);

  size_t size() const { return end_; }  // places from there on are free
  const Place& operator[](size_t n) const { return places_[n]; }
  // Bits of the places that sound.
  uint64_t sounding() const { return sounding_; }
  size_t loudest() const { return loudest_; }
  size_t heard() const;  // members that have a place and keep it

 private:
  Place* FindFree();
  static void Fill(Place& place);
  bool Give(LegInput* member);
  LegInput* Weakest() const;
  bool MayReplace(LegInput* member, const LegInput* weakest);

  const size_t loudest_;
  std::array<Place, kMost> places_{};
  size_t end_ = 0;
  uint64_t sounding_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_MIX_PLACES_H_
