#pragma once

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <string>

namespace pepe {

/// Why the certificate that `store` is at was refused, for a connection to `host`, in Go's words: "x509:
/// certificate is valid for A, not B". Nothing in it changes from one hit to the next, so that equal failures
/// count as one.
std::string certificate_error(X509_STORE_CTX* store, const std::string& host);

/// The alert `code` (RFC 8446, section 6) in Go's words: "remote error: tls: certificate required".
std::string alert_error(int code);

/// An entry of the OpenSSL error queue: an alert, Go's words where they are known, else the reason as OpenSSL
/// gives it.
std::string library_error(unsigned long code);

}  // namespace pepe
