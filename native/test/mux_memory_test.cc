// A datagram of no call costs no allocation, whatever it is.
#include <iterator>

#include "media/plane.h"
#include "media/receive/udp_mux.h"
#include "test/check.h"
#include "test/counted_memory.h"
#include "test/stun_samples.h"

namespace parley::test {
namespace {

void DroppedDatagramsAllocateNothing() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  std::string problem;
  const auto mux = UdpMux::Open({{"127.0.0.1"}, 0, 46, 1 << 16}, &problem);
  const auto call = plane->MakeSocket({nullptr, mux}, true);
  call->set_handle(1);
  CHECK(plane->BeginSocket(call));
  CHECK(call->UseIce(kIce, true) == MediaSocket::IceResult::kDone);
  Check unknown, wrong;
  unknown.username = "a fragment that is of no call:them";
  wrong.password = "a password of strangers";
  StunBytes media(172, 0x80), report(60, 0x80), dtls(100, 22);
  report[1] = 200;
  const StunBytes kinds[] = {Write(unknown), Write(wrong), media, report, dtls, StunBytes(90, 0x7f), {}};
  ReceiveBatch batch;
  const Path from = mux->PathTo(Address::Of("127.0.0.1", 9));
  const size_t before = Allocations().own;
  for (int n = 0; n < 1000; n++) {
    for (const StunBytes& kind : kinds) mux->Take(kind.data(), kind.size(), from, batch, 0);
  }
  CHECK_EQ(Allocations().own, before);
  CHECK_EQ(mux->Count().datagrams, uint64_t{1000 * std::size(kinds)});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(mux_memory) {
  return parley::test::Run(
      {{"dropped datagrams allocate nothing", parley::test::DroppedDatagramsAllocateNothing}});
}
