// Files of a checkpoint: small ones read whole, large ones mapped. A problem
// begins with the path.
#ifndef PARLEY_MODEL_FILE_H_
#define PARLEY_MODEL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace parley::model {

// The whole of a regular file of at most `most_bytes`; false with `problem` set.
bool ReadFile(const std::string& path, size_t most_bytes, std::string* text, std::string* problem);

bool FileExists(const std::string& path);

// A regular file mapped for reading, unmapped by the destructor. The system answers a read behind the end of
// a file that became shorter with SIGBUS: a handler then maps zeros there, so that the process lives, and
// Changed() tells of it. Replace a checkpoint by renaming, as downloaders do: the old file stays whole while
// it is mapped.
class MappedFile {
 public:
  // Null with `problem` set when it cannot be opened, is no regular file or empty.
  static std::unique_ptr<const MappedFile> Open(const std::string& path, std::string* problem);
  ~MappedFile();
  // True if the file was written to, or could not be read, since it was mapped: by its size, its time of
  // modification, and the reads that failed. `problem` begins without the path.
  bool Changed(std::string* problem) const;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile(int fd, const uint8_t* data, size_t size) : fd_(fd), data_(data), size_(size) {}

  const int fd_;
  const uint8_t* const data_;
  const size_t size_;
  int64_t modified_seconds_ = 0, modified_nanoseconds_ = 0;
  size_t place_ = 0;  // among the mappings that the handler knows
};

// Gives back the memory of the whole pages in this part of a mapped file; a later read maps them
// again. Only for mapped files: memory of any other kind would lose its contents.
void ForgetPages(const uint8_t* data, size_t bytes);

}  // namespace parley::model

#endif  // PARLEY_MODEL_FILE_H_
