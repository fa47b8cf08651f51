/* A calculator of five primitives on float32: an implementation, whole, in C99. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON: a value has a text, or members, each with its key. No memory is given back. */
typedef struct Json { char kind, *key, *text; struct Json *first, *next; } Json;

static char *at;

static void skip(const char *signs) { at += strspn(at, signs); }

static Json *value(void);

static char *string(void)
{
    char *found = ++at, *end = found;
    for (; *at != '"'; at++)
        *end++ = *at == '\\' ? *++at : *at;  /* names have no \n and no \u */
    at++;
    *end = 0;
    return found;
}

static Json *members(Json *in, char close)
{
    Json **last = &in->first;
    at++;
    for (skip(" "); *at != close; skip(", ")) {
        char *key = close == '}' ? string() : 0;
        skip(": ");
        *last = value();
        (*last)->key = key;
        last = &(*last)->next;
    }
    at++;
    return in;
}

static Json *value(void)
{
    Json *found = calloc(1, sizeof *found);
    size_t size;
    switch (found->kind = *at) {
    case '{': return members(found, '}');
    case '[': return members(found, ']');
    case '"': found->text = string(); return found;
    }
    size = strcspn(at, " ,]}");  /* a number, true, false, null */
    found->text = calloc(size + 1, 1);
    memcpy(found->text, at, size);
    at += size;
    return found;
}

static Json *get(Json *in, const char *key)
{
    Json *one = in ? in->first : 0;
    while (one && strcmp(one->key, key))
        one = one->next;
    return one;
}

static int count(Json *in)
{
    int found = 0;
    for (Json *one = in->first; one; one = one->next)
        found++;
    return found;
}

/* Arrays. One that is a type alone has no elements. */
typedef struct { char *dtype; int rank, weak; long shape[8], size; float *x; } Array;

enum { MOST = 1000 };
static Array known[MOST];
static int is_known[MOST];
static char refusal[200];  /* why there is no answer: the end of the line */

static int refuse(const char *kind, const char *why)
{
    if (!strcmp(kind, "rule"))
        snprintf(refusal, sizeof refusal, "\"rejected\":{\"rule\":\"%s\"}", why);
    else
        snprintf(refusal, sizeof refusal, "\"%s\":\"%s\"", kind, why);
    return 0;
}

static Array typed(Json *type)
{
    Array found = {get(type, "dtype")->text, 0, 0, {0}, 1, 0};
    found.weak = get(type, "weak")->text[0] == 't';
    for (Json *n = get(type, "shape")->first; n && found.rank < 8; n = n->next)
        found.size *= found.shape[found.rank++] = atol(n->text);
    return found;
}

static float *elements(Json *list, long size)
{
    float *x = calloc(size + 1, sizeof *x);
    for (long k = 0; list && k < size; k++, list = list->next)
        x[k] = strtod(list->text, 0);
    return x;
}

static int is_float(Array a) { return !strcmp(a.dtype, "float32"); }

static int same_shape(Array a, Array b)
{
    return a.rank == b.rank && !memcmp(a.shape, b.shape, sizeof a.shape);
}

static int read(Json *atom, Array *found)
{
    Json *literal = get(atom, "literal");
    if (literal) {
        *found = typed(get(atom, "type"));
        if (found->rank)
            return refuse("rule", "program.literal");
        if (is_float(*found))
            found->x = elements(literal, 1);
        return 1;
    }
    int var = atoi(get(atom, "var")->text);
    if (var >= MOST || !is_known[var])
        return refuse("rule", "program.bound");
    *found = known[var];
    return 1;
}

static float apply(char *name, float a, float b)
{
    switch (name[1]) {
    case 'e': return -a;
    case 'b': return fabsf(a);
    case 'd': return a + b;
    case 'u': return name[0] == 's' ? a - b : a * b;
    }
    return NAN;
}

static int equation(Json *eqn)
{
    char *name = get(eqn, "primitive")->text, rule[80];
    int one = !strcmp(name, "neg") || !strcmp(name, "abs");
    int two = !strcmp(name, "add") || !strcmp(name, "sub") || !strcmp(name, "mul");
    Json *inputs = get(eqn, "inputs"), *outputs = get(eqn, "outputs");
    Array a, b;
    if (!one && !two)
        return refuse("unsupported", "primitives besides neg, abs, add, sub and mul");
    if (count(inputs) != one + 2 * two)
        return refuse("rule", "program.arity");
    if (count(get(eqn, "params")))
        return refuse("rule", "program.params");
    Json *x = inputs->first, *y = two ? x->next : x;
    if (!read(x, &a) || !read(y, &b))
        return 0;
    if (strcmp(a.dtype, b.dtype))
        return refuse("rule", "pointwise2.dtype");
    if (!strcmp(a.dtype, "bool")) {
        snprintf(rule, sizeof rule, "%s.numeric", name);
        return refuse("rule", rule);
    }
    if (!is_float(a))
        return refuse("unsupported", "dtypes besides float32");
    if (a.rank && b.rank && !same_shape(a, b)) {
        for (int k = 0; a.rank == b.rank && k < a.rank; k++)
            if (a.shape[k] == 1 || b.shape[k] == 1)
                return refuse("unsupported", "extents that stretch");
        return refuse("rule", "pointwise2.broadcast");
    }
    if (count(outputs) != 1)
        return refuse("rule", "program.results");
    int var = atoi(get(outputs->first, "var")->text);
    if (var >= MOST || is_known[var])
        return refuse("rule", "program.defined-once");
    Array out = a.rank ? a : b;
    out.weak = a.weak && b.weak;
    out.x = calloc(out.size + 1, sizeof *out.x);
    for (long k = 0; a.x && b.x && k < out.size; k++)
        out.x[k] = apply(name, a.x[a.rank ? k : 0], b.x[b.rank ? k : 0]);
    known[var] = out;
    is_known[var] = 1;
    return 1;
}

static int run(Json *program, Json *arguments)
{
    memset(is_known, 0, sizeof is_known);
    if (count(get(program, "constants")))
        return refuse("unsupported", "constants");
    Json *array = arguments ? arguments->first : 0;
    if (arguments && count(arguments) != count(get(program, "inputs")))
        return refuse("rule", "eval.arguments");
    for (Json *one = get(program, "inputs")->first; one; one = one->next) {
        int var = atoi(get(one, "var")->text);
        if (var >= MOST || is_known[var])
            return refuse("rule", "program.inputs");
        known[var] = typed(get(one, "type"));
        if (array && !same_shape(known[var], typed(get(array, "type"))))
            return refuse("rule", "eval.arguments");
        if (array && is_float(known[var]))
            known[var].x = elements(get(array, "elements")->first, known[var].size);
        is_known[var] = 1;
        array = array ? array->next : 0;
    }
    for (Json *eqn = get(program, "equations")->first; eqn; eqn = eqn->next)
        if (!equation(eqn))
            return 0;
    return 1;
}

static void print_type(Array a)
{
    printf("{\"dtype\":\"%s\",\"shape\":[", a.dtype);
    for (int k = 0; k < a.rank; k++)
        printf("%s%ld", k ? "," : "", a.shape[k]);
    printf("],\"weak\":%s}", a.weak ? "true" : "false");
}

static void answer(Json *asked)
{
    char *request = get(asked, "request")->text;
    Json *program = get(asked, "program"), *arguments = get(asked, "arguments");
    Array found[100];
    int size = 0;
    printf("{\"id\":%s,", get(asked, "id")->text);
    if (!strcmp(request, "hello")) {
        printf("\"gives\":{\"protocol\":\"1.0\",\"name\":\"vectors\",\"version\":\"1\","
               "\"profiles\":[\"core\"],\"requests\":[\"infer\",\"evaluate\"]}}\n");
        return;
    }
    if (!strcmp(request, "shutdown")) {
        printf("\"gives\":{}}\n");
        return;
    }
    int good = run(program, arguments);
    Json *one = get(program, "results")->first;
    for (; good && one && size < 100; one = one->next) {
        good = read(one, &found[size]);
        if (good && arguments && !found[size++].x)
            good = refuse("unsupported", "dtypes besides float32");
        else
            size += !arguments;
    }
    if (!good) {
        printf("%s}\n", refusal);
        return;
    }
    printf("\"gives\":{\"%s\":[", arguments ? "results" : "types");
    for (int k = 0; k < size; k++) {
        printf("%s", k ? "," : "");
        if (arguments)
            printf("{\"type\":");
        print_type(found[k]);
        for (long n = 0; arguments && n < found[k].size; n++)
            printf("%s\"%a\"", n ? "," : ",\"elements\":[", found[k].x[n]);
        if (arguments)
            printf("%s", found[k].size ? "]}" : ",\"elements\":[]}");
    }
    printf("]}}\n");
}

int main(void)
{
    static char line[1 << 22];
    while (fgets(line, sizeof line, stdin)) {
        at = line;
        Json *asked = value();
        answer(asked);
        fflush(stdout);
        if (!strcmp(get(asked, "request")->text, "shutdown"))
            return 0;
    }
    return 0;
}
