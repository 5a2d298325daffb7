// An IP address with its port, as the kernel tells it; comparable.
#ifndef PARLEY_MEDIA_RECEIVE_ADDRESS_H_
#define PARLEY_MEDIA_RECEIVE_ADDRESS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace parley {

class Address {
 public:
  Address() = default;
  // Nothing when the text is no IP address. IPv4 stays IPv4: an IPv6 socket's
  // mapped addresses become IPv4 too, so that the two compare equal.
  static Address Of(const std::string& text, uint16_t port) {
    Address address;
    if (inet_pton(AF_INET, text.c_str(), address.bytes_) == 1) {
      address.family_ = AF_INET;
    } else if (inet_pton(AF_INET6, text.c_str(), address.bytes_) == 1) {
      address.family_ = AF_INET6;
    }
    address.port_ = port;
    address.Unmap();
    return address;
  }
  static Address Of(const sockaddr_storage& from) {
    Address address;
    if (from.ss_family == AF_INET) {
      const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
      std::memcpy(address.bytes_, &v4.sin_addr, 4);
      address.port_ = ntohs(v4.sin_port);
      address.family_ = AF_INET;
    } else if (from.ss_family == AF_INET6) {
      const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
      std::memcpy(address.bytes_, &v6.sin6_addr, 16);
      address.port_ = ntohs(v6.sin6_port);
      address.family_ = AF_INET6;
      address.scope_ = v6.sin6_scope_id;
      address.Unmap();
    }
    return address;
  }

  // Converts the address to the form of a socket of `family`; false when it has no such address.
  bool Fill(int family, sockaddr_storage* out, socklen_t* bytes) const {
    std::memset(out, 0, sizeof(*out));
    if (family == AF_INET) {
      if (family_ != AF_INET) return false;
      auto& v4 = reinterpret_cast<sockaddr_in&>(*out);
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port_);
      std::memcpy(&v4.sin_addr, bytes_, 4);
      *bytes = sizeof(sockaddr_in);
      return true;
    }
    auto& v6 = reinterpret_cast<sockaddr_in6&>(*out);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port_);
    v6.sin6_scope_id = scope_;
    if (family_ == AF_INET) {
      v6.sin6_addr.s6_addr[10] = v6.sin6_addr.s6_addr[11] = 0xff;
      std::memcpy(&v6.sin6_addr.s6_addr[12], bytes_, 4);
    } else {
      std::memcpy(&v6.sin6_addr, bytes_, 16);
    }
    *bytes = sizeof(sockaddr_in6);
    return family_ != 0;
  }

  bool known() const { return family_ != 0; }
  uint16_t port() const { return port_; }
  Address WithPort(uint16_t port) const {
    Address other = *this;
    other.port_ = port;
    return other;
  }
  std::string text() const {
    char text[INET6_ADDRSTRLEN] = "";
    if (known()) inet_ntop(family_, bytes_, text, sizeof(text));
    return text;
  }
  // 4 or 16 bytes in network order into `out`; returns how many, 0 where the address is unknown.
  size_t CopyTo(uint8_t* out) const {
    const size_t bytes = family_ == AF_INET ? 4 : family_ == AF_INET6 ? 16 : 0;
    std::memcpy(out, bytes_, bytes);
    return bytes;
  }
  bool SameHost(const Address& other) const {
    return family_ == other.family_ && std::memcmp(bytes_, other.bytes_, sizeof(bytes_)) == 0;
  }
  // The first `bits` bits of both are the same, and both are of one family.
  bool SharesPrefix(const Address& other, int bits) const {
    if (family_ != other.family_ || !known()) return false;
    const auto whole = static_cast<size_t>(bits / 8);
    if (std::memcmp(bytes_, other.bytes_, whole) != 0) return false;
    const int rest = bits % 8;
    return rest == 0 || (bytes_[whole] ^ other.bytes_[whole]) >> (8 - rest) == 0;
  }
  int bits() const { return family_ == AF_INET ? 32 : 128; }
  bool operator==(const Address& other) const { return SameHost(other) && port_ == other.port_; }
  bool operator!=(const Address& other) const { return !(*this == other); }

 private:
  void Unmap() {
    static constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (family_ != AF_INET6 || std::memcmp(bytes_, kMapped, sizeof(kMapped)) != 0) return;
    std::memmove(bytes_, bytes_ + 12, 4);
    std::memset(bytes_ + 4, 0, 12);
    family_ = AF_INET;
    scope_ = 0;
  }

  int family_ = 0;  // 0: none
  uint32_t scope_ = 0;
  uint16_t port_ = 0;
  uint8_t bytes_[16] = {};
};

// A network in CIDR notation (RFC 4632), such as 10.0.0.0/8. A single address is a network of one.
class Network {
 public:
  // Unknown when the text is no network.
  static Network Of(const std::string& text) {
    const size_t slash = text.find('/');
    Network network;
    network.base_ = Address::Of(text.substr(0, slash), 0);
    network.bits_ = network.base_.bits();
    if (slash == std::string::npos) return network;
    const std::string bits = text.substr(slash + 1);
    const bool is_number =
        !bits.empty() && bits.size() <= 3 && bits.find_first_not_of("0123456789") == std::string::npos;
    // The first 96 bits of an IPv4-mapped address are always the same.
    const int mapped = network.bits_ == 32 && text.find(':') != std::string::npos ? 96 : 0;
    const int stated = is_number ? std::stoi(bits) - mapped : -1;
    if (stated < 0 || stated > network.bits_) return Network();
    network.bits_ = stated;
    return network;
  }

  bool known() const { return base_.known(); }
  bool Has(const Address& address) const { return base_.SharesPrefix(address, bits_); }

 private:
  Address base_;
  int bits_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_ADDRESS_H_
