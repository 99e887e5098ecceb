// include-many: from here to base/once_end.c stands code that runs once per program, or never.
// gcc takes 2 s of -O2 for it, and all that gives is 4 % of the time to make a program. Of -Og, the passes
// that are off take a tenth.
#if TC__GNUC && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#    define TC__ONCE_CODE
#    pragma GCC push_options
#    pragma GCC optimize("Og", "no-tree-fre", "no-tree-ter", "no-tree-dce",                \
                         "no-tree-forwprop")
#    pragma GCC optimize("no-forward-propagate", "no-rerun-cse-after-loop", "no-tree-ch")
#    pragma GCC optimize("no-cprop-registers", "no-split-wide-types", "no-shrink-wrap")
#    pragma GCC optimize("no-guess-branch-probability", "no-reorder-blocks")
#endif
