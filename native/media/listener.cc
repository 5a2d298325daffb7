#include "media/listener.h"

#include <algorithm>

#include "media/stream.h"

namespace parley {

StreamConfig Listener::Following(const StreamConfig& source, StreamConfig config) {
  config.clock_rate = source.clock_rate;
  config.ticks_per_frame = source.ticks_per_frame;
  config.period_ns = source.period_ns;
  config.silence = source.silence;
  config.codec = source.codec;
  return config;
}

// The payload of silence is the codec's own, which the plane knows by nothing else.
bool Listener::Suits(const StreamConfig& source) const {
  return config_.clock_rate == source.clock_rate && config_.ticks_per_frame == source.ticks_per_frame &&
         config_.period_ns == source.period_ns && config_.silence == source.silence;
}

// The timestamp goes on by the time that passed since the last tick. The listener may have had no target or
// no source meanwhile, or the source may have left ticks out. A new source may be due before the next tick of
// the old one: the timestamp then goes on by one frame.
void Listener::Tick(const TickSound& sound, int64_t due_ns, int64_t now_ns) {
  const Target* const way = target();
  if (!way) return DropBundle();
  FlushUnsent();
  if (!begun_) tick_ns_ = due_ns;
  begun_ = true;
  if (due_ns > tick_ns_) Skip(due_ns - tick_ns_);
  tick_ns_ = due_ns;
  SendSound(*way, sound);
  SendRtcpAndReports(*way, now_ns);
  EndTick();
}

bool Audience::Add(Listener* listener) {
  const auto free = std::find(slots_.begin(), slots_.end(), nullptr);
  if (free == slots_.end()) return false;
  free->store(listener);
  const auto end = static_cast<size_t>(free - slots_.begin()) + 1;
  end_.store(std::max(end_.load(), end));
  size_.fetch_add(1);
  return true;
}

void Audience::Remove(Listener* listener) {
  const auto slot = std::find(slots_.begin(), slots_.end(), listener);
  if (slot == slots_.end()) return;
  slot->store(nullptr);
  size_.fetch_sub(1);
  size_t end = end_.load();
  while (end > 0 && !slots_[end - 1].load()) end--;
  end_.store(end);
}

}  // namespace parley
