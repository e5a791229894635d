#include "pepe/metrics/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pepe {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const GroupedMetrics& metrics) {
  std::vector<std::string> names;
  for (const ResultGroup& group : metrics.groups()) names.push_back(group.name);
  return names;
}

Result result(std::string_view attack, std::uint16_t code, std::string_view method, std::string_view url,
              Protocol protocol) {
  Result out;
  out.attack = attack;
  out.code = code;
  out.method = method;
  out.url = url;
  out.protocol = protocol;
  return out;
}

struct KeyCase {
  const char* name;
  std::vector<std::string> groups;
};

const KeyCase kKeyCases[] = {
    {"target", {"GET http://a/", "POST http://a/", "http://b/"}},
    {"url", {"http://a/", "http://b/"}},
    {"method", {"GET", "POST", ""}},
    {"attack", {"one", ""}},
    {"code", {"200", "0"}},
    {"protocol", {"HTTP/2", "none", "HTTP/1.1"}},
};

TEST(GroupedMetrics, TellResultsApartByEachKeyInOrderOfAppearance) {
  for (const KeyCase& row : kKeyCases) {
    SCOPED_TRACE(row.name);
    GroupedMetrics metrics{**find_group_key(row.name), {}};
    metrics.add(result("one", 200, "GET", "http://a/", Protocol::kHttp2));
    metrics.add(result("", 0, "POST", "http://a/", Protocol::kNone));
    metrics.add(result("one", 200, "", "http://b/", Protocol::kHttp1));
    metrics.add(result("one", 200, "GET", "http://a/", Protocol::kHttp2));
    EXPECT_EQ(names_of(metrics), row.groups);
    std::uint64_t requests = 0;
    for (const ResultGroup& group : metrics.groups()) requests += group.metrics.summary().requests;
    EXPECT_EQ(requests, 4U);
  }
}

TEST(GroupedMetrics, AreTestedByEveryKeyThatThereIs) {
  std::vector<std::string> tested;
  for (const KeyCase& row : kKeyCases) tested.emplace_back(row.name);
  std::vector<std::string> known;
  for (const GroupKey& key : group_keys()) known.emplace_back(key.name);
  EXPECT_EQ(tested, known);
}

TEST(GroupedMetrics, NameUrlsWithoutTheirCredentials) {
  for (const char* key : {"target", "url"}) {
    GroupedMetrics metrics{**find_group_key(key), {}};
    metrics.add(result("", 200, "", "http://u:secret@h/", Protocol::kNone));
    EXPECT_THAT(names_of(metrics), ElementsAre("http://***@h/")) << key;
  }
}

TEST(GroupedMetrics, KnowNoOtherKeys) {
  EXPECT_EQ(find_group_key("size").error().text(),
            "unknown group: \"size\": want target, url, method, attack, code, protocol");
}

TEST(GroupedMetrics, CountWhatIsBeyondTheirLimitTogether) {
  GroupedMetrics metrics{**find_group_key("target"), {}};
  constexpr std::size_t kMany = GroupedMetrics::kMaxGroups + 50;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kMany; ++i) {
      metrics.add(result("", 200, "GET", "http://h/" + std::to_string(i), Protocol::kNone));
    }
  }
  ASSERT_EQ(metrics.groups().size(), GroupedMetrics::kMaxGroups + 1);
  EXPECT_EQ(metrics.groups().front().metrics.summary().requests, 2U);
  EXPECT_EQ(metrics.groups().back().name, "(others)");
  EXPECT_EQ(metrics.groups().back().metrics.summary().requests, 100U);
}

TEST(GroupedMetrics, CutNamesOfAnyLength) {
  GroupedMetrics metrics{**find_group_key("attack"), {}};
  const std::string name(1'000'000, 'a');
  metrics.add(result(name, 200, "GET", "http://h/", Protocol::kNone));
  EXPECT_THAT(names_of(metrics), ElementsAre(std::string(4096, 'a')));
}

}  // namespace
}  // namespace pepe
