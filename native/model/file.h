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

// A regular file mapped for reading, unmapped by the destructor. It must not be
// shortened meanwhile: the system answers a read behind its end with SIGBUS.
// Replace a checkpoint by renaming, as downloaders do, not by writing into it.
class MappedFile {
 public:
  // Null with `problem` set when it cannot be opened, is no regular file or empty.
  static std::unique_ptr<const MappedFile> Open(const std::string& path, std::string* problem);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  const uint8_t* const data_;
  const size_t size_;
};

// Gives back the memory of the whole pages in this part of a mapped file; a later read maps them
// again. Only for mapped files: memory of any other kind would lose its contents.
void ForgetPages(const uint8_t* data, size_t bytes);

}  // namespace parley::model

#endif  // PARLEY_MODEL_FILE_H_
