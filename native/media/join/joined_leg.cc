#include "media/join/joined_leg.h"

#include "media/rtp_stream.h"

namespace parley {

std::shared_ptr<JoinedSound> JoinedLeg::Follow(std::shared_ptr<RtpStream> stream) {
  auto sound = stream ? JoinedSound::Make(stream->config().codec, stream->config().period_ns) : nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!stream || way_.stream != stream) {
    way_ = {std::move(sound), std::move(stream)};
    version_.fetch_add(1, std::memory_order_release);
  }
  return way_.sound;
}

}  // namespace parley
