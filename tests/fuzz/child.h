// A program that is run in a process of its own, so that a crash or a hang of it is a verdict.
#ifndef FUZZ_CHILD_H
#define FUZZ_CHILD_H
#include "../harness.h"

enum { FINE = 0, WRONG = 3 };

// WRONG, FINE, or 256 + signal.
static int wait_for(pid_t child, double limit) {
    int status = 0;
    double end = test_clock() + limit;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec nap = {0, 1000000};
        nanosleep(&nap, NULL);
        if (test_clock() < end) continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return 256 + SIGALRM;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

#endif
