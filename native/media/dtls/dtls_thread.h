// The thread that does the handshakes and the encryption of all DTLS associations of a plane, so that no
// other thread waits for them.
//
// It is fair: an association that has work gets one step, then all others that have some. It sleeps while
// nothing waits and no retransmission is due.
#ifndef PARLEY_MEDIA_DTLS_DTLS_THREAD_H_
#define PARLEY_MEDIA_DTLS_DTLS_THREAD_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "media/dtls/dtls_association.h"

namespace parley {

class DtlsThread {
 public:
  static constexpr size_t kMaxAssociations = 8192;

  // `manual`: there is no thread, and Run does its work.
  explicit DtlsThread(bool manual) : manual_(manual) {}
  ~DtlsThread() { Close(); }
  DtlsThread(const DtlsThread&) = delete;
  DtlsThread& operator=(const DtlsThread&) = delete;

  // The thread begins with the first one. False: it is closed, or has kMaxAssociations.
  bool Add(const std::shared_ptr<DtlsAssociation>& association);
  // After DtlsAssociation::Close. Idempotent.
  void Remove(const DtlsAssociation* association);
  // Called by DtlsAssociation::Wake.
  void List(std::shared_ptr<DtlsAssociation> association);
  // Without a thread: does all work that waits, and the retransmissions that are due.
  void Run();
  size_t size();
  // Associations that have work, the one under way included.
  size_t waiting();
  // Joins the thread, and closes the associations that are left; returns the handles of those.
  std::vector<uint64_t> Close();

 private:
  void Loop();
  void ListDue(int64_t now_ns);
  bool StepOne(std::unique_lock<std::mutex>& lock);
  int64_t next_deadline_ns() const { return deadlines_.empty() ? INT64_MAX : deadlines_.begin()->first; }

  const bool manual_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool closed_ = false;
  size_t running_ = 0;
  std::unordered_map<const DtlsAssociation*, std::shared_ptr<DtlsAssociation>> associations_;
  std::deque<std::shared_ptr<DtlsAssociation>> waiting_;  // the next one first
  std::thread thread_;

  // The thread's, or those of the caller of Run.
  std::set<std::pair<int64_t, std::shared_ptr<DtlsAssociation>>> deadlines_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DTLS_THREAD_H_
