// A bounded queue of bytes between one writer and one reader, with an end.
//
//   writer: Write... End(error)        reader: Read... until ended and empty
//
// Either side may Abort: what is queued is dropped and both sides learn it. The
// clock never touches a ring, so a mutex guards it.
#ifndef PARLEY_MEDIA_BYTE_RING_H_
#define PARLEY_MEDIA_BYTE_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "media/ready.h"

namespace parley {

class ByteRing {
 public:
  struct Status {
    size_t readable = 0;  // bytes
    size_t writable = 0;
    uint64_t written = 0;  // bytes accepted since the ring was made
    bool ended = false;
    bool aborted = false;
    std::string error;  // the writer's last word; empty is a complete end
  };

  explicit ByteRing(size_t capacity) : bytes_(capacity) {}

  // Bytes accepted, in whole units of `unit` bytes; 0 is a full ring. -1 once
  // aborted or ended.
  int64_t Write(const uint8_t* data, size_t len, size_t unit);

  // Bytes copied, in whole units; 0 is an empty ring. -1 once aborted.
  int64_t Read(uint8_t* data, size_t len, size_t unit);

  // The first call counts; data already written stays readable.
  void End(std::string error);

  void Abort();

  Status GetStatus();

  // True: the condition holds now. False: the sink hears of `handle` once when
  // it comes to hold. Reading waits for a byte, the end or an abort; writing
  // for half of the capacity, or an abort.
  bool WatchRead(std::shared_ptr<ReadySink> sink, uint64_t handle);
  bool WatchWrite(std::shared_ptr<ReadySink> sink, uint64_t handle);

 private:
  bool ReadReady() const { return used_ > 0 || ended_ || aborted_; }
  bool WriteReady() const { return bytes_.size() - used_ >= (bytes_.size() + 1) / 2 || aborted_; }

  std::mutex mutex_;  // guards everything below
  std::vector<uint8_t> bytes_;
  size_t head_ = 0;  // the oldest byte
  size_t used_ = 0;
  uint64_t written_ = 0;
  bool ended_ = false;
  bool aborted_ = false;
  std::string error_;
  ReadyWatch read_watch_;
  ReadyWatch write_watch_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_BYTE_RING_H_
