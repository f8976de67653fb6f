/*
 * The register set in the length that the host asks for.
 *
 * This kernel keeps 2,696 bytes of an XSAVE area. A host whose CPU has AMX has an area of 11,008 bytes, and
 * takes it back whole or not at all (PTRACE_SETREGSET, EFAULT). So what is kept goes into a larger area, whose
 * rest is zero. A host cuts what is longer than its own area.
 */
#include <string.h>

/* Bytes 512 to 519 of an area say which parts of it hold something. */
#define FULLPIPE_PARTS 512
/* Parts 0 to 16, and 19 (APX, in the place of MPX), lie in the bytes that are kept; 17 and 18 are AMX. */
#define FULLPIPE_KEPT_PARTS 0x9ffffULL

static unsigned char fullpipe_area[1 << 16] __attribute__((aligned(64)));

static void fullpipe_pad(struct iovec *registers)
{
	unsigned long long parts;

	if (registers->iov_len > sizeof(fullpipe_area))
		return;
	memcpy(fullpipe_area, registers->iov_base, registers->iov_len);
	memcpy(&parts, fullpipe_area + FULLPIPE_PARTS, sizeof(parts));
	parts &= FULLPIPE_KEPT_PARTS;
	memcpy(fullpipe_area + FULLPIPE_PARTS, &parts, sizeof(parts));
	registers->iov_base = fullpipe_area;
	registers->iov_len = sizeof(fullpipe_area);
}

