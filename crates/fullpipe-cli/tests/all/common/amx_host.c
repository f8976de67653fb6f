/*
 * A host whose CPU has a register area of FULLPIPE_AREA bytes, for a kernel that is started with this library in
 * LD_PRELOAD: as Linux does with AMX, it refuses an area that is shorter (EFAULT), and cuts one that is longer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	static size_t area;
	void *address, *data;
	pid_t process;
	va_list rest;

	va_start(rest, request);
	process = va_arg(rest, pid_t);
	address = va_arg(rest, void *);
	data = va_arg(rest, void *);
	va_end(rest);
	if (!real) {
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
		area = strtoul(getenv("FULLPIPE_AREA"), NULL, 10);
	}
	if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE) {
		struct iovec *given = data;

		if (given->iov_len < area) {
			errno = EFAULT;
			return -1;
		}
	}
	return real(request, process, address, data);
}
