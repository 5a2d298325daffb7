// Engines on the same processors: the sound of live listeners goes first, then live recognition, then
// whatever reads or writes files. A less urgent engine pauses between two kernels while a more urgent one
// works.
#ifndef PARLEY_RUNTIME_PRECEDENCE_H_
#define PARLEY_RUNTIME_PRECEDENCE_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

namespace parley::runtime {

enum class Rank : uint8_t { kListeners, kLiveText, kFiles };
inline constexpr size_t kRanks = 3;

// The engines of one set of processors.
class Precedence {
 public:
  // The processors of a node, or those of engines that name none. Lives as long as an engine has it.
  static std::shared_ptr<Precedence> Of(std::optional<int> numa_node);

  // One engine. Its own thread alone calls it.
  class Member {
   public:
    explicit Member(std::shared_ptr<Precedence> all) : all_(std::move(all)) {}
    ~Member() { Rest(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // It works on something of this rank from now on, until Rest().
    void Work(Rank rank);
    void Rest();
    // A round of its work begins.
    void BeginRound() { waited_ = {}; }
    // Waits while a more urgent engine works. All waits of a round together are bounded, so that nothing
    // stands still: a fifth of a second for live text, a second for files.
    void GiveWay();

   private:
    const std::shared_ptr<Precedence> all_;
    std::optional<Rank> rank_;
    std::chrono::steady_clock::duration waited_{};  // in this round
  };

 private:
  void Change(Rank rank, int by);
  bool IsOutranked(Rank rank) const;

  std::array<std::atomic<int>, kRanks> working_{};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_PRECEDENCE_H_
