// A file that is written: every call succeeds or throws std::system_error with the path.
#ifndef PARLEY_TOOLS_OUTPUT_FILE_H_
#define PARLEY_TOOLS_OUTPUT_FILE_H_

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

namespace parley::tools {

class OutputFile {
 public:
  enum Mode { kNew, kReplace };  // whether one that is there is an error

  explicit OutputFile(const std::string& path, Mode mode = kNew)
      : path_(path), file_(std::fopen(path.c_str(), mode == kNew ? "wbx" : "wb"), std::fclose) {
    if (!file_) Fail();
  }

  void Write(const void* bytes, size_t count) {
    if (std::fwrite(bytes, 1, count, file_.get()) != count) Fail();
  }
  void Write(const std::string& text) { Write(text.data(), text.size()); }

  // The last bytes may fail as well as the first.
  void Close() {
    if (std::fclose(file_.release()) != 0) Fail();
  }

 private:
  [[noreturn]] void Fail() const { throw std::system_error(errno, std::generic_category(), path_); }

  const std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_OUTPUT_FILE_H_
