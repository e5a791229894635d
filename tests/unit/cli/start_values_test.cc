#include "cli/start_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pepe {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

struct ShardCase {
  const char* name;
  const char* text;
  std::map<std::string, const char*> environment;
  Shard shard;
  const char* error;  ///< Empty: none.
};

const ShardCase kShardCases[] = {
    {"First", "0/4", {}, {0, 4}, ""},
    {"Last", "3/4", {}, {3, 4}, ""},
    {"TheWhole", "0/1", {}, {0, 1}, ""},
    {"BeyondTheLast", "4/4", {}, {}, "of 4 shards the last one is 3/4"},
    {"OfNone", "0/0", {}, {}, "want from 1 to"},
    {"OfTooMany", "0/1000001", {}, {}, "want from 1 to"},
    {"NoCount", "0", {}, {}, "want I/N"},
    {"EmptyCount", "0/", {}, {}, "want I/N"},
    {"NoIndex", "/4", {}, {}, "want I/N"},
    {"Negative", "-1/4", {}, {}, "want I/N"},
    {"Signed", "+1/4", {}, {}, "want I/N"},
    {"ThreeParts", "1/4/2", {}, {}, "want I/N"},
    {"Huge", "1/99999999999999999999", {}, {}, "want I/N"},
    {"Empty", "", {}, {}, "want I/N"},
    {"AutoAlone", "auto", {}, {}, "nothing in the environment says"},
    {"AutoWithAnEmptyCount", "auto/", {}, {}, "want I/N"},
    {"OpenMpi", "auto", {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}, {2, 3}, ""},
    {"Mpich", "auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}, {0, 3}, ""},
    {"Srun", "auto", {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}, {1, 2}, ""},
    {"MpirunWithinSlurm",
     "auto",
     {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"PMI_RANK", "4"}, {"PMI_SIZE", "5"}},
     {4, 5},
     ""},
    {"BatchScriptOfSlurm", "auto", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}, {}, "nothing in the environment"},
    {"IndexedJob", "auto/8", {{"JOB_COMPLETION_INDEX", "7"}}, {7, 8}, ""},
    {"IndexedJobOfUnknownSize", "auto", {{"JOB_COMPLETION_INDEX", "7"}}, {}, "JOB_COMPLETION_INDEX does not say how"},
    {"IndexBeyondTheCount", "auto/4", {{"JOB_COMPLETION_INDEX", "7"}}, {}, "JOB_COMPLETION_INDEX=\"7\" of \"4\": of 4"},
    {"NoNumber", "auto", {{"PMI_RANK", "x"}, {"PMI_SIZE", "3"}}, {}, "PMI_RANK=\"x\" of \"3\": want I/N"},
    {"LongText",
     "auto",
     {{"PMI_RANK", "0123456789012345678901234567890123456789and more"}, {"PMI_SIZE", "3"}},
     {},
     "PMI_RANK=\"0123456789012345678901234567890123456789\" of \"3\": want I/N"},
};

TEST(ShardValue, IsAPartOrSaysWhatIsWanted) {
  for (const ShardCase& row : kShardCases) {
    SCOPED_TRACE(row.name);
    const auto shard = parse_shard(row.text, [&row](const char* name) -> const char* {
      const auto found = row.environment.find(name);
      return found == row.environment.end() ? nullptr : found->second;
    });
    ASSERT_EQ(static_cast<bool>(shard), *row.error == '\0') << (shard ? "" : shard.error().text());
    if (shard) {
      EXPECT_EQ(*shard, row.shard);
    } else {
      EXPECT_THAT(shard.error().text(), HasSubstr(row.error));
    }
  }
}

struct StartCase {
  const char* text;
  std::int64_t nanos;  ///< -1: it is refused.
};

const StartCase kStartCases[] = {
    {"1970-01-01T00:00:01Z", 1'000'000'000},
    {"2030-01-02T15:04:05.25+01:00", 1'893'593'045'250'000'000},
    {"1893593045", 1'893'593'045'000'000'000},
    {"1893593045.25", 1'893'593'045'250'000'000},
    {"0.000000001", 1},
    {"9000000000", 9'000'000'000'000'000'000},
    {"9000000001", -1},
    {"99999999999999999999", -1},
    {"1.", -1},
    {".5", -1},
    {"1.0000000001", -1},
    {"1.-5", -1},
    {"-1", -1},
    {"1e9", -1},
    {"", -1},
    {"now", -1},
    {"15:04", -1},
};

TEST(StartAtValue, IsATimeOrSecondsSince1970) {
  for (const StartCase& row : kStartCases) {
    SCOPED_TRACE(row.text);
    const auto time = parse_start_at(row.text);
    ASSERT_EQ(static_cast<bool>(time), row.nanos >= 0);
    if (time) {
      EXPECT_EQ(time->unix_nanos, row.nanos);
    } else {
      EXPECT_THAT(time.error().text(), HasSubstr("2030-01-02T15:04:05Z"));
    }
  }
}

TEST(StartFlags, ThatDoNotGoTogetherAreNamed) {
  AttackFlags flags;
  EXPECT_TRUE(check_start(flags));
  flags.options.warmup = 5s;
  EXPECT_TRUE(check_start(flags));
  flags.options.lazy = true;
  EXPECT_THAT(check_start(flags).error().text(), HasSubstr("-lazy"));
  flags.options.lazy = false;
  flags.options.warmup = -1s;
  EXPECT_EQ(check_start(flags).error().text(), "-warmup=-1s is negative");
}

}  // namespace
}  // namespace pepe
