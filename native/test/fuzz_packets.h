// Packets as strangers send them, from a seed: whole ones of every kind that a
// media port knows, and the damage that is done to them.
#ifndef PARLEY_TEST_FUZZ_PACKETS_H_
#define PARLEY_TEST_FUZZ_PACKETS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "media/random.h"

namespace parley::fuzz {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kSsrc = 0x11223344, kOurs = 0x55667788;
constexpr uint8_t kSound = 0, kWideSound = 9, kNoise = 13, kEvent = 101;  // payload types

inline size_t Below(Random& random, size_t most) { return static_cast<size_t>(random.Next() % most); }

inline void Put(Bytes& bytes, size_t at, uint64_t value, size_t len) {
  for (size_t i = 0; i < len; i++) bytes[at + i] = static_cast<uint8_t>(value >> (8 * (len - 1 - i)));
}

inline void Append(Bytes& bytes, uint64_t value, size_t len) {
  bytes.resize(bytes.size() + len);
  Put(bytes, bytes.size() - len, value, len);
}

inline void AppendNoise(Bytes& bytes, Random& random, size_t len) {
  for (size_t i = 0; i < len; i++) bytes.push_back(static_cast<uint8_t>(random.Next()));
}

struct RtpShape {
  uint64_t number;  // the sequence number and more
  uint64_t timestamp;
  uint8_t type = kSound;
  size_t csrcs = 0;
  int extension_words = -1;  // -1: none
  Bytes payload{};
  uint8_t padding = 0;
};

inline Bytes Rtp(const RtpShape& shape) {
  Bytes packet;
  const bool extended = shape.extension_words >= 0;
  Append(packet, 0x80 | (shape.padding ? 0x20 : 0) | (extended ? 0x10 : 0) | shape.csrcs, 1);
  Append(packet, shape.type, 1);
  Append(packet, shape.number, 2);
  Append(packet, shape.timestamp, 4);
  Append(packet, kSsrc, 4);
  for (size_t n = 0; n < shape.csrcs; n++) Append(packet, 0xcafe0000 + n, 4);
  if (extended) {
    Append(packet, 0xbede0000 | static_cast<uint32_t>(shape.extension_words), 4);  // RFC 8285
    for (int n = 0; n < shape.extension_words; n++) Append(packet, 0x10ff0000, 4);
  }
  packet.insert(packet.end(), shape.payload.begin(), shape.payload.end());
  if (shape.padding) {
    packet.resize(packet.size() + shape.padding);
    packet.back() = shape.padding;
  }
  return packet;
}

// An event packet of one of the keys: eight packets each, the last three with the end flag (RFC 4733).
inline Bytes EventPacket(uint64_t number) {
  const uint64_t step = number % 8;
  const uint8_t key = static_cast<uint8_t>(number / 8 % 17);
  const auto duration = static_cast<uint16_t>((step + 1) * 160);
  const Bytes payload = {key, static_cast<uint8_t>(step > 4 ? 0x8a : 0x0a),
                         static_cast<uint8_t>(duration >> 8), static_cast<uint8_t>(duration)};
  RtpShape shape{number, number / 8 * 1600};
  shape.type = kEvent;
  shape.payload = payload;
  return Rtp(shape);
}

inline Bytes SoundPacket(Random& random, uint64_t number) {
  RtpShape shape{number, number * 160};
  if (random.Next() % 4 == 0) shape.type = kWideSound;
  if (random.Next() % 8 == 0) shape.type = kNoise;
  AppendNoise(shape.payload, random,
              shape.type == kNoise ? 1 + Below(random, 11)
              : Below(random, 2)   ? 160
                                   : Below(random, 1200));
  if (random.Next() % 4 == 0) shape.csrcs = Below(random, 16);
  if (random.Next() % 4 == 0) shape.extension_words = static_cast<int>(Below(random, 9));
  if (random.Next() % 4 == 0) shape.padding = static_cast<uint8_t>(random.Next());
  return Rtp(shape);
}

// One packet of a compound: its header counts what follows.
inline void AppendRtcp(Bytes& compound, uint8_t type, size_t count, const Bytes& content) {
  Append(compound, 0x80 | count, 1);
  Append(compound, type, 1);
  Append(compound, content.size() / 4, 2);
  compound.insert(compound.end(), content.begin(), content.end());
}

inline void AppendBlocks(Bytes& content, Random& random, size_t count) {
  for (size_t n = 0; n < count; n++) {
    Append(content, n == 0 ? kOurs : static_cast<uint32_t>(random.Next()), 4);
    AppendNoise(content, random, 20);
  }
}

inline void AppendReport(Bytes& compound, Random& random, uint64_t number) {
  const bool sends = random.Next() % 2 == 0;
  const size_t blocks = random.Next() % 8 == 0 ? Below(random, 32) : Below(random, 3);
  Bytes content;
  Append(content, kSsrc, 4);
  if (sends) {
    Append(content, number << 20, 8);  // NTP time
    Append(content, number * 160, 4);
    Append(content, number, 4);
    Append(content, number * 160, 4);
  }
  AppendBlocks(content, random, blocks);
  AppendRtcp(compound, sends ? 200 : 201, blocks, content);
}

inline void AppendDescription(Bytes& compound, Random& random) {
  Bytes content;
  Append(content, kSsrc, 4);
  const size_t name = Below(random, 40);
  Append(content, 0x0100 | name, 2);  // CNAME
  AppendNoise(content, random, name);
  content.resize((content.size() + 4) / 4 * 4);
  AppendRtcp(compound, 202, 1, content);
}

inline void AppendGoodbye(Bytes& compound, Random& random) {
  Bytes content;
  const size_t sources = Below(random, 4);
  for (size_t n = 0; n < sources; n++)
    Append(content, n == 0 ? kSsrc : static_cast<uint32_t>(random.Next()), 4);
  if (random.Next() % 2 == 0) Append(content, 0x03627965, 4);
  AppendRtcp(compound, 203, sources, content);
}

// Reference time, delays and statistics (RFC 3611), or feedback of any kind (RFC 4585).
inline void AppendExtended(Bytes& compound, Random& random) {
  Bytes content;
  Append(content, kSsrc, 4);
  const bool extended = random.Next() % 2 == 0;
  if (extended) {
    Append(content, 0x04000002, 4);
    AppendNoise(content, random, 8);
    Append(content, 0x05000003, 4);
    AppendNoise(content, random, 12);
  } else {
    AppendNoise(content, random, 4 * Below(random, 8));
  }
  AppendRtcp(compound, extended ? 207 : static_cast<uint8_t>(204 + Below(random, 3)), Below(random, 32),
             content);
}

inline Bytes RtcpCompound(Random& random, uint64_t number) {
  Bytes compound;
  if (random.Next() % 16 != 0) AppendReport(compound, random, number);
  for (size_t more = Below(random, 4); more > 0; more--) {
    switch (random.Next() % 4) {
      case 0:
        AppendReport(compound, random, number);
        break;
      case 1:
        AppendDescription(compound, random);
        break;
      case 2:
        AppendGoodbye(compound, random);
        break;
      default:
        AppendExtended(compound, random);
    }
  }
  if (compound.empty()) AppendDescription(compound, random);
  return compound;
}

inline Bytes Whole(Random& random, uint64_t number) {
  switch (random.Next() % 8) {
    case 0:
    case 1:
      return RtcpCompound(random, number);
    case 2:
      return EventPacket(number);
    default:
      return SoundPacket(random, number);
  }
}

inline void Mutate(Random& random, Bytes& packet) {
  for (size_t rounds = Below(random, 4); rounds > 0 && !packet.empty(); rounds--) {
    const size_t at = Below(random, packet.size());
    switch (random.Next() % 8) {
      case 0:
        packet[at] ^= static_cast<uint8_t>(1 << random.Next() % 8);
        break;
      case 1:
        packet[at] = static_cast<uint8_t>(random.Next());
        break;
      case 2:
        packet.resize(at);
        break;
      case 3:
        packet.resize(packet.size() + Below(random, 64), static_cast<uint8_t>(random.Next()));
        break;
      case 4:
        packet[at % 4] = static_cast<uint8_t>(random.Next());
        break;  // version, counts, type, length
      case 5:
        packet.insert(packet.end(), packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 6:
        packet.back() = static_cast<uint8_t>(random.Next());
        break;  // the count of padding
      default:
        packet[at] = random.Next() % 2 ? 0xff : 0;
    }
  }
  if (random.Next() % 1000 == 0) packet.resize(Below(random, 4000));
}

}  // namespace parley::fuzz

#endif  // PARLEY_TEST_FUZZ_PACKETS_H_
