// A strict JSON reader (RFC 8259) for tests: nothing is let pass that a strict one would refuse.
// Every string must be valid UTF-8, and no object may have a key twice.
#ifndef TEST_JSON_H
#define TEST_JSON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

typedef struct json {
    json_kind kind;
    double number; // a bool is 0 or 1
    char *text;    // STRING: decoded, owned
    char *key;     // of a member, owned
    struct json *child, *next;
} json;

typedef struct json_reader {
    const char *at, *begin;
    const char *wrong; // NULL = fine so far
    int depth;
} json_reader;

static json *json_value(json_reader *r);

static void json_free(json *v) {
    while (v) {
        json *next = v->next;
        json_free(v->child);
        free(v->text);
        free(v->key);
        free(v);
        v = next;
    }
}

static void *json_fail(json_reader *r, const char *why) {
    if (!r->wrong) r->wrong = why;
    return NULL;
}

static void json_blank(json_reader *r) {
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t') r->at++;
}

static unsigned json_hex4(json_reader *r) {
    unsigned v = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char *digits = "0123456789abcdef", *d;
        char c = *r->at >= 'A' && *r->at <= 'F' ? (char)(*r->at + 32) : *r->at;
        if (!c || !(d = strchr(digits, c))) return json_fail(r, "bad \\u"), 0u;
        v = v * 16 + (unsigned)(d - digits);
    }
    return v;
}

static size_t json_put_utf8(char *out, unsigned v) {
    if (v < 0x80) return out[0] = (char)v, 1;
    if (v < 0x800) {
        out[0] = (char)(0xc0 | v >> 6), out[1] = (char)(0x80 | (v & 63));
        return 2;
    }
    out[0] = (char)(0xe0 | v >> 12), out[1] = (char)(0x80 | (v >> 6 & 63));
    out[2] = (char)(0x80 | (v & 63));
    return 3;
}

// One escape behind its backslash, into out; bytes written.
static size_t json_escape(json_reader *r, char *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = *r->at ? strchr(from, *r->at) : NULL;
    if (at) return r->at++, *out = to[at - from], 1;
    if (*r->at != 'u') return json_fail(r, "unknown escape"), 0u;
    r->at++;
    unsigned v = json_hex4(r);
    if (!v || (v >= 0xd800 && v <= 0xdfff)) json_fail(r, "NUL or surrogate");
    return json_put_utf8(out, v);
}

static size_t json_utf8(json_reader *r, char *out) {
    const unsigned char *s = (const unsigned char *)r->at;
    size_t n = s[0] < 0x80             ? 1
               : (s[0] & 0xe0) == 0xc0 ? 2
               : (s[0] & 0xf0) == 0xe0 ? 3
               : (s[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    if (!n || s[0] == 0xc0 || s[0] == 0xc1 || s[0] > 0xf4)
        return json_fail(r, "no UTF-8"), 0u;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return json_fail(r, "no UTF-8"), 0u;
    memcpy(out, s, n);
    r->at += n;
    return n;
}

static char *json_string(json_reader *r) {
    size_t n = 0;
    if (*r->at != '"') return (char *)json_fail(r, "a string was expected");
    r->at++;
    char *out = (char *)malloc(strlen(r->at) + 1);
    while (!r->wrong && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            json_fail(r, "control character in a string");
        else if (*r->at == '\\')
            r->at++, n += json_escape(r, out + n);
        else
            n += json_utf8(r, out + n);
    }
    out[n] = 0;
    if (!r->wrong) r->at++;
    return out;
}

static int json_digits(json_reader *r) {
    const char *from = r->at;
    while (*r->at >= '0' && *r->at <= '9') r->at++;
    return r->at > from || (json_fail(r, "a digit was expected"), 0);
}

static double json_number(json_reader *r) {
    const char *from = r->at;
    if (*r->at == '-') r->at++;
    if (*r->at == '0' && r->at[1] >= '0' && r->at[1] <= '9') json_fail(r, "leading zero");
    json_digits(r);
    if (*r->at == '.') r->at++, json_digits(r);
    if (*r->at == 'e' || *r->at == 'E') {
        r->at++;
        if (*r->at == '+' || *r->at == '-') r->at++;
        json_digits(r);
    }
    return strtod(from, NULL);
}

static json *json_member(json_reader *r, const json *list) {
    json_blank(r);
    char *key = json_string(r);
    json_blank(r);
    if (!r->wrong && *r->at++ != ':') json_fail(r, "a colon was expected");
    json *v = r->wrong ? NULL : json_value(r);
    for (; v && list; list = list->next)
        if (!strcmp(list->key, key)) json_fail(r, "a key stands twice");
    if (v)
        v->key = key;
    else
        free(key);
    return v;
}

static void json_list(json_reader *r, json *v, char close) {
    json **end = &v->child;
    r->at++;
    json_blank(r);
    if (*r->at == close) {
        r->at++;
        return;
    }
    while (!r->wrong) {
        *end = v->kind == JSON_OBJECT ? json_member(r, v->child) : json_value(r);
        if (!*end) return;
        end = &(*end)->next;
        json_blank(r);
        if (*r->at == close) {
            r->at++;
            return;
        }
        if (*r->at++ != ',') json_fail(r, "a comma was expected");
    }
}

static int json_word(json_reader *r, const char *word) {
    size_t n = strlen(word);
    if (strncmp(r->at, word, n)) return 0;
    r->at += n;
    return 1;
}

static json *json_value(json_reader *r) {
    json *v = (json *)calloc(1, sizeof *v);
    json_blank(r);
    if (++r->depth > 50) json_fail(r, "too deep");
    if (*r->at == '{')
        v->kind = JSON_OBJECT, json_list(r, v, '}');
    else if (*r->at == '[')
        v->kind = JSON_ARRAY, json_list(r, v, ']');
    else if (*r->at == '"')
        v->kind = JSON_STRING, v->text = json_string(r);
    else if (json_word(r, "true"))
        v->kind = JSON_BOOL, v->number = 1;
    else if (json_word(r, "false"))
        v->kind = JSON_BOOL;
    else if (!json_word(r, "null"))
        v->kind = JSON_NUMBER, v->number = json_number(r);
    r->depth--;
    if (!r->wrong) return v;
    json_free(v);
    return NULL;
}

// The value of a whole text; NULL: *wrong says why and where.
static json *json_read(const char *text, char wrong[120]) {
    json_reader r = {text, text, NULL, 0};
    json *v = json_value(&r);
    json_blank(&r);
    if (v && *r.at) json_fail(&r, "something follows the value");
    if (!r.wrong) return v;
    snprintf(wrong, 120, "%s at byte %ld: %.30s", r.wrong, (long)(r.at - text), r.at);
    json_free(v);
    return NULL;
}

static const json *json_get(const json *v, const char *key) {
    for (v = v ? v->child : NULL; v && (!v->key || strcmp(v->key, key));) v = v->next;
    return v;
}

static const char *json_text(const json *v, const char *key) {
    v = json_get(v, key);
    return v && v->kind == JSON_STRING ? v->text : "";
}

static double json_num(const json *v, const char *key) {
    v = json_get(v, key);
    return v && (v->kind == JSON_NUMBER || v->kind == JSON_BOOL) ? v->number : -1;
}

#endif
