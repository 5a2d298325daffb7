#include "media/dtls/datagram_bio.h"

#include <algorithm>
#include <cstring>

namespace parley {
namespace {

constexpr size_t kMaxQueued = 64;  // a flight has a handful

DatagramQueue* QueueOf(BIO* bio) { return static_cast<DatagramQueue*>(BIO_get_data(bio)); }

// One more than that is lost, as the network loses it; it is sent again.
int Write(BIO* bio, const char* data, int len) {
  BIO_clear_retry_flags(bio);
  DatagramQueue* const queue = QueueOf(bio);
  const auto* bytes = reinterpret_cast<const uint8_t*>(data);
  if (len > 0 && queue->out.size() < kMaxQueued) queue->out.emplace_back(bytes, bytes + len);
  return len;
}

// What does not fit into the reader's buffer is cut off, as recv() does.
int Read(BIO* bio, char* data, int len) {
  BIO_clear_retry_flags(bio);
  DatagramQueue* const queue = QueueOf(bio);
  if (!queue->in || len < 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t bytes = std::min(queue->in_bytes, static_cast<size_t>(len));
  std::memcpy(data, queue->in, bytes);
  queue->in = nullptr;
  return static_cast<int>(bytes);
}

// Nothing waits inside and nothing is known of the path: only a flush succeeds.
long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int Create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* MakeMethod() {
  BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams in memory");
  if (!method) return nullptr;
  BIO_meth_set_write(method, Write);
  BIO_meth_set_read(method, Read);
  BIO_meth_set_ctrl(method, Control);
  BIO_meth_set_create(method, Create);
  return method;
}

}  // namespace

BIO* NewDatagramBio(DatagramQueue* queue) {
  static BIO_METHOD* const method = MakeMethod();  // for the life of the process
  BIO* const bio = method ? BIO_new(method) : nullptr;
  if (bio) BIO_set_data(bio, queue);
  return bio;
}

}  // namespace parley
