// Finds the call of a datagram on a shared port: of a STUN check by its USERNAME, of everything else by the
// address that it came from, once a check with valid integrity came from there (RFC 7983, RFC 8445).
//
// An address belongs to one call. Another call gets it only where the owner has passed no check from there
// for kOwnedNs, which is three intervals of consent (RFC 7675). Otherwise anybody with a call of his own
// could take over another call's address with one forged source address.
#ifndef PARLEY_MEDIA_RECEIVE_CALL_TABLE_H_
#define PARLEY_MEDIA_RECEIVE_CALL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "media/receive/address.h"

namespace parley {

class MediaSocket;

// Any thread. It calls nothing while it holds its mutex.
class CallTable {
 public:
  static constexpr int64_t kOwnedNs = 15'000'000'000;

  CallTable();

  // False: the fragment belongs to another call. The same call may add it again.
  bool AddFragment(const std::string& fragment, const std::shared_ptr<MediaSocket>& call);
  void RemoveFragment(const std::string& fragment, const MediaSocket* call);
  std::shared_ptr<MediaSocket> ByFragment(std::string_view fragment);

  // False: the address belongs to another call.
  bool MayClaim(const Address& from, const MediaSocket* call, int64_t now_ns);
  void Claim(const Address& from, const std::shared_ptr<MediaSocket>& call, int64_t now_ns);
  void Release(const Address& from, const MediaSocket* call);
  std::shared_ptr<MediaSocket> ByAddress(const Address& from);

  struct Counts {
    size_t fragments, addresses;
  };
  Counts Count();

 private:
  // Seeded, so that far ends cannot choose addresses whose hashes collide.
  struct Hash {
    uint64_t seed;
    size_t operator()(const Address& address) const;
  };
  struct Entry {
    std::weak_ptr<MediaSocket> call;
    const MediaSocket* key;  // the same, comparable after its end
  };
  struct Owner : Entry {
    int64_t checked_ns;
  };

  std::mutex mutex_;  // guards what follows
  std::map<std::string, Entry, std::less<>> fragments_;
  std::unordered_map<Address, Owner, Hash> addresses_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_CALL_TABLE_H_
