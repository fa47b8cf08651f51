/* Two artefacts in one program, whose functions are those of both headers. */
#include <stdio.h>

#include "net.h"
#include "other.h"

static float x[1000], y[1000], z[1000];

int main(void)
{
    int k;

    for (k = 0; k < 1000; k++)
        x[k] = (float)(k - 500) / 64;
    if (net_selu(x, y) != NET_DONE || other(x, z) != OTHER_DONE)
        return 1;
    if (net_missing() != 0 || other_missing() != 0)
        return 2;
    for (k = 0; k < 1000; k++)
        if (y[k] != z[k])
            return 3;
    return NET_FORMAT == OTHER_FORMAT ? 0 : 4;
}
