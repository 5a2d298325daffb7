// JSON and safetensors headers: what is accepted, and the text of each refusal.
#include "model/files/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/files/json.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley {
namespace {

using namespace model;

std::string JsonProblem(std::string_view text) {
  std::string problem;
  CHECK(JsonDocument::Parse(text, &problem) == nullptr);
  return problem;
}

void JsonIsRead() {
  std::string problem;
  const auto document = JsonDocument::Parse(
      " {\"a\": [1, -2.5e3, true, false, null], \"b\\u00e9\\ud83d\\ude00\\n\": {\"c\": \"é\"}, \"big\": 9223372036854775807, "
      "\"bigger\": 9223372036854775808} ",
      &problem);
  CHECK_EQ(problem, "");
  const Json root = document->root(), list = root.Find("a");
  CHECK_EQ(root.size(), size_t{4});
  CHECK_EQ(list.first().integer().value_or(0), 1);
  CHECK_EQ(list.first().next().number(), -2500.0);
  CHECK(!list.first().next().integer());
  CHECK(list.first().next().next().boolean());
  CHECK(list.first().next().next().next().next().is(JsonKind::kNull));
  CHECK_EQ(list.next().key(), "bé😀\n");
  CHECK_EQ(list.next().Find("c").text(), "é");
  CHECK_EQ(root.Find("big").integer().value_or(0), INT64_MAX);
  CHECK(!root.Find("bigger").integer());
  CHECK(!root.Find("nothing").present() && !list.Find("a").present() && !Json().first().present());
}

void WhatIsNotJsonIsRefused() {
  CHECK_EQ(JsonProblem(""), "line 1, column 1: expected a value, found the end");
  CHECK_EQ(JsonProblem("{\n \"a\": 1,\n}"), "line 3, column 1: expected a key in quotes");
  CHECK_EQ(JsonProblem("[1 2]"), "line 1, column 4: expected ',' or ']'");
  CHECK_EQ(JsonProblem("[1] x"), "line 1, column 5: expected the end");
  CHECK_EQ(JsonProblem("{\"a\": 1, \"b\": 2, \"a\": 3}"),
           "line 1, column 25: the key \"a\" stands twice in this object");
  CHECK_EQ(JsonProblem("[01]"), "line 1, column 4: a number that begins with 0");
  CHECK_EQ(JsonProblem("[1.]"), "line 1, column 4: expected a digit");
  CHECK_EQ(JsonProblem("[1e999]"), "line 1, column 7: a number out of range");
  CHECK_EQ(JsonProblem("[NaN]"), "line 1, column 2: expected a value");
  CHECK_EQ(JsonProblem("\"a\nb\""), "line 1, column 3: a control character in a string");
  CHECK_EQ(JsonProblem("\"\\x\""), "line 1, column 2: an escape that JSON does not have");
  CHECK_EQ(JsonProblem("\"\\ud800\""), "line 1, column 8: half of a surrogate pair");
  CHECK_EQ(JsonProblem("\"\xC3\""), "line 1, column 2: not UTF-8");
  CHECK_EQ(JsonProblem("\"a"), "line 1, column 3: a string without end");
  CHECK_EQ(JsonProblem(std::string(40, '[')), "line 1, column 33: nests deeper than 32");
}

struct Header {
  const char* header;
  size_t data_bytes;
  const char* problem;
};

const Header kHeaders[] = {
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )", 8, ""},
    {R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1, ""},
    {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
     1, ""},
    {R"([])", 0, "the header is not a JSON object"},
    {R"({"a":1)", 0, "the header is not a JSON object: line 1, column 9: expected ',' or '}'"},
    {R"({"a":{"dtype":"F32"},"a":{}})", 0,
     "the header is not a JSON object: line 1, column 29: the key \"a\" stands twice in this object"},
    {R"({"a":1})", 0, "tensor \"a\" has no dtype"},
    {R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8,
     "tensor \"a\" has the dtype \"F31\", which is not known"},
    {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8,
     "tensor \"a\" has a shape that is not possible"},
    {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", 8,
     "tensor \"a\" has a shape that is not possible"},
    {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
     "tensor \"a\" has no shape of at most 8 dimensions"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8,
     "tensor \"a\" has no data_offsets [begin, end]"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", 12,
     "tensor \"a\" has 12 bytes; F32 [2] takes 8"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7,
     "tensor \"a\" ends at byte 8 of the data, but the file holds 7: it is truncated or damaged"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
     3, "tensor \"b\" begins at byte 1 of the data, expected 2: it overlaps another"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
     5, "tensor \"b\" begins at byte 3 of the data, expected 2: bytes belong to no tensor"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 3,
     "holds 3 bytes of data, but its tensors take 2"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} )", 8,
     "tensor \"a\" is not aligned to its 4 byte elements"},
};

void HeadersAreChecked() {
  const test::TempFolder folder;
  const std::string path = folder / "x.safetensors";
  for (const Header& one : kHeaders) {
    // Padded so that the data begin at a multiple of 8, but where the header itself is not.
    std::string header = one.header;
    if (std::string(one.problem).find("aligned") == std::string::npos)
      header.append((8 - header.size() % 8) % 8, ' ');
    else
      while (header.size() % 4 != 1) header += ' ';
    test::WriteAll(path, test::SafetensorsOf(header, one.data_bytes));
    std::string problem;
    const auto file = SafetensorsFile::Open(path, &problem);
    CHECK_EQ(problem, *one.problem == '\0' ? "" : path + ": " + one.problem);
    CHECK_EQ(file != nullptr, *one.problem == '\0');
  }
}

void FilesThatAreNoneAreRefused() {
  const test::TempFolder folder;
  std::string problem;
  CHECK(SafetensorsFile::Open(folder / "none", &problem) == nullptr);
  CHECK_EQ(problem, (folder / "none") + ": cannot be opened: No such file or directory");
  CHECK(SafetensorsFile::Open(folder.path(), &problem) == nullptr);
  CHECK_EQ(problem, folder.path() + ": is not a regular file");
  CHECK_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  CHECK(SafetensorsFile::Open(folder / "pipe", &problem) == nullptr);
  CHECK_EQ(problem, (folder / "pipe") + ": is not a regular file");
  test::WriteAll(folder / "short", "abc");
  CHECK(SafetensorsFile::Open(folder / "short", &problem) == nullptr);
  CHECK_EQ(problem, (folder / "short") +
                        ": is no safetensors file, or truncated: its header would be 0 bytes of a file of 3");
  test::WriteAll(folder / "huge", std::string(8, '\xFF') + "{}");
  CHECK(SafetensorsFile::Open(folder / "huge", &problem) == nullptr);
  CHECK(problem.find("its header would be 18446744073709551615 bytes of a file of 10") != std::string::npos);
  std::string text;
  test::WriteAll(folder / "long", "12345");
  CHECK(!ReadFile(folder / "long", 4, &text, &problem));
  CHECK_EQ(problem, (folder / "long") + ": is 5 bytes; at most 4 are read");
}

void AFileThatBecomesShorterIsReadAsZerosAndToldOf() {
  test::TempFolder folder;
  const std::string path = folder / "weights";
  test::WriteAll(path, std::string(100'000, 'x'));
  std::string problem;
  const auto file = MappedFile::Open(path, &problem), other = MappedFile::Open(path, &problem);
  CHECK(file != nullptr && !file->Changed(&problem));
  CHECK_EQ(file->data()[99'999], 'x');
  CHECK_EQ(truncate(path.c_str(), 10'000), 0);
  CHECK_EQ(file->data()[9'999], 'x');
  for (const size_t at : {size_t{50'000}, size_t{99'999}, size_t{20'000}}) CHECK_EQ(file->data()[at], 0);
  CHECK_EQ(other->data()[60'000], 0);
  CHECK(file->Changed(&problem));
  CHECK_EQ(
      problem,
      "was 100000 bytes when it was loaded, and is 10000 now; replace a checkpoint by renaming, and load it again");
  // As long as before: the bytes were others meanwhile.
  test::WriteAll(path, std::string(100'000, 'y'));
  CHECK(file->Changed(&problem));
  CHECK_EQ(problem,
           "was written to since it was loaded; replace a checkpoint by renaming, and load it again");
}

// Elsewhere the error ends the process, as it does without the handler.
void ABusErrorElsewhereIsNotHandled() {
  test::TempFolder folder;
  const std::string path = folder / "other";
  test::WriteAll(path, std::string(10'000, 'x'));
  const int status = [&] {
    const pid_t child = fork();
    if (child == 0) {
      const int fd = open(path.c_str(), O_RDONLY);
      const auto* const bytes =
          static_cast<const volatile uint8_t*>(mmap(nullptr, 10'000, PROT_READ, MAP_SHARED, fd, 0));
      std::string problem;
      if (MappedFile::Open(path, &problem) == nullptr || truncate(path.c_str(), 0) != 0) _exit(101);
      _exit(bytes[5'000] == 0 ? 102 : 103);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    return ended;
  }();
  CHECK(WIFSIGNALED(status) ||
        WEXITSTATUS(status) < 100);  // a sanitizer ends the process with a status of its own
}

}  // namespace
}  // namespace parley

TEST_GROUP(safetensors) {
  return parley::test::Run({
      {"JSON is read", parley::JsonIsRead},
      {"what is not JSON is refused", parley::WhatIsNotJsonIsRefused},
      {"headers are checked", parley::HeadersAreChecked},
      {"files that are none are refused", parley::FilesThatAreNoneAreRefused},
      {"a file that becomes shorter is read as zeros, and told of",
       parley::AFileThatBecomesShorterIsReadAsZerosAndToldOf},
      {"a bus error elsewhere is not handled", parley::ABusErrorElsewhereIsNotHandled},
  });
}
