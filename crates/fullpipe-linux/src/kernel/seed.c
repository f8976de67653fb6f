/*
 * Random numbers of a guest that is to do the same twice: with FULLPIPE_SEED, a decimal number, in
 * the environment they follow from it (splitmix64, the upper byte of each word); without it nothing
 * changes.
 */
#include <stdlib.h>

static int fullpipe_seeded(unsigned char *bytes, size_t count)
{
	static int known, seeded;
	static unsigned long long state;
	size_t i;

	if (!known) {
		const char *seed = getenv("FULLPIPE_SEED");

		known = 1;
		seeded = seed != NULL;
		state = seed ? strtoull(seed, NULL, 10) : 0;
	}
	for (i = 0; seeded && i < count; i++) {
		unsigned long long word = state += 0x9e3779b97f4a7c15ULL;

		word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
		word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
		bytes[i] = (word ^ (word >> 31)) >> 56;
	}
	return seeded;
}

