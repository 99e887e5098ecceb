// The generator: expands gen/tables, embeds text, packs the manifests into the headers.
//
//     gen tables ROOT DEST       DEST/gen/out/*.inc
//     gen pack ROOT DEST         the same, and DEST/tcompile.h, DEST/tcompile_cuda.h
//     gen fresh ROOT DEST        are ROOT's headers those that were just packed in DEST, and its kernels told?
//     gen kernels ROOT           ROOT/tests/golden/KERNELS.md, from the goldens
//     gen lint ROOT DEST         looks, lengths, and every file in exactly one manifest
//     gen layers ROOT            lines per layer
//     gen parts ROOT MANIFEST    the parts of a manifest, in order
//     gen prefix ROOT MANIFEST K the manifest with its first K parts only, or those up to the part K
//     gen inside WHAT            stdin, a preprocessed implementation, as declarations or definitions for tests of the inside
//
// Build: cc -std=c99 -D_GNU_SOURCE -Igen gen/gen.c. Run it through ./build.sh.
// Deterministic: the same input gives the same bytes on every machine.
#include <ctype.h>

#include "gen_text.c"

#include "gen_strip.c"

#include "gen_pack.c"

#include "gen_embed.c"

#include "gen_tables.c"

#include "gen_lint.c"

#include "gen_kernels.c"

#include "gen_inside.c"

// Compiled programs on disk belong to one version of the compiler: TC__BUILD_ID is the hash
// of every file it is made from.
static void build_id(const char *root, const list *files, text *t) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->at[i];
        size_t size = 0;
        if (!is_code(path) || ends(path, ".md") || starts(path, "gen/tools/")) continue;
        const char *s = read_file(join("%s/%s", root, path), &size);
        h = fnv(fnv(h, path, strlen(path) + 1), s ? s : "", size);
    }
    put(t, "// Hash of all sources under gen/; part of every cache key.\n");
    put(t, "#define TC__BUILD_ID 0x%016llxu\n", (unsigned long long)h);
}

static void write_product(const char *dest, const char *name, const text *t) {
    write_file(join("%s/gen/out/%s.inc", dest, name), t);
}

static void make_products(const char *root, const char *dest) {
    list files = {0};
    text id = {0};
    make_folders(join("%s/gen/out", dest));
    calls_read(root);
    EACH(p, product, products) {
        text t = {0};
        p->make(&t);
        write_product(dest, p->name, &t);
    }
    walk(&files, root, "gen");
    for (size_t i = 0; i < files.count; i++) {
        text t = {0};
        if (!is_embedded(files.at[i])) continue;
        embed(root, files.at[i], &t);
        write_product(dest, embedded_name(files.at[i]), &t);
    }
    build_id(root, &files, &id);
    write_product(dest, "build_id", &id);
}

static void pack_all(const char *root, const char *dest) {
    make_products(root, dest);
    for (size_t i = 0; i < COUNT(manifests); i++) {
        packer p;
        int before = errors;
        if (!pack(&p, root, dest, manifests[i], packed[i])) {
            printf("no %s yet: %s not written\n", manifests[i], packed[i]);
            continue;
        }
        if (errors > before) continue;
        write_file(join("%s/%s", dest, packed[i]), &p.out);
    }
}

// Names the part that holds the first difference.
static void compare(const char *root, const char *dest, const char *name) {
    const char *new_text = read_file(join("%s/%s", dest, name), NULL);
    const char *old_text = read_file(join("%s/%s", root, name), NULL);
    const char *line, *old_line, *banner = "its manifest";
    size_t n, m;
    if (!new_text) return;
    const char *s = new_text, *old = old_text ? old_text : "";
    if (old_text && strcmp(s, old) == 0) return;
    while (next_line(&s, &line, &n) && next_line(&old, &old_line, &m)) {
        if (starts(line, "// ---- gen/")) {
            banner = join("%.*s", (int)strcspn(line + 8, " \n"), line + 8);
        }
        if (n != m || memcmp(line, old_line, n) != 0) break;
    }
    fail(name, 1, join("stale (first difference in %s)", banner),
         "the committed header is not what gen/ gives", "./build.sh gen");
}

int main(int count, char **args) {
    const char *command = count > 1 ? args[1] : "";
    const char *root = count > 2 ? args[2] : ".", *third = count > 3 ? args[3] : root;
    if (strcmp(command, "tables") == 0) {
        make_products(root, third);
    } else if (strcmp(command, "pack") == 0) {
        pack_all(root, third);
    } else if (strcmp(command, "fresh") == 0) {
        for (size_t i = 0; i < COUNT(packed); i++) compare(root, third, packed[i]);
        compare_kernels(root);
    } else if (strcmp(command, "kernels") == 0) {
        write_kernels(root);
    } else if (strcmp(command, "lint") == 0) {
        lint(root, third);
    } else if (strcmp(command, "layers") == 0) {
        print_layers(root);
    } else if (strcmp(command, "parts") == 0) {
        print_parts(root, third);
    } else if (strcmp(command, "prefix") == 0 && count > 4) {
        print_prefix(root, third, args[4]);
    } else if (strcmp(command, "inside") == 0) {
        print_inside(root);
    } else {
        fprintf(
            stderr,
            "usage: gen tables|pack|fresh|kernels|lint|layers|parts|prefix|inside ROOT [ARGUMENTS]\n");
        return 2;
    }
    return errors ? 1 : 0;
}
