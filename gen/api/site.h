// include-many: where a call stands. In the implementation it is named again behind graph/product.c.
#undef TC__SITE
#ifndef TC_NO_SITES
#  define TC__SITE __FILE__, __LINE__
#else
#  define TC__SITE NULL, 0
#endif
