/* Refuses the memory that a function of net.h asks for, then counts it. */
#include <stddef.h>

#include "net.h"

/* The program's own, in the place of the library's. */
void *malloc(size_t size);
void free(void *memory);

static int asked, refuses;
static double pool[1 << 20];
static float a[50 * 50], x[50 * 50], y[50 * 50], sums[4];
static int32_t numbers[4];

void *malloc(size_t size)
{
    asked++;
    return refuses || size > sizeof(pool) ? NULL : pool;
}

void free(void *memory)
{
    if (memory == pool)
        asked--;
}

int main(void)
{
    y[0] = 7;
    /* What is asked for and not given back. */
    asked = 0;
    refuses = 1;
    if (net_power(a, x, y, sums, numbers) != NET_NO_MEMORY || asked != 1)
        return 1;
    if (y[0] != 7 || sums[3] != 0 || numbers[3] != 0)
        return 2;
    asked = refuses = 0;
    if (net_power(a, x, y, sums, numbers) != NET_DONE || asked != 0)
        return 3;
    return numbers[3] == 3 ? 0 : 4;
}
