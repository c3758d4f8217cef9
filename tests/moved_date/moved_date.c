/* The system's date, MOVED_DAYS days away, for one program and those that it starts (LD_PRELOAD).

   Only the wall clock moves, and the times of files with it. What measures durations stays, and so do sleeps and
   waits: libfaketime 0.9.10 makes Python's sleep fail or last for days when it leaves the monotonic clock alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

static long seconds;

__attribute__((constructor)) static void read_days(void) {
    const char *days = getenv("MOVED_DAYS");
    seconds = days == NULL ? 0 : atol(days) * 86400;
}

#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name); real; })

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = REAL(clock_gettime)(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += seconds;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int failed = REAL(gettimeofday)(now, zone);
    if (!failed) now->tv_sec += seconds;
    return failed;
}

time_t time(time_t *place) {
    time_t now = REAL(time)(NULL) + seconds;
    if (place != NULL) *place = now;
    return now;
}

/* Each is there twice: programs that take files of any size call those of the second name. */
#define MOVED_STAT(stat, lstat, fstat, fstatat, facts_of)                                                     \
    static int with_times_of_##facts_of(int failed, struct facts_of *facts) {                                 \
        if (!failed) {                                                                                        \
            facts->st_atim.tv_sec += seconds;                                                                 \
            facts->st_mtim.tv_sec += seconds;                                                                 \
            facts->st_ctim.tv_sec += seconds;                                                                 \
        }                                                                                                     \
        return failed;                                                                                        \
    }                                                                                                         \
    int stat(const char *restrict path, struct facts_of *restrict facts) {                                    \
        return with_times_of_##facts_of(REAL(stat)(path, facts), facts);                                      \
    }                                                                                                         \
    int lstat(const char *restrict path, struct facts_of *restrict facts) {                                   \
        return with_times_of_##facts_of(REAL(lstat)(path, facts), facts);                                     \
    }                                                                                                         \
    int fstat(int file, struct facts_of *facts) {                                                             \
        return with_times_of_##facts_of(REAL(fstat)(file, facts), facts);                                     \
    }                                                                                                         \
    int fstatat(int folder, const char *restrict path, struct facts_of *restrict facts, int flags) {          \
        return with_times_of_##facts_of(REAL(fstatat)(folder, path, facts, flags), facts);                    \
    }

MOVED_STAT(stat, lstat, fstat, fstatat, stat)
MOVED_STAT(stat64, lstat64, fstat64, fstatat64, stat64)

int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict facts) {
    int failed = REAL(statx)(folder, path, flags, mask, facts);
    if (!failed) {
        facts->stx_atime.tv_sec += seconds;
        facts->stx_mtime.tv_sec += seconds;
        facts->stx_ctime.tv_sec += seconds;
        facts->stx_btime.tv_sec += seconds;
    }
    return failed;
}

static const struct timespec *moved_back(const struct timespec given[2], struct timespec back[2]) {
    if (given == NULL) return NULL;
    for (int which = 0; which < 2; which++) {
        back[which] = given[which];
        if (given[which].tv_nsec != UTIME_NOW && given[which].tv_nsec != UTIME_OMIT) back[which].tv_sec -= seconds;
    }
    return back;
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
    struct timespec back[2];
    return REAL(utimensat)(folder, path, moved_back(times, back), flags);
}

int futimens(int file, const struct timespec times[2]) {
    struct timespec back[2];
    return REAL(futimens)(file, moved_back(times, back));
}
