// One member of a mixer: what it says and what it hears.
#ifndef PARLEY_MEDIA_JOIN_MIXER_MEMBER_H_
#define PARLEY_MEDIA_JOIN_MIXER_MEMBER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/join/mix_input.h"
#include "media/join/mix_output.h"
#include "media/join/mix_places.h"
#include "media/playout_queue.h"

namespace parley {

class Stream;

enum class VoiceMode : uint8_t {
  kPaused,  // while the member's stream has a voice of ours, nothing else is sent
  kDucked,  // the voice of ours is mixed with the members, who are 12 dB softer
};

class MixerMember {
 public:
  static constexpr float kDucked = 0.25F;

  MixerMember(uint32_t id, std::shared_ptr<JoinedLeg> leg) : input(id, std::move(leg)) {}

  uint32_t id() const { return input.id; }

  // Callers, under the mixer's mutex.
  void Hears(uint32_t other, bool is_heard);
  void Forget(uint32_t other);

  // The joining thread. Takes over the stream that the socket has now.
  void FollowStream();
  // The tick of the stream whose frame ends with this quantum; 0: there is none.
  int64_t TickFor(int64_t at_ns) const;
  // Bits of the places that are heard. `alone` is set where a gain moves that others do not have.
  uint64_t MaskOf(const MixPlaces& places, bool* alone);
  // Mixes these places.
  void Mix(const MixPlaces& places, uint64_t mask, float* out) const;
  // Goes on to the next quantum.
  void Advance();
  // The member has to hear a voice of ours beside the others, or its end.
  bool ducks() const;
  bool hears_all() const { return exceptions_.empty(); }
  // Its stream is there, and has had its first tick.
  bool ticks() const;
  // Encodes the next frame of that voice together with the mix. The voice has ended where nothing is
  // replaced.
  size_t EncodeDucked(uint64_t* replaces);

  LegInput input;
  std::shared_ptr<JoinedSound> sound;  // null: nothing can be encoded for it
  MixOutput output;
  // The member whose output this one gets; usually itself.
  MixerMember* leader = this;
  size_t followers = 0;
  uint64_t mask = 0;
  bool alone = false;
  int64_t mask_quanta = 0;  // since it changed, or the stream
  int64_t phase = -1;       // of its frames among the quanta
  size_t owed = 0;          // quanta that its output lacks: they are mixed when its next frame is due
  GainRamp listens{1};      // 0: it is deaf
  bool muted = false, leaves = false;
  float said_gain = 1;  // of its input, unless it is muted
  VoiceMode voice = VoiceMode::kPaused;
  uint64_t frames = 0, late = 0, shared = 0;  // encoded, after their tick, and encoded for another member

 private:
  // Another input that the member hears less, or not at all.
  struct Exception {
    uint32_t id;
    GainRamp gain;
    GainRamp::Step step{1, 1};
  };

  const Exception* Find(uint32_t id) const;
  bool DecodeVoice();

  std::vector<Exception> exceptions_;
  GainRamp::Step listens_step_{1, 1};
  uint32_t version_ = UINT32_MAX;  // of the leg
  std::shared_ptr<RtpStream> held_stream_;
  Stream* stream_ = nullptr;  // null: a listener, or none
  PlayoutQueue::NextFrame voice_{};
  std::unique_ptr<VoiceDecoder> voice_decoder_;
  GainRamp duck_{1};
  std::array<float, MixOutput::kMostSamples> voice_sound_{};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_MIXER_MEMBER_H_
