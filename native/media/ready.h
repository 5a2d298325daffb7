// Wait-free notification from a thread of the plane to a JavaScript thread that something is ready. The
// notifying side needs no lock, no allocation and no wait.
//
//   waiting side:    watch.Arm(sink, handle); then check the condition again
//   notifying side:  change the condition; then watch.Fire()
//
// Either the second check sees the change or Fire() sees the watch: the condition must be changed and read
// with seq_cst (or under one lock).
#ifndef PARLEY_MEDIA_READY_H_
#define PARLEY_MEDIA_READY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace parley {

class ReadySink;

// One waiting environment, allocated when it begins to wait.
struct ReadyNode {
  std::shared_ptr<ReadySink> sink;
  uint64_t handle = 0;
  ReadyNode* next = nullptr;
};

// Collects what is ready for one environment. Push may be called by any
// thread at any time, also after the environment has ended.
class ReadySink {
 public:
  virtual ~ReadySink();
  ReadySink() = default;
  ReadySink(const ReadySink&) = delete;
  ReadySink& operator=(const ReadySink&) = delete;

  // Takes over the node. Must be called on node->sink.
  static void Push(std::unique_ptr<ReadyNode> node);

  // Every handle pushed since the last Take, each once, oldest first.
  std::vector<uint64_t> Take();

 protected:
  // Called by Push when the list was empty, on the pushing thread.
  virtual void Wake() = 0;

 private:
  std::atomic<ReadyNode*> head_{nullptr};  // newest first
};

// A one-shot watch: at most one environment waits, a later one replaces it.
// Owned by the object that is watched.
class ReadyWatch {
 public:
  ReadyWatch() = default;
  ~ReadyWatch() { Disarm(); }
  ReadyWatch(const ReadyWatch&) = delete;
  ReadyWatch& operator=(const ReadyWatch&) = delete;

  void Arm(std::shared_ptr<ReadySink> sink, uint64_t handle);
  void Disarm();
  void Fire();

 private:
  std::atomic<ReadyNode*> armed_{nullptr};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_READY_H_
