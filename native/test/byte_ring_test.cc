// Byte rings and their watches: what one thread sees, then two threads that
// wait for one another only by watches, so that a lost wake-up hangs the test.
#include "media/byte_ring.h"

#include <condition_variable>
#include <cstring>
#include <random>
#include <thread>

#include "binding/handles.h"
#include "test/check.h"

namespace parley {
namespace {

// An environment made of a condition variable.
class Bell : public ReadySink {
 public:
  std::vector<uint64_t> Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return rung_; });
    rung_ = false;
    lock.unlock();
    return Take();
  }

  size_t wakes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return wakes_;
  }

 protected:
  void Wake() override {
    std::lock_guard<std::mutex> lock(mutex_);
    rung_ = true;
    wakes_++;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
  size_t wakes_ = 0;
};

int64_t WriteText(ByteRing& ring, const char* text, size_t unit = 1) {
  return ring.Write(reinterpret_cast<const uint8_t*>(text), std::strlen(text), unit);
}

std::string ReadText(ByteRing& ring, size_t len, size_t unit = 1) {
  std::string text(len, '?');
  const int64_t count = ring.Read(reinterpret_cast<uint8_t*>(text.data()), len, unit);
  return count < 0 ? "gone" : text.substr(0, static_cast<size_t>(count));
}

void BytesComeOutInOrderAroundTheEdge() {
  ByteRing ring(8);
  CHECK_EQ(WriteText(ring, "abcdef"), 6);
  CHECK_EQ(ReadText(ring, 4), "abcd");
  CHECK_EQ(WriteText(ring, "ghijklm"), 6);
  CHECK_EQ(WriteText(ring, "x"), 0);
  CHECK_EQ(ReadText(ring, 20), "efghijkl");
  CHECK_EQ(ReadText(ring, 20), "");
  CHECK_EQ(ring.GetStatus().written, 12u);
}

void WholeUnitsOnly() {
  ByteRing ring(10);
  CHECK_EQ(WriteText(ring, "aaaabbbbcccc", 4), 8);
  CHECK_EQ(ReadText(ring, 7, 4), "aaaa");
  CHECK_EQ(WriteText(ring, "dddd", 4), 4);
  CHECK_EQ(ReadText(ring, 12, 4), "bbbbdddd");
}

void TheEndComesAfterTheData() {
  ByteRing ring(8);
  WriteText(ring, "abc");
  ring.End("ENGINE_FAILED");
  ring.End("");
  CHECK_EQ(WriteText(ring, "d"), -1);
  CHECK_EQ(ReadText(ring, 2), "ab");
  CHECK_EQ(ring.GetStatus().readable, 1u);
  CHECK(ring.GetStatus().ended);
  CHECK_EQ(ring.GetStatus().error, "ENGINE_FAILED");
  CHECK_EQ(ReadText(ring, 2), "c");
}

void AnAbortDropsTheDataAndTellsBothSides() {
  const auto reader = std::make_shared<Bell>();
  const auto writer = std::make_shared<Bell>();
  ByteRing empty(8);
  CHECK(!empty.WatchRead(reader, 1));
  empty.Abort();
  empty.Abort();
  CHECK_EQ(reader->Take().size(), 1u);

  ByteRing full(8);
  WriteText(full, "abcdefgh");
  CHECK(!full.WatchWrite(writer, 2));
  full.Abort();
  CHECK_EQ(writer->Take().size(), 1u);
  CHECK_EQ(WriteText(full, "x"), -1);
  CHECK_EQ(ReadText(full, 8), "gone");
  CHECK_EQ(full.GetStatus().readable, 0u);
  CHECK(full.WatchRead(reader, 3));
  CHECK(full.WatchWrite(writer, 3));
}

void AWatchFiresOnceWhenItsConditionComesToHold() {
  const auto bell = std::make_shared<Bell>();
  ByteRing ring(8);
  CHECK(!ring.WatchRead(bell, 5));
  WriteText(ring, "abcdefg");
  WriteText(ring, "h");
  CHECK_EQ(bell->Take().size(), 1u);
  CHECK(ring.WatchRead(bell, 5));
  CHECK(!ring.WatchWrite(bell, 5));
  ReadText(ring, 3);
  CHECK_EQ(bell->Take().size(), 0u);  // 3 of 8 free: not yet half
  ReadText(ring, 1);
  CHECK_EQ(bell->Take().size(), 1u);
  CHECK(ring.WatchWrite(bell, 5));
  ReadText(ring, 8);
  CHECK(!ring.WatchRead(bell, 5));
  ring.End("");
  CHECK_EQ(bell->Take().size(), 1u);
}

void ManyRingsWakeABellOnce() {
  const auto bell = std::make_shared<Bell>();
  ByteRing a(8), b(8);
  CHECK(!a.WatchRead(bell, 1));
  CHECK(!b.WatchRead(bell, 2));
  WriteText(a, "x");
  WriteText(b, "y");
  ReadText(a, 1);
  CHECK(!a.WatchRead(bell, 1));
  WriteText(a, "x");
  CHECK_EQ(bell->wakes(), 1u);
  const std::vector<uint64_t> handles = bell->Take();
  CHECK_EQ(handles.size(), 2u);
  CHECK_EQ(handles[0], 1u);
  CHECK_EQ(handles[1], 2u);
}

void ABellThatIsGoneDoesNoHarm() {
  ByteRing ring(8);
  auto bell = std::make_shared<Bell>();
  const std::weak_ptr<Bell> weak = bell;
  CHECK(!ring.WatchRead(bell, 1));
  bell.reset();
  WriteText(ring, "x");
  CHECK(weak.expired());
}

void AHandleNamesOneObjectForEver() {
  Handles& handles = Handles::Process();
  const size_t before = handles.Count();
  const Handle ring = handles.Add(std::make_shared<ByteRing>(8));
  const Handle text = handles.Add(std::make_shared<std::string>("x"));
  CHECK(handles.Get<ByteRing>(ring) != nullptr);
  CHECK(handles.Get<ByteRing>(text) == nullptr);
  CHECK(handles.Get<ByteRing>(0) == nullptr);
  CHECK(handles.Get<ByteRing>(~Handle{0}) == nullptr);
  CHECK(handles.Remove<std::string>(ring) == nullptr);
  CHECK(handles.Remove<ByteRing>(ring) != nullptr);
  CHECK(handles.Remove<ByteRing>(ring) == nullptr);
  const Handle next = handles.Add(std::make_shared<ByteRing>(8));
  CHECK_EQ(next & 0xfffff, ring & 0xfffff);  // the slot is used again, under another generation
  CHECK(handles.Get<ByteRing>(ring) == nullptr);
  CHECK(next < Handle{1} << 53);
  handles.Remove<ByteRing>(next);
  handles.Remove<std::string>(text);
  CHECK_EQ(handles.Count(), before);
}

constexpr size_t kStressBytes = 4 << 20;

uint8_t ByteAt(size_t position) { return static_cast<uint8_t>(position * 31 + (position >> 8)); }

void WriteAll(ByteRing& ring) {
  const auto bell = std::make_shared<Bell>();
  std::mt19937 random(1);
  std::vector<uint8_t> data;
  for (size_t at = 0; at < kStressBytes;) {
    data.resize(std::min<size_t>(1 + random() % 700, kStressBytes - at));
    for (size_t i = 0; i < data.size(); i++) data[i] = ByteAt(at + i);
    const int64_t count = ring.Write(data.data(), data.size(), 1);
    at += static_cast<size_t>(count);
    if (count == 0 && !ring.WatchWrite(bell, 1)) bell->Wait();
  }
  ring.End("done");
}

void TwoThreadsLoseNothing() {
  for (const size_t capacity : {64, 1000, 65536}) {
    ByteRing ring(capacity);
    std::thread writer([&ring] { WriteAll(ring); });
    const auto bell = std::make_shared<Bell>();
    std::mt19937 random(2);
    std::vector<uint8_t> data(900);
    size_t at = 0, wrong = 0;
    for (;;) {
      const int64_t count = ring.Read(data.data(), 1 + random() % data.size(), 1);
      for (int64_t i = 0; i < count; i++) wrong += data[static_cast<size_t>(i)] != ByteAt(at++);
      if (count > 0) continue;
      const ByteRing::Status status = ring.GetStatus();
      if (status.ended && status.readable == 0) break;
      if (!ring.WatchRead(bell, 1)) bell->Wait();
    }
    writer.join();
    CHECK_EQ(at, kStressBytes);
    CHECK_EQ(wrong, 0u);
    CHECK_EQ(ring.GetStatus().error, "done");
  }
}

void AnAbortFreesBothThreads() {
  for (int round = 0; round < 200; round++) {
    ByteRing ring(256);
    const auto side = [&ring](bool write) {
      const auto bell = std::make_shared<Bell>();
      std::vector<uint8_t> data(100);
      for (;;) {
        const int64_t count =
            write ? ring.Write(data.data(), data.size(), 1) : ring.Read(data.data(), 100, 1);
        if (count < 0) return;
        if (count == 0 && !(write ? ring.WatchWrite(bell, 1) : ring.WatchRead(bell, 1))) bell->Wait();
      }
    };
    std::thread writer([&side] { side(true); });
    std::thread reader([&side] { side(false); });
    while (ring.GetStatus().written < 5000) std::this_thread::yield();
    ring.Abort();
    writer.join();
    reader.join();
  }
}

}  // namespace
}  // namespace parley

TEST_GROUP(byte_ring) {
  return parley::test::Run({
      {"bytes come out in order around the edge", parley::BytesComeOutInOrderAroundTheEdge},
      {"whole units only", parley::WholeUnitsOnly},
      {"the end comes after the data", parley::TheEndComesAfterTheData},
      {"an abort drops the data and tells both sides", parley::AnAbortDropsTheDataAndTellsBothSides},
      {"a watch fires once when its condition comes to hold",
       parley::AWatchFiresOnceWhenItsConditionComesToHold},
      {"many rings wake a bell once", parley::ManyRingsWakeABellOnce},
      {"a bell that is gone does no harm", parley::ABellThatIsGoneDoesNoHarm},
      {"a handle names one object for ever", parley::AHandleNamesOneObjectForEver},
      {"two threads lose nothing", parley::TwoThreadsLoseNothing},
      {"an abort frees both threads", parley::AnAbortFreesBothThreads},
  });
}
