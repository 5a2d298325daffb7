// One open socket descriptor, shared by everything that sends through it. It is closed with its last user.
#ifndef PARLEY_MEDIA_DESCRIPTOR_H_
#define PARLEY_MEDIA_DESCRIPTOR_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

namespace parley {

class Descriptor {
 public:
  // Takes `fd` over. Null where it is negative.
  static std::shared_ptr<const Descriptor> Adopt(int fd) {
    return fd < 0 ? nullptr : std::shared_ptr<const Descriptor>(new Descriptor(fd));
  }
  // A dup() of another owner's descriptor. Null where the system refuses.
  static std::shared_ptr<const Descriptor> Duplicate(int fd) { return Adopt(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int fd() const { return fd_; }
  // Descriptors of one socket differ after dup(). The socket's inode does not.
  bool SameSocket(const Descriptor& other) const { return inode_ == other.inode_; }

 private:
  explicit Descriptor(int fd) : fd_(fd) {
    struct stat about{};
    if (fstat(fd_, &about) == 0) inode_ = about.st_ino;
  }

  const int fd_;
  uint64_t inode_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DESCRIPTOR_H_
