// HTTP/2 against servers that others wrote, over TLS and in clear text. A server that is not installed is skipped by
// name; one that is there and does not start is a failure.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "e2e/pepe_binary.h"
#include "support/certificates.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::HasSubstr;

constexpr std::size_t kLargeBytes = 3'000'000;

// What each of them serves: / with 100 bytes, /large with kLargeBytes.
constexpr const char* kNodeServer = R"(
const fs = require('fs'), http2 = require('http2');
const [port, tls] = [Number(process.argv[2]), process.argv[3] === 'tls'];
const answer = (request, response) => {
  request.resume();
  request.on('end', () => response.end(fs.readFileSync(request.url === '/' ? 'index.html' : 'large')));
};
const maxSessionMemory = 100;  // MB: a client that reads slowly, as under a sanitizer, is turned away beyond
const secrets = tls ? {key: fs.readFileSync('key.pem'), cert: fs.readFileSync('cert.pem')} : {};
const server = tls ? http2.createSecureServer({maxSessionMemory, ...secrets}, answer)
                   : http2.createServer({maxSessionMemory}, answer);
server.listen(port, '127.0.0.1');
)";

constexpr const char* kGoServer = R"(
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	answer := func(out http.ResponseWriter, in *http.Request) {
		io.Copy(io.Discard, in.Body)
		name := "large"
		if in.URL.Path == "/" {
			name = "index.html"
		}
		bytes, _ := os.ReadFile(name)
		out.Write(bytes)
	}
	server := http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: http.HandlerFunc(answer), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	if os.Args[2] == "tls" {
		server.ListenAndServeTLS("cert.pem", "key.pem")
	} else {
		server.ListenAndServe()
	}
}
)";

constexpr const char* kNginxServer = R"(
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  keepalive_requests 100;
  types { text/html html; }
  default_type text/plain;
  client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
  server {
    listen 127.0.0.1:PORT LISTEN http2;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
    root .;
  }
}
)";

std::optional<std::string> find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string left = std::string{path == nullptr ? "" : path} + ":/usr/sbin:";
  for (std::size_t end = 0; (end = left.find(':')) != left.npos; left.erase(0, end + 1)) {
    const std::string candidate = left.substr(0, end) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

struct ServerRow {
  const char* name;
  const char* program;
  bool tls;
  const char* install;
};

constexpr std::string_view kGo = "go";

constexpr ServerRow kServers[] = {
    {"NghttpdTls", "nghttpd", true, "apt-get install nghttp2-server"},
    {"NghttpdClear", "nghttpd", false, "apt-get install nghttp2-server"},
    {"NginxTls", "nginx", true, "apt-get install nginx-light"},
    {"NginxClear", "nginx", false, "apt-get install nginx-light"},
    {"NodeTls", "node", true, "apt-get install nodejs"},
    {"NodeClear", "node", false, "apt-get install nodejs"},
    {"GoTls", "go", true, "Go 1.24 or newer"},
    {"GoClear", "go", false, "Go 1.24 or newer"},
};

std::ostream& operator<<(std::ostream& out, const ServerRow& row) { return out << row.name; }

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

bool accepts(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return connected;
}

class Http2Servers : public testing::TestWithParam<ServerRow> {
 protected:
  void SetUp() override {
    const ServerRow& row = GetParam();
    const auto program = find_program(row.program);
    if (!program) GTEST_SKIP() << "no " << row.program << ": " << row.install;
    directory_ = dir_.path(".");
    dir_.write("index.html", std::string(100, 'i'));
    dir_.write("large", std::string(kLargeBytes, 'l'));
    const Identity identity = make_identity({.common_name = "localhost"});
    dir_.write("key.pem", key_pem(identity));
    dir_.write("cert.pem", certificate_pem(identity));
    if (row.program == kGo) build_go_server(*program);
    if (IsSkipped() || HasFatalFailure()) return;
    // Another program may take the port between its choice and its use.
    for (int attempt = 0; attempt < 3; ++attempt) {
      port_ = free_port();
      start(*program);
      for (int i = 0; i < 400; ++i) {
        if (accepts(port_)) return;
        std::this_thread::sleep_for(std::chrono::milliseconds{25});
      }
    }
    FAIL() << row.program << " does not start";
  }

  void start(const std::string& program) {
    const ServerRow& row = GetParam();
    const std::string port = std::to_string(port_);
    const std::string kind = row.tls ? "tls" : "clear";
    const std::string name = row.program;
    if (name == "nghttpd" && row.tls) return run(program, {"-a", "127.0.0.1", "-d", ".", port, "key.pem", "cert.pem"});
    if (name == "nghttpd") return run(program, {"-a", "127.0.0.1", "-d", ".", "--no-tls", port});
    if (name == "node") return run(program, {dir_.write("server.js", kNodeServer), port, kind});
    if (name == "nginx") return start_nginx(program, port);
    run(directory_ + "/server", {port, kind});
  }

  void build_go_server(const std::string& program) const {
    Launch build;
    build.args = {"build", "-o", "server", dir_.write("server.go", kGoServer)};
    build.directory = directory_;
    const Ended built = Process{program, build}.wait();
    if (built.err.find("undefined: http.Protocols") != std::string::npos) GTEST_SKIP() << GetParam().install;
    ASSERT_EQ(built.status, 0) << built.err;
  }

  void start_nginx(const std::string& program, const std::string& port) {
    std::string text = kNginxServer;
    text.replace(text.find("PORT"), 4, port);
    text.replace(text.find("LISTEN"), 6, GetParam().tls ? "ssl" : "");
    if (!GetParam().tls) {
      const std::size_t at = text.find("    ssl_certificate ");
      text.erase(at, text.find("    root") - at);
    }
    run(program, {"-p", directory_, "-c", dir_.write("nginx.conf", text)});
  }

  void run(const std::string& program, std::vector<std::string> args) {
    Launch launch;
    launch.args = std::move(args);
    launch.directory = directory_;
    server_ = std::make_unique<Process>(program, launch);
  }

  /// A report of an attack on `path`, as a line of JSON for each protocol.
  std::string attack(const std::string& path, std::vector<std::string> flags) {
    const std::string url =
        (GetParam().tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) + path;
    const std::string results = directory_ + "/results";
    std::vector<std::string> args{"attack", "-output=" + results, GetParam().tls ? "-insecure" : "-h2c"};
    args.insert(args.end(), flags.begin(), flags.end());
    args.push_back(url);
    const Ended ended = run_pepe_binary(std::move(args));
    EXPECT_EQ(ended.status, 0) << ended.err;
    return run_pepe_binary({"report", "-type=json", "-group-by=protocol", results}).out;
  }

  TempDir dir_;
  std::string directory_;
  std::uint16_t port_{0};
  std::unique_ptr<Process> server_;
};

TEST_P(Http2Servers, AnswerEveryHit) {
  const std::string report = attack("/", {"-rate=2000", "-duration=250ms", "-max-connections=3"});
  EXPECT_EQ(line_count(report), 1U);
  EXPECT_THAT(report, HasSubstr(R"("group":"HTTP/2")"));
  EXPECT_THAT(report, HasSubstr(R"("bytes_in":{"total":50000,)"));
  EXPECT_THAT(report, HasSubstr(R"("requests":500,)"));
  EXPECT_THAT(report, HasSubstr(R"("status_codes":{"200":500},"errors":[])"));
}

TEST_P(Http2Servers, SendBodiesThatAreLargerThanAWindow) {
  const std::string report = attack("/large", {"-rate=40", "-duration=500ms", "-max-connections=1"});
  EXPECT_THAT(report, HasSubstr(R"("bytes_in":{"total":60000000,)"));
  EXPECT_THAT(report, HasSubstr(R"("status_codes":{"200":20},"errors":[])"));
}

INSTANTIATE_TEST_SUITE_P(All, Http2Servers, testing::ValuesIn(kServers),
                         [](const testing::TestParamInfo<ServerRow>& row) { return std::string{row.param.name}; });

}  // namespace
}  // namespace pepe
