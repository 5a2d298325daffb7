// Which records of a datagram reach DTLS before keys exist.
#include "media/dtls/dtls_record.h"

#include <algorithm>

#include "media/random.h"
#include "test/check.h"

using namespace parley;

namespace {

using Bytes = std::vector<uint8_t>;
using Result = HandshakeFilter::Result;

Bytes Record(uint8_t type, uint16_t epoch, const Bytes& fragment, uint64_t sequence = 0,
             uint16_t version = 0xfefd) {
  Bytes record = {type, static_cast<uint8_t>(version >> 8), static_cast<uint8_t>(version),
                  static_cast<uint8_t>(epoch >> 8), static_cast<uint8_t>(epoch)};
  for (int shift = 40; shift >= 0; shift -= 8) record.push_back(static_cast<uint8_t>(sequence >> shift));
  record.push_back(static_cast<uint8_t>(fragment.size() >> 8));
  record.push_back(static_cast<uint8_t>(fragment.size()));
  record.insert(record.end(), fragment.begin(), fragment.end());
  return record;
}

// A fragment of a handshake message that carries `bytes` of `length` octets, from `offset` on.
Bytes Message(uint8_t type, uint32_t length, uint32_t offset, uint32_t bytes) {
  Bytes message = {type};
  const auto add = [&message](uint32_t value, int octets) {
    for (int shift = 8 * (octets - 1); shift >= 0; shift -= 8)
      message.push_back(static_cast<uint8_t>(value >> shift));
  };
  add(length, 3);
  add(0, 2);  // message_seq
  add(offset, 3);
  add(bytes, 3);
  message.resize(message.size() + bytes, 0x55);
  return message;
}

Bytes Joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes Passed(HandshakeFilter& filter, const Bytes& datagram, Result* result = nullptr) {
  Bytes out(datagram.size() + 1, 0xee);
  const Result read = filter.Read(datagram.data(), datagram.size(), out.data());
  CHECK_EQ(int{out.back()}, 0xee);
  out.resize(read.bytes);
  if (result) *result = read;
  return out;
}

Bytes PassedOf(DtlsSender sender, const Bytes& datagram) {
  HandshakeFilter filter(sender);
  return Passed(filter, datagram);
}

const Bytes kHello = Message(1, 40, 0, 40);  // of a client

void OnlyTheHandshakePassesUnprotected() {
  for (int type = 0; type < 256; type++) {
    const Bytes record = Record(static_cast<uint8_t>(type), 0, {1, 0});
    CHECK(PassedOf(DtlsSender::kClient, record).empty());
    CHECK(PassedOf(DtlsSender::kClient, Record(static_cast<uint8_t>(type), 0, {})).empty());
    const Bytes sealed = Record(static_cast<uint8_t>(type), 1, {1, 0}, 7);
    CHECK(PassedOf(DtlsSender::kClient, sealed) == (type >= 20 && type <= 23 ? sealed : Bytes()));
  }
  CHECK(PassedOf(DtlsSender::kClient, Record(22, 0, kHello)) == Record(22, 0, kHello));
  CHECK(PassedOf(DtlsSender::kClient, Record(20, 0, {1})) == Record(20, 0, {1}));
  CHECK(PassedOf(DtlsSender::kClient, Record(20, 0, {2})).empty());
  CHECK(PassedOf(DtlsSender::kClient, Record(20, 0, {1, 1})).empty());
  const Bytes mixed =
      Joined({Record(21, 0, {2, 40}), Record(22, 0, kHello), Record(23, 0, {1}), Record(23, 1, {1})});
  CHECK(PassedOf(DtlsSender::kClient, mixed) == Joined({Record(22, 0, kHello), Record(23, 1, {1})}));
}

void EachEndSendsItsOwnMessages() {
  const std::vector<int> of_client = {1, 11, 15, 16}, of_server = {2, 3, 4, 11, 12, 13, 14, 22};
  for (int type = 0; type < 256; type++) {
    const Bytes record = Record(22, 0, Message(static_cast<uint8_t>(type), 3, 0, 3));
    const auto has = [type](const std::vector<int>& types) {
      return std::find(types.begin(), types.end(), type) != types.end();
    };
    CHECK_EQ(PassedOf(DtlsSender::kClient, record).empty(), !has(of_client));
    CHECK_EQ(PassedOf(DtlsSender::kServer, record).empty(), !has(of_server));
  }
}

void AHandshakeRecordHasWholeFragments() {
  const auto passes = [](const Bytes& fragment) {
    return !PassedOf(DtlsSender::kClient, Record(22, 0, fragment)).empty();
  };
  CHECK(passes(Message(1, 100, 40, 60)));
  CHECK(passes(Message(14 - 3, 0, 0, 0)));  // an empty message
  CHECK(passes(Joined({kHello, Message(16, 5, 0, 5)})));
  CHECK(!passes(Message(1, 100, 41, 60)));  // beyond its message
  CHECK(!passes(Message(1, 100, 0, 0)));    // nothing of a message
  CHECK(passes(Message(1, 100 * 1024, 0, 10)));
  CHECK(!passes(Message(1, 100 * 1024 + 1, 0, 10)));
  CHECK(!passes(Joined({kHello, {1}})));  // more than fragments
  CHECK(!passes(Joined({kHello, Message(2, 5, 0, 5)})));
  Bytes cut = kHello;
  cut.pop_back();
  CHECK(!passes(cut));
  CHECK(!passes(Bytes(kHello.begin(), kHello.begin() + 11)));
}

void UnprotectedRecordsAreNumberedAnew() {
  HandshakeFilter filter(DtlsSender::kClient);
  const uint64_t high = uint64_t{1} << 40;
  CHECK(Passed(filter,
               Joined({Record(20, 0, {1}, high), Record(20, 1, {9}, high), Record(22, 0, kHello, high)})) ==
        Joined({Record(20, 0, {1}, 0), Record(20, 1, {9}, high), Record(22, 0, kHello, 1)}));
  CHECK(Passed(filter, Record(21, 0, {2, 40})).empty());
  CHECK(Passed(filter, Record(22, 0, kHello, 5)) == Record(22, 0, kHello, 2));
  for (uint64_t n = 3; n < 300; n++) CHECK(Passed(filter, Record(20, 0, {1}, 5)) == Record(20, 0, {1}, n));
}

void ACutRecordEndsTheDatagram() {
  const Bytes whole = Joined({Record(22, 0, kHello), Record(20, 1, {1}, 4)});
  for (size_t length = 0; length < whole.size(); length++) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const size_t first = Record(22, 0, kHello).size();
    CHECK(PassedOf(DtlsSender::kClient, cut) == (length < first ? Bytes() : Record(22, 0, kHello)));
  }
  // Records of other versions are left out, and those that follow are read.
  for (const uint16_t version : {0x0000, 0x0303, 0xfdfd}) {
    const Bytes other = Joined({Record(22, 0, kHello, 0, version), Record(22, 0, kHello)});
    CHECK(PassedOf(DtlsSender::kClient, other) == Record(22, 0, kHello));
  }
  CHECK(PassedOf(DtlsSender::kClient, Record(22, 0, kHello, 0, 0xfeff)) == Record(22, 0, kHello, 0, 0xfeff));
}

void AlertsAndMessagesAreNoted() {
  HandshakeFilter filter(DtlsSender::kClient);
  const auto of = [&filter](const Bytes& datagram) {
    Result result;
    Passed(filter, datagram, &result);
    return std::pair{result.alert, result.has_handshake};
  };
  CHECK(of(Record(21, 0, {2, 40})) == std::pair(40, false));
  CHECK(of(Record(21, 0, {1, 40})) == std::pair(-1, false));  // a warning
  CHECK(of(Record(21, 1, {2, 40})) == std::pair(-1, false));  // protected
  CHECK(of(Joined({Record(21, 0, {1, 0}), Record(21, 0, {2, 41}), Record(21, 0, {2, 42})})) ==
        std::pair(41, false));
  CHECK(of(Joined({Record(21, 0, {2}), Record(21, 0, {2, 42})})) ==
        std::pair(-1, false));  // of the first fatal one
  CHECK(of(Joined({Record(22, 0, kHello), Record(21, 0, {2, 47})})) == std::pair(47, true));
  CHECK(of(Record(22, 0, Message(2, 3, 0, 3))) == std::pair(-1, false));  // of the other end
  CHECK(of(Record(22, 1, kHello)) == std::pair(-1, false));               // protected
  CHECK(of(Record(20, 0, {1})) == std::pair(-1, false));
}

void NoiseIsNeverLongerThanItWas() {
  Random random(1);
  HandshakeFilter filter(DtlsSender::kServer);
  for (int round = 0; round < 20'000; round++) {
    Bytes noise(random.Next() % 120);
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<uint8_t>(random.Next()); });
    if (noise.size() > 13) {
      noise[0] = static_cast<uint8_t>(20 + random.Next() % 5);
      noise[1] = 0xfe;
      noise[3] = 0;
      noise[4] = static_cast<uint8_t>(random.Next() % 2);
      noise[11] = 0;
      noise[12] = static_cast<uint8_t>(random.Next() % noise.size());
    }
    CHECK(Passed(filter, noise).size() <= noise.size());
  }
}

}  // namespace

TEST_GROUP(dtls_record) {
  return test::Run({
      {"of unprotected records only the parts of a handshake pass", OnlyTheHandshakePassesUnprotected},
      {"a client and a server send their own handshake messages", EachEndSendsItsOwnMessages},
      {"a handshake record consists of whole fragments", AHandshakeRecordHasWholeFragments},
      {"unprotected records get new sequence numbers", UnprotectedRecordsAreNumberedAnew},
      {"a record that is cut short ends the datagram", ACutRecordEndsTheDatagram},
      {"the first fatal alert is noted, and handshake messages are", AlertsAndMessagesAreNoted},
      {"noise is copied within its bounds", NoiseIsNeverLongerThanItWas},
  });
}
