#include "media/byte_ring.h"

#include <algorithm>
#include <cstring>

namespace parley {

int64_t ByteRing::Write(const uint8_t* data, size_t len, size_t unit) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (aborted_ || ended_) return -1;
  const size_t room = bytes_.size() - used_;
  const size_t count = std::min(len, room) / unit * unit;
  if (count == 0) return 0;
  const size_t tail = (head_ + used_) % bytes_.size();
  const size_t first = std::min(count, bytes_.size() - tail);
  std::memcpy(bytes_.data() + tail, data, first);
  std::memcpy(bytes_.data(), data + first, count - first);
  used_ += count;
  written_ += count;
  read_watch_.Fire();
  return static_cast<int64_t>(count);
}

int64_t ByteRing::Read(uint8_t* data, size_t len, size_t unit) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (aborted_) return -1;
  const size_t count = std::min(len, used_) / unit * unit;
  if (count == 0) return 0;
  const size_t first = std::min(count, bytes_.size() - head_);
  std::memcpy(data, bytes_.data() + head_, first);
  std::memcpy(data + first, bytes_.data(), count - first);
  head_ = (head_ + count) % bytes_.size();
  used_ -= count;
  if (WriteReady()) write_watch_.Fire();
  return static_cast<int64_t>(count);
}

void ByteRing::End(std::string error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return;
  ended_ = true;
  error_ = std::move(error);
  read_watch_.Fire();
}

void ByteRing::Abort() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (aborted_) return;
  aborted_ = true;
  used_ = 0;
  std::vector<uint8_t>().swap(bytes_);
  read_watch_.Fire();
  write_watch_.Fire();
}

ByteRing::Status ByteRing::GetStatus() {
  std::lock_guard<std::mutex> lock(mutex_);
  Status status;
  status.readable = used_;
  status.writable = bytes_.size() - used_;
  status.written = written_;
  status.ended = ended_;
  status.aborted = aborted_;
  status.error = error_;
  return status;
}

bool ByteRing::WatchRead(std::shared_ptr<ReadySink> sink, uint64_t handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ReadReady()) return true;
  read_watch_.Arm(std::move(sink), handle);
  return false;
}

bool ByteRing::WatchWrite(std::shared_ptr<ReadySink> sink, uint64_t handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (WriteReady()) return true;
  write_watch_.Arm(std::move(sink), handle);
  return false;
}

}  // namespace parley
