#include "media/join/mix_places.h"

#include <algorithm>

namespace parley {

MixPlaces::Place* MixPlaces::FindFree() {
  for (size_t n = 0; n < kMost; n++) {
    if (places_[n].input) continue;
    end_ = std::max(end_, n + 1);
    places_[n] = Place();
    return &places_[n];
  }
  return nullptr;
}

bool MixPlaces::AddRing(RingInput* ring) {
  const auto rings = std::count_if(places_.begin(), places_.end(),
                                   [](const Place& place) { return place.input && place.is_ring; });
  Place* const place = static_cast<size_t>(rings) < kMostRings ? FindFree() : nullptr;
  if (!place) return false;
  place->input = ring;
  place->is_ring = true;
  ring->place = static_cast<int>(place - places_.data());
  return true;
}

void MixPlaces::Remove(MixInput* input) {
  if (input->place == MixInput::kNoPlace) return;
  places_[static_cast<size_t>(input->place)].input = nullptr;
  input->place = MixInput::kNoPlace;
  while (end_ > 0 && !places_[end_ - 1].input) end_--;
}

size_t MixPlaces::heard() const {
  return static_cast<size_t>(std::count_if(places_.begin(), places_.end(), [](const Place& place) {
    return place.input && !place.is_ring && !place.leaves;
  }));
}

// A member that sounded before it had a place comes in with a ramp.
bool MixPlaces::Give(LegInput* member) {
  Place* const place = FindFree();
  if (!place) return false;
  place->input = member;
  place->fade = GainRamp(member->sounded_before ? 0.0F : 1.0F);
  place->fade.Set(1);
  member->place = static_cast<int>(place - places_.data());
  member->louder_quanta = 0;
  return true;
}

LegInput* MixPlaces::Weakest() const {
  LegInput* weakest = nullptr;
  for (size_t n = 0; n < end_; n++) {
    const Place& place = places_[n];
    if (!place.input || place.is_ring || place.leaves) continue;
    auto* const member = static_cast<LegInput*>(place.input);
    if (!weakest || member->loudness < weakest->loudness) weakest = member;
  }
  return weakest;
}

bool MixPlaces::MayReplace(LegInput* member, const LegInput* weakest) {
  const bool louder = member->loudness > weakest->loudness * MixInput::kLouder;
  member->louder_quanta = louder ? member->louder_quanta + 1 : 0;
  const bool is_quiet = weakest->quiet_quanta >= MixInput::kHoldQuanta && member->power > MixInput::kQuiet;
  return is_quiet || member->louder_quanta >= MixInput::kHoldQuanta;
}

void MixPlaces::Choose(const std::vector<LegInput*>& members) {
  for (size_t n = 0; n < end_; n++) {
    MixInput* const input = places_[n].input;
    if (!input || places_[n].is_ring) continue;
    if (input->gain.silent() || (places_[n].leaves && places_[n].fade.silent())) Remove(input);
  }
  size_t heard = this->heard();
  LegInput* loudest = nullptr;
  LegInput* const weakest = heard < loudest_ ? nullptr : Weakest();
  for (LegInput* const member : members) {
    if (member->place != MixInput::kNoPlace || !member->wants_place()) continue;
    if (heard < loudest_) {
      if (Give(member)) heard++;
    } else if (weakest && MayReplace(member, weakest) && (!loudest || member->loudness > loudest->loudness)) {
      loudest = member;
    }
  }
  if (!loudest || !Give(loudest)) return;
  Place& left = places_[static_cast<size_t>(weakest->place)];
  left.leaves = true;
  left.fade.Set(0);
}

void MixPlaces::Fill() {
  sounding_ = 0;
  for (size_t n = 0; n < end_; n++) {
    Place& place = places_[n];
    if (!place.input) continue;
    Fill(place);
    if (place.sounds) sounding_ |= uint64_t{1} << n;
  }
}

void MixPlaces::Fill(const MixInput& input) {
  if (input.place != MixInput::kNoPlace) Fill(places_[static_cast<size_t>(input.place)]);
}

void MixPlaces::Fill(Place& place) {
  const GainRamp::Step fade = place.fade.Advance(), gain = place.input->step;
  const GainRamp::Step step{fade.from * gain.from, fade.to * gain.to};
  place.sounds = place.input->sounds && !step.silent();
  if (!place.sounds) return;
  place.sound.fill(0);
  AddScaled(place.input->samples.data(), place.sound.size(), step, place.sound.data());
}

}  // namespace parley
