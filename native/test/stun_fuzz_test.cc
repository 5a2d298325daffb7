// Broken STUN messages: what is read lies in the datagram, and nothing is believed without its integrity.
#include <algorithm>
#include <cstring>

#include "media/ice/ice_lite.h"
#include "media/time.h"
#include "test/fuzz_run.h"
#include "test/stun_samples.h"

namespace parley {
namespace {

using namespace fuzz;
using test::StunBytes;

constexpr size_t kMessages = 20'000;  // per episode
constexpr size_t kParts = 2;

size_t Below(Random& random, size_t count) { return static_cast<size_t>(random.Next() % count); }

StunBytes Whole(Random& random) {
  const StunBytes* const samples[] = {&test::kSampleRequest, &test::kSampleIpv4Response,
                                      &test::kSampleIpv6Response, &test::kSampleLongTermRequest};
  const size_t kind = Below(random, 6);
  if (kind < 4) return *samples[kind];
  test::Check check;
  check.nominate = random.Next() % 2 == 0;
  if (random.Next() % 4 == 0) check.more = static_cast<uint16_t>(random.Next());
  return test::Write(check);
}

// A header of STUN before noise that is cut into attributes.
StunBytes Noise(Random& random) {
  StunBytes message = test::FromHex("00010000 2112a442 000102030405060708090a0b");
  for (size_t n = Below(random, 40); n > 0; n--) {
    const size_t bytes = Below(random, 24);
    const uint16_t type = random.Next() % 2 ? static_cast<uint16_t>(random.Next() % 0x30)
                                            : static_cast<uint16_t>(random.Next());
    uint8_t head[4];
    PutBig16(head, type);
    PutBig16(head + 2, static_cast<uint16_t>(bytes));
    message.insert(message.end(), head, head + 4);
    for (size_t at = 0; at < (bytes + 3) / 4 * 4; at++)
      message.push_back(static_cast<uint8_t>(random.Next()));
  }
  PutBig16(message.data() + 2, static_cast<uint16_t>(message.size() - kStunHeaderBytes));
  return message;
}

void Mutate(Random& random, StunBytes& message) {
  for (size_t n = Below(random, 6); n > 0 && !message.empty(); n--) {
    const size_t at = Below(random, message.size());
    switch (random.Next() % 4) {
      case 0:
        message[at] ^= static_cast<uint8_t>(1 << random.Next() % 8);
        break;
      case 1:
        message.resize(at);
        break;
      case 2:
        message.insert(message.begin() + static_cast<long>(at), Below(random, 9), uint8_t{0});
        break;
      default:
        message[at] = static_cast<uint8_t>(random.Next());
    }
  }
  // Half of them state their own length, so that the attributes are read.
  if (message.size() >= kStunHeaderBytes && random.Next() % 2) {
    message.resize(message.size() / 4 * 4);
    PutBig16(message.data() + 2, static_cast<uint16_t>(message.size() - kStunHeaderBytes));
  }
}

size_t FuzzReader(uint64_t seed) {
  Random random(seed);
  const HmacSha1 key = test::KeyOf(test::kSamplePassword);
  size_t understood = 0;
  for (size_t n = 0; n < kMessages; n++) {
    StunBytes message = random.Next() % 4 ? Whole(random) : Noise(random);
    if (random.Next() % 8) Mutate(random, message);
    // An exact allocation, so that a read past its end is seen.
    std::unique_ptr<uint8_t[]> exact(new uint8_t[message.size()]);
    std::copy(message.begin(), message.end(), exact.get());
    StunMessage read;
    if (!ReadStun(exact.get(), message.size(), &read)) continue;
    understood++;
    CHECK(read.count <= kMaxStunAttributes);
    size_t bytes = 0;
    for (size_t at = 0; at < read.count; at++) {
      bytes += read.attributes[at].bytes;
      CHECK(read.attributes[at].value >= exact.get());
      CHECK(read.attributes[at].value + read.attributes[at].bytes <= exact.get() + message.size());
    }
    CHECK(bytes <= message.size());
    IsSealedWith(read, key);
  }
  CHECK(understood > kMessages / 8);
  return kMessages;
}

// Without the password nobody passes a check, nominates or gets more than the refusals of a second.
size_t FuzzChecks(uint64_t seed) {
  Random random(seed);
  IceLite ice(test::kIce);
  RefusalLimit refusals;
  size_t answers = 0;
  for (size_t n = 0; n < kMessages; n++) {
    test::Check check;
    check.password = "a password of strangers";
    check.nominate = true;
    StunBytes message = random.Next() % 2 ? test::Write(check) : Noise(random);
    Mutate(random, message);
    StunMessage request;
    if (!ReadStun(message.data(), message.size(), &request)) continue;
    IceLite::Answer answer;
    const auto port = static_cast<uint16_t>(random.Next());
    ice.Take(request, {Address::Of("192.0.2.9", port), Address(), nullptr, AF_INET, nullptr}, 1, refusals, 0,
             &answer);
    answers += answer.bytes > 0;
    CHECK(!answer.passed && !answer.nominated && answer.bytes <= answer.data.size());
  }
  CHECK_EQ(answers, static_cast<size_t>(RefusalLimit::kMost));
  CHECK(ice.sources().empty() && ice.last_check_ns() == -1);
  return kMessages;
}

void Reader() { RunPart("reader", kParts, FuzzReader); }

void Checks() { RunPart("checks", kParts, FuzzChecks); }

}  // namespace
}  // namespace parley

TEST_GROUP(stun_fuzz) {
  return parley::test::Run({
      {"what is read of a broken message lies in it", parley::Reader},
      {"no broken check passes", parley::Checks},
  });
}
