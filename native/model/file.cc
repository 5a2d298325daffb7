#include "model/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace parley::model {
namespace {

struct OpenFile {
  int fd = -1;
  size_t size = 0;
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
};

bool OpenRegular(const std::string& path, OpenFile* file, std::string* problem) {
  // Not blocking, or a named pipe would hold the loader until somebody writes.
  file->fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file->fd < 0 || fstat(file->fd, &status) != 0) {
    *problem = path + ": cannot be opened: " + std::strerror(errno);
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    *problem = path + ": is not a regular file";
    return false;
  }
  file->size = static_cast<size_t>(status.st_size);
  return true;
}

}  // namespace

bool ReadFile(const std::string& path, size_t most_bytes, std::string* text, std::string* problem) {
  OpenFile file;
  if (!OpenRegular(path, &file, problem)) return false;
  if (file.size > most_bytes) {
    *problem = path + ": is " + std::to_string(file.size) + " bytes; at most " + std::to_string(most_bytes) + " are read";
    return false;
  }
  text->resize(file.size);
  size_t at = 0;
  while (at < file.size) {
    const ssize_t got = read(file.fd, text->data() + at, file.size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      *problem = path + ": cannot be read: " + (got < 0 ? std::strerror(errno) : "it became shorter");
      return false;
    }
    at += static_cast<size_t>(got);
  }
  return true;
}

bool FileExists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

std::unique_ptr<const MappedFile> MappedFile::Open(const std::string& path, std::string* problem) {
  OpenFile file;
  if (!OpenRegular(path, &file, problem)) return nullptr;
  if (file.size == 0) {
    *problem = path + ": is empty";
    return nullptr;
  }
  void* const data = mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.fd, 0);
  if (data == MAP_FAILED) {
    *problem = path + ": cannot be mapped: " + std::strerror(errno);
    return nullptr;
  }
  return std::unique_ptr<const MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), file.size));
}

MappedFile::~MappedFile() { munmap(const_cast<uint8_t*>(data_), size_); }

// Failing costs memory only.
void ForgetPages(const uint8_t* data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace parley::model
