/* CFLAGS: -O2 -shared -fPIC -fno-builtin */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A heap that only grows, to be preloaded: what is allocated later has the higher address. perf
 * decides ties between functions of two binaries by the addresses of its own structures; on a heap
 * that is used again these depend on every string before, such as the length of $HOME.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP_SIZE ((size_t)1 << 36) /* of address space; only what is touched takes memory */
#define HEAD	  16 /* in front of what is allocated: its size, and room to stay aligned */

static uintptr_t next; /* the first byte that is free; 0 before the first allocation */

static size_t *size_of(void *memory)
{
	return (size_t *)((char *)memory - HEAD);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	uintptr_t at;

	if (!next) {
		void *heap = mmap(NULL, HEAP_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (heap == MAP_FAILED)
			return NULL;
		next = (uintptr_t)heap; /* the loader allocates first, before there are threads */
	}
	if (size > HEAP_SIZE || alignment > HEAP_SIZE)
		return NULL;
	if (alignment < HEAD)
		alignment = HEAD;
	at = __atomic_fetch_add(&next, (HEAD + size + alignment + HEAD - 1) & -(uintptr_t)HEAD,
				__ATOMIC_RELAXED);
	at = (at + HEAD + alignment - 1) & -(uintptr_t)alignment;
	*size_of((void *)at) = size;
	return (void *)at;
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	*memory = aligned_alloc(alignment, size);
	return *memory ? 0 : ENOMEM;
}

void *malloc(size_t size)
{
	return aligned_alloc(HEAD, size);
}

/* What is fresh from mmap() is zero. */
void *calloc(size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
}

void *realloc(void *memory, size_t size)
{
	void *larger;

	if (memory && *size_of(memory) >= size)
		return memory;
	larger = malloc(size);
	if (larger && memory)
		memcpy(larger, memory, *size_of(memory));
	return larger;
}

void free(void *memory)
{
	(void)memory;
}

/* Programs that are started from here have a heap as ever. */
__attribute__((constructor)) static void preload_no_further(void)
{
	unsetenv("LD_PRELOAD");
}
