#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>
#include <string.h>
#include <sys/syscall.h>
#include <stdio.h>
static void on(int s){ (void)s; void*a[64]; int n=backtrace(a,64); char b[64]; int l=snprintf(b,64,"--- tid %ld\n",(long)syscall(SYS_gettid)); if(write(2,b,(size_t)l)<0){} backtrace_symbols_fd(a,n,2);}
__attribute__((constructor)) static void init(void){ void*a[2]; backtrace(a,2); struct sigaction s; memset(&s,0,sizeof s); s.sa_handler=on; s.sa_flags=SA_RESTART; sigaction(SIGUSR2,&s,0);}
