#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "engine/tls_context.h"
#include "support/certificates.h"

namespace pepe {

/// A directory that goes away with everything in it.
class TempFiles {
 public:
  TempFiles() { std::filesystem::create_directories(dir_); }
  ~TempFiles() { std::filesystem::remove_all(dir_); }
  TempFiles(const TempFiles&) = delete;
  TempFiles& operator=(const TempFiles&) = delete;
  std::string path(const std::string& name) const { return dir_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name), std::ios::binary} << text;
    return path(name);
  }

 private:
  const std::string dir_ = (std::filesystem::temp_directory_path() / ("pepe_tls_" + std::to_string(getpid()))).string();
};

/// A server on a thread of its own, which talks over `fd` by blocking calls and closes it.
class TlsPeer {
 public:
  /// `talk` runs after the handshake, also after one that failed.
  TlsPeer(SSL_CTX* ctx, int fd, std::function<void(SSL*)> talk)
      : thread_{[ctx, fd, talk = std::move(talk)] {
          const OpenSslPtr<SSL> ssl{SSL_new(ctx)};
          SSL_set_fd(ssl.get(), fd);
          SSL_accept(ssl.get());
          talk(ssl.get());
          close(fd);
          ERR_clear_error();
        }} {}
  ~TlsPeer() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace pepe
