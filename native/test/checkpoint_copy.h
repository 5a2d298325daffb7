// Tiny checkpoints for tests: where they lie, copies of them to damage, and
// safetensors files made from parts.
#ifndef PARLEY_TEST_CHECKPOINT_COPY_H_
#define PARLEY_TEST_CHECKPOINT_COPY_H_

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "model/files/checkpoint.h"
#include "test/check.h"

namespace parley::test {

inline const std::string kGolden = PARLEY_GOLDEN;

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  CHECK(file.good());
}

// A folder that is gone with it.
class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/parley-model-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A copy of a tiny checkpoint. The weights are links, so that a copy is cheap:
// Break() and Edit() write a new file in the link's place.
class CheckpointCopy {
 public:
  explicit CheckpointCopy(const std::string& name) {
    const std::string from = kGolden + "/" + name;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
      const std::string to = folder_ / std::filesystem::relative(entry.path(), from).string();
      if (entry.is_directory()) {
        std::filesystem::create_directory(to);
      } else {
        std::filesystem::create_symlink(entry.path(), to);
      }
    }
  }

  const std::string& path() const { return folder_.path(); }
  std::string Read(const std::string& file) const { return ReadAll(folder_ / file); }
  void Write(const std::string& file, const std::string& bytes) {
    Remove(file);
    WriteAll(folder_ / file, bytes);
  }
  void Remove(const std::string& file) { std::filesystem::remove(folder_ / file); }
  // The first `from` becomes `to`.
  void Edit(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = Read(file);
    const size_t at = text.find(from);
    CHECK(at != std::string::npos);
    if (at != std::string::npos) Write(file, text.replace(at, from.size(), to));
  }

 private:
  TempFolder folder_;
};

// A checkpoint that has to be right.
inline std::unique_ptr<const model::Checkpoint> Opened(const std::string& directory) {
  std::string problem;
  auto checkpoint = model::Checkpoint::Open(directory, model::PieceRule::kNative, &problem);
  CHECK_EQ(problem, "");
  CHECK(checkpoint != nullptr);
  return checkpoint;
}

// A safetensors file around this header and so many bytes of data.
inline std::string SafetensorsOf(const std::string& header, size_t data_bytes) {
  std::string file;
  for (int n = 0; n < 8; n++) file.push_back(static_cast<char>(header.size() >> (8 * n) & 0xFF));
  return file + header + std::string(data_bytes, '\1');
}

}  // namespace parley::test

#endif  // PARLEY_TEST_CHECKPOINT_COPY_H_
