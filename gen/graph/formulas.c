// Formulas begin: until api/site.h stands again, public ops are called at the site of the frame f.
#undef TC__SITE
#define TC__SITE f->file, f->line
