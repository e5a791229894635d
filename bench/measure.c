/* measure CPU SECONDS FILE PROGRAM [ARGUMENT...]
 *
 * Runs PROGRAM on core CPU (-1: any) for at most SECONDS and writes what it used to FILE as JSON. The kernel starts a
 * process's peak memory at the peak of the one that forked it, so whoever has a large peak (a Python script) can't fork
 * what it measures: this program stands between, with a peak below a megabyte or two. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;
static volatile sig_atomic_t timed_out;

static void end_child(int sig) {
  timed_out |= sig == SIGALRM;
  if (child > 0) kill((pid_t)child, sig == SIGALRM ? SIGKILL : SIGTERM);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static int pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: measure CPU SECONDS FILE PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  const int cpu = atoi(argv[1]);
  if (cpu >= 0 && pin(cpu) != 0) {
    fprintf(stderr, "measure: core %d: %s\n", cpu, strerror(errno));
    return 2;
  }
  FILE* out = fopen(argv[3], "w");
  if (out == NULL) {
    fprintf(stderr, "measure: open %s: %s\n", argv[3], strerror(errno));
    return 2;
  }
  const double start = now();
  const pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[4], argv + 4);
    fprintf(stderr, "measure: %s: %s\n", argv[4], strerror(errno));
    _exit(127);
  }
  child = pid;
  signal(SIGALRM, end_child);
  signal(SIGTERM, end_child);
  signal(SIGINT, end_child);
  alarm((unsigned)atoi(argv[2]));
  int status = 0;
  struct rusage used;
  while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
  }
  fprintf(out,
          "{\"status\":%d,\"timed_out\":%s,\"wall_s\":%.6f,\"user_s\":%.6f,\"system_s\":%.6f,\"peak_rss_kb\":%ld,"
          "\"voluntary_switches\":%ld,\"involuntary_switches\":%ld}\n",
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), timed_out ? "true" : "false", now() - start,
          seconds(used.ru_utime), seconds(used.ru_stime), used.ru_maxrss, used.ru_nvcsw, used.ru_nivcsw);
  return fclose(out) == 0 ? 0 : 2;
}
