#include "cli/attack_flags.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "cli/flag_values.h"
#include "cli/load_flags.h"
#include "cli/start_values.h"
#include "pepe/base/text.h"
#include "pepe/base/units.h"

namespace pepe {
namespace {

Expected<void> set_rate(std::string_view text, AttackFlags& flags) {
  const auto rate = parse_rate(text);
  if (!rate) return rate.error();
  if (rate->hits < 0 || rate->per.count() < 0) return Error{"a negative rate would send nothing"};
  flags.options.rate = *rate;
  flags.rate_text = text;
  return {};
}

Expected<void> set_dns_ttl(std::string_view text, Nanos& ttl) {
  if (text == "-1") {
    ttl = Nanos{-1};
    return {};
  }
  const auto parsed = parse_duration(text);
  if (!parsed) return parsed.error();
  ttl = *parsed;
  return {};
}

Expected<void> set_progress(std::string_view text, ProgressMode& mode) {
  if (text == "auto") {
    mode = ProgressMode::kAuto;
  } else if (text == "on") {
    mode = ProgressMode::kOn;
  } else if (text == "off") {
    mode = ProgressMode::kOff;
  } else {
    return Error{"want auto, on or off"};
  }
  return {};
}

Expected<void> append_header(std::string_view text, std::vector<HeaderField>& headers) {
  auto field = parse_header(text);
  if (!field) return std::move(field).error();
  headers.push_back(*std::move(field));
  return {};
}

void add_rate_flags(FlagSet& set, AttackFlags& flags) {
  set.begin_group("Rate");
  set.add({"rate", "N[/D]",
           "hits to send in every D, as in 500, 240/m, 3/250ms; 0 or infinity: as fast as -max-workers can", "50/1s"},
          [&flags](std::string_view text) { return set_rate(text, flags); });
  set.add_duration({"duration", "D", "length of the attack, as in 30s or 1h30m; 0: until a signal", "0s"},
                   flags.options.duration);
  add_load_flags(set, flags);
  set.add_uint({"workers", "N", "accepted and unused: connections are made when they are needed", "10"},
               flags.options.workers);
  set.add({"max-workers", "N", "hits in flight at once, at most", "no limit"},
          [&flags](std::string_view text) -> Expected<void> {
            const auto count = parse_uint(text);
            if (!count) return count.error();
            if (*count == 0) return Error{"want at least 1"};
            flags.options.max_workers = *count;
            return {};
          });
  set.add({"threads", "N", "threads that send, or auto: more when one is too busy", "auto"},
          assign(flags.options.threads, parse_threads));
}

void add_start_flags(FlagSet& set, AttackFlags& flags) {
  AttackOptions& options = flags.options;
  set.begin_group("Start and sharing");
  set.add_duration({"warmup", "D", "for so long before the start, send hits that have no results", "0s"},
                   options.warmup);
  set.add({"start-at", "TIME", "start then: RFC 3339, or seconds since 1970", "at once"},
          assign(options.start_at, parse_start_at));
  set.add({"shard", "I/N",
           "send part I, from 0 on, of the schedule that N processes share; auto[/N]: as a launcher says", "0/1"},
          assign(options.shard, [](std::string_view text) {
            return parse_shard(text, [](const char* name) -> const char* { return std::getenv(name); });
          }));
}

void add_target_flags(FlagSet& set, AttackFlags& flags) {
  set.begin_group("Targets");
  set.add({"targets", "FILE", "list of targets", "stdin"}, [&flags](std::string_view text) -> Expected<void> {
    flags.targets = text;
    flags.targets_given = true;
    return {};
  });
  set.add_string({"format", "FORMAT", "of the list: http or json", flags.format}, flags.format);
  set.add_bool("lazy", flags.options.lazy, "read one target for each hit, and end with the list");
  set.add_string({"body", "FILE", "body of the targets that have none of their own"}, flags.body);
  set.add({"header", "'K: V'", "header of every request; repeatable", "", true},
          [&flags](std::string_view text) { return append_header(text, flags.headers); });
  set.add_bool("chunked", flags.options.chunked, "send bodies in chunks");
  set.add_string({"name", "TEXT", "name of the attack: in every result, and in the header X-Vegeta-Attack"},
                 flags.options.name);
}

void add_response_flags(FlagSet& set, AttackFlags& flags) {
  AttackOptions& options = flags.options;
  set.begin_group("Answers");
  set.add_duration({"timeout", "D", "for a whole hit, up to the last byte of its answer; 0: none", "30s"},
                   options.timeout);
  set.add_int({"redirects", "N", "redirects to follow; -1: a redirect is an answer", "10"}, options.redirects);
  set.add({"max-body", "SIZE", "how much of a body is kept, as in 0, 512b, 10kb, 1mb; -1: all", "-1"},
          assign(options.max_body, parse_size));
}

void add_connection_flags(FlagSet& set, AttackFlags& flags) {
  AttackOptions& options = flags.options;
  set.begin_group("Connections");
  set.add_int({"connections", "N", "idle connections kept for a host", "10000"}, options.connections);
  set.add_int({"max-connections", "N", "connections to a host at once, at most; 0: no limit", "0"},
              options.max_connections);
  set.add_bool("keepalive", options.keepalive, "use connections again; -keepalive=false: one for each hit");
  set.add({"connect-to", "H:P:H:P", "connect to the second host and port where a URL names the first; repeatable"},
          [&options](std::string_view text) { return add_connect_to(text, options.connect_to); });
  set.add({"laddr", "ADDR", "local address of the connections", "0.0.0.0"},
          assign(options.local_address, resolve_local_address));
  set.add_string({"unix-socket", "FILE", "connect to this socket, whatever the URL says"}, options.unix_socket);
  set.add_string({"resolvers", "LIST", "name servers IP[:PORT], with commas between, instead of the system's"},
                 flags.resolvers);
  set.add({"dns-ttl", "D", "how long looked up names are kept; 0: for the run, -1: not at all", "0s"},
          [&options](std::string_view text) { return set_dns_ttl(text, options.dns_ttl); });
  set.add({"proxy-header", "'K: V'", "header of CONNECT requests to a proxy; repeatable", "", true},
          [&options](std::string_view text) { return append_header(text, options.proxy_headers); });
}

void add_tls_flags(FlagSet& set, AttackFlags& flags) {
  TlsOptions& tls = flags.options.tls;
  set.begin_group("TLS and HTTP/2");
  set.add_bool("insecure", tls.insecure, "take any server certificate");
  set.add({"root-certs", "LIST", "PEM files of the authorities to trust, with commas between", "the system's"},
          [&tls](std::string_view text) -> Expected<void> {
            tls.root_cert_files = split_list(text);
            return {};
          });
  set.add_string({"cert", "FILE", "client certificate, PEM"}, tls.cert_file);
  set.add_string({"key", "FILE", "its private key, PEM", "in the file of -cert"}, tls.key_file);
  set.add_bool("session-tickets", tls.session_tickets, "resume TLS sessions");
  set.add_bool("http2", flags.options.http2, "offer HTTP/2 to https servers; -http2=false: never");
  set.add_bool("h2c", flags.options.h2c, "speak HTTP/2 without TLS, without asking first");
}

void add_output_flags(FlagSet& set, AttackFlags& flags) {
  set.begin_group("Results");
  set.add_string({"output", "FILE", "where the results go", flags.output}, flags.output);
  set.add({"encoding", "ENCODING", "of the results: msgpack, gob, json or csv", flags.encoding},
          [&flags](std::string_view text) -> Expected<void> {
            flags.encoding = text;
            flags.encoding_given = true;
            return {};
          });
  set.add({"progress", "MODE", "a live line on standard error: on, off, or auto, when that is a terminal", "auto"},
          [&flags](std::string_view text) { return set_progress(text, flags.progress); });
  set.add_string({"prometheus-addr", "ADDR", "serve metrics at HOST:PORT during the attack"},
                 flags.options.prometheus_address);
}

bool is_url(std::string_view word) {
  // A line break would start a line of its own in the list that the URLs become.
  if (word.find_first_of("\r\n") != std::string_view::npos) return false;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (word.size() > scheme.size() && equals_ignoring_case(word.substr(0, scheme.size()), scheme)) return true;
  }
  return false;
}

}  // namespace

void add_attack_flags(FlagSet& set, AttackFlags& flags) {
  add_rate_flags(set, flags);
  add_start_flags(set, flags);
  add_target_flags(set, flags);
  add_response_flags(set, flags);
  add_connection_flags(set, flags);
  add_tls_flags(set, flags);
  add_output_flags(set, flags);
}

Expected<AttackWords> sort_attack_words(std::span<const std::string> words, bool targets_given) {
  AttackWords sorted;
  for (const std::string& word : words) {
    if (!targets_given && is_url(word)) {
      sorted.urls.push_back(word);
    } else if (!sorted.urls.empty() && word.size() > 1 && word.front() == '-') {
      // Without the value, which may be a secret.
      return Error{"flags stand before the first URL: " + word.substr(0, word.find('='))};
    } else {
      sorted.ignored.push_back(word);
    }
  }
  return sorted;
}

Expected<void> check_rate(const AttackFlags& flags) {
  const bool capped = flags.options.max_workers != std::numeric_limits<std::uint64_t>::max();
  if (!flags.options.rate.unpaced() || capped) return {};
  const bool zero = flags.options.rate.hits == 0 && flags.rate_text != "infinity";
  return Error{fmt::format("-rate={} requires setting -max-workers", zero ? "0" : flags.rate_text)};
}

std::vector<std::string> flags_as_given(std::span<const GivenFlag> given) {
  std::vector<std::string> texts;
  for (const GivenFlag& flag : given) {
    texts.push_back("-" + flag.name + (flag.value.empty() ? "" : "=" + flag.value));
  }
  return texts;
}

}  // namespace pepe
