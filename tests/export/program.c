/* Runs the functions of net.h on numbers of a file, and writes what they give. */
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

static float x[1000], y[1000], rows[30 * 70], made[30 * 70];
static float w0[64 * 128], b0[128], w1[128 * 10], b1[10], in[32 * 64], target[32 * 10];
static float loss, dw0[64 * 128], db0[128], dw1[128 * 10], db1[10];

static void take(FILE *file, float *array, size_t count)
{
    if (fread(array, sizeof(float), count, file) != count)
        exit(10);
}

static void give(FILE *file, const float *array, size_t count)
{
    if (fwrite(array, sizeof(float), count, file) != count)
        exit(11);
}

int main(int count, char **names)
{
    FILE *file;
    int code;

    if (count != 3 || net_missing() != 0)
        return 12;
    file = fopen(names[1], "rb");
    take(file, x, 1000);
    take(file, rows, 30 * 70);
    take(file, w0, 64 * 128);
    take(file, b0, 128);
    take(file, w1, 128 * 10);
    take(file, b1, 10);
    take(file, in, 32 * 64);
    take(file, target, 32 * 10);
    fclose(file);
    code = net_selu(x, y);
    if (code == NET_DONE)
        code = net_softmax(rows, made);
    if (code == NET_DONE)
        code = net_mlp_grad(
            w0, b0, w1, b1, in, target, &loss, dw0, db0, dw1, db1);
    file = fopen(names[2], "wb");
    give(file, y, 1000);
    give(file, made, 30 * 70);
    give(file, &loss, 1);
    give(file, dw0, 64 * 128);
    give(file, db0, 128);
    give(file, dw1, 128 * 10);
    give(file, db1, 10);
    fclose(file);
    return code;
}
