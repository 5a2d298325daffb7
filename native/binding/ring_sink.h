// Passes the sound of one stream from the engine into its ring. It wakes the engine when the ring has room
// again, and notifies JavaScript of the stream's end.
#ifndef PARLEY_BINDING_RING_SINK_H_
#define PARLEY_BINDING_RING_SINK_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "binding/handles.h"
#include "binding/notifier.h"
#include "media/byte_ring.h"
#include "runtime/engine.h"

namespace parley {

// Object behind a stream's handle. The engine holds it until the end of the stream, JavaScript until it has
// taken the end.
class RingSink final : public runtime::SpeechSink {
 public:
  RingSink(std::shared_ptr<runtime::Engine> engine, std::shared_ptr<ByteRing> ring);

  // Call before the engine gets the sink: sets the notifier of the stream's end, and the handle that it
  // reports.
  void SetNotifier(std::shared_ptr<Notifier> notifier, Handle handle);
  // Sets the stream's id in the engine, which may already be working on it.
  void Started(runtime::StreamId stream);

  size_t Room() override;
  void Write(const float* samples, size_t count) override;
  void Waits(bool waits) override;
  void Ended(const runtime::StreamEnd& end) override;

  // Adds text to a request with more_text; `last`: the text ends here.
  void AddText(std::string text, bool last);
  void Cancel();
  // The latest state that the engine reported by Waits.
  bool IsWaiting() const { return waits_.load(); }
  // Nullopt before the end.
  std::optional<runtime::StreamEnd> End();

 private:
  class Waker;

  // Weak, because the engine ends its sinks when it closes: no sink keeps the engine alive.
  const std::weak_ptr<runtime::Engine> engine_;
  const std::shared_ptr<ByteRing> ring_;
  const std::shared_ptr<Waker> waker_;
  std::atomic<runtime::StreamId> stream_{0};
  std::atomic<bool> waits_{false};

  std::mutex mutex_;  // guards what follows
  std::shared_ptr<Notifier> notifier_;
  Handle handle_ = 0;
  std::optional<runtime::StreamEnd> end_;
};

}  // namespace parley

#endif  // PARLEY_BINDING_RING_SINK_H_
