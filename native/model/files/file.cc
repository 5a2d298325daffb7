#include "model/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>

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
  // Without O_NONBLOCK, opening a named pipe would block the loader until a writer opens it.
  file->fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
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

// Table that the SIGBUS handler looks up. Entries are taken and released, and never move.
struct Mapping {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> failed{false};
};
constexpr size_t kMostMappings = 4096;
Mapping mappings[kMostMappings];
struct sigaction handler_before;

// Zeros from the page that could not be read to the end of its file: the first failure says that the file is
// of no use.
bool MapZeros(uintptr_t address) {
  for (Mapping& mapping : mappings) {
    const uintptr_t end = mapping.end.load();
    if (address < mapping.begin.load() || address >= end) continue;
    mapping.failed.store(true);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), first = address / page * page;
    void* const zeros = mmap(reinterpret_cast<void*>(first), end - first, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return zeros != MAP_FAILED;
  }
  return false;
}

// Calls only what a signal handler may call. A fault elsewhere goes to the handler that was there before.
void OnBusError(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool handled = MapZeros(reinterpret_cast<uintptr_t>(info->si_addr));
  errno = error;
  if (handled) return;
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &usual, nullptr);  // the access is repeated, and ends the process
}

void WatchBusErrors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &handler_before);
  });
}

// kMostMappings where none is free.
size_t TakePlace(const uint8_t* data, size_t size) {
  for (size_t n = 0; n < kMostMappings; n++) {
    bool taken = false;
    if (!mappings[n].taken.compare_exchange_strong(taken, true)) continue;
    mappings[n].failed.store(false);
    mappings[n].begin.store(reinterpret_cast<uintptr_t>(data));
    mappings[n].end.store(reinterpret_cast<uintptr_t>(data) + size);
    return n;
  }
  return kMostMappings;
}

}  // namespace

bool ReadFile(const std::string& path, size_t most_bytes, std::string* text, std::string* problem) {
  OpenFile file;
  if (!OpenRegular(path, &file, problem)) return false;
  if (file.size > most_bytes) {
    *problem = path + ": is " + std::to_string(file.size) + " bytes; at most " + std::to_string(most_bytes) +
               " are read";
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
  struct stat status{};
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
  WatchBusErrors();
  struct stat status{};
  const auto* const bytes = static_cast<const uint8_t*>(data);
  const size_t place = fstat(file.fd, &status) == 0 ? TakePlace(bytes, file.size) : kMostMappings;
  if (place == kMostMappings) {
    munmap(data, file.size);
    *problem = path + ": cannot be mapped: too many files are";
    return nullptr;
  }
  std::unique_ptr<MappedFile> mapped(new MappedFile(std::exchange(file.fd, -1), bytes, file.size));
  mapped->place_ = place;
  mapped->modified_seconds_ = status.st_mtim.tv_sec;
  mapped->modified_nanoseconds_ = status.st_mtim.tv_nsec;
  return mapped;
}

MappedFile::~MappedFile() {
  mappings[place_].end.store(0);
  mappings[place_].begin.store(0);
  mappings[place_].taken.store(false);
  munmap(const_cast<uint8_t*>(data_), size_);
  close(fd_);
}

bool MappedFile::Changed(std::string* problem) const {
  struct stat status{};
  if (fstat(fd_, &status) != 0)
    return *problem = std::string("cannot be examined: ") + std::strerror(errno), true;
  const char* const advice = "; replace a checkpoint by renaming, and load it again";
  if (static_cast<size_t>(status.st_size) != size_) {
    *problem = "was " + std::to_string(size_) + " bytes when it was loaded, and is " +
               std::to_string(status.st_size) + " now" + advice;
    return true;
  }
  if (status.st_mtim.tv_sec != modified_seconds_ || status.st_mtim.tv_nsec != modified_nanoseconds_) {
    return *problem = std::string("was written to since it was loaded") + advice, true;
  }
  if (mappings[place_].failed.load()) return *problem = "could not be read where it is mapped", true;
  return false;
}

// Failing costs memory only.
void ForgetPages(const uint8_t* data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace parley::model
