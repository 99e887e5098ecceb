// Files of tensors with names, as PyTorch, JAX and others keep them: the safetensors format
// (github.com/huggingface/safetensors), little-endian and row-major.
// What is opened is checked as a whole before anything is taken from it: the header's length, its JSON (UTF-8, no name
// twice), that tensors lie one behind the other and end with the file, and have the bytes that sizes and dtype say.
// TC_E_FORMAT says what is wrong, where; TC_E_IO: the file cannot be read or written, or is no plain file.

typedef struct tc_safetensors tc_safetensors;

// Opens a file. It belongs to the context, and lives until tc_safetensors_close or tc_close. NULL: error.
TCDEF tc_safetensors *tc_safetensors_open_at(tc_ctx *tc, const char *path, const char *file,
                                             int line);
// Closes it; tensors that were read or borrowed stay. NULL does nothing.
TCDEF void tc_safetensors_close(tc_safetensors *s);

TCDEF int tc_safetensors_count(const tc_safetensors *s); // number of tensors
// The name of tensor i, in the order in which they lie in the file; NULL = there is none. The text is the file's.
TCDEF const char *tc_safetensors_name(const tc_safetensors *s, int i);
// The number of the tensor of this name, -1 = there is none.
TCDEF int tc_safetensors_find(const tc_safetensors *s, const char *name);
// dtype and sizes of tensor i. TC_E_ARG: there is none; TC_E_UNSUPPORTED: a dtype that is not one of ours, or
// more than TC_MAX_RANK dimensions.
TCDEF tc_status tc_safetensors_spec_at(tc_safetensors *s, int i, tc_spec *spec,
                                       const char *file, int line);
// Value of a key of the file's metadata, NULL = there is none; key i, in the file's order, NULL = there is none.
TCDEF const char *tc_safetensors_metadata(const tc_safetensors *s, const char *key);
TCDEF const char *tc_safetensors_metadata_key(const tc_safetensors *s, int i);

// The tensor of this name, read into memory of its own. TC_E_ARG: there is none; TC_E_UNSUPPORTED.
TCDEF tc_tensor tc_safetensors_read_at(tc_safetensors *s, const char *name,
                                       const char *file, int line);
// The same where it lies: the file is memory, read by the system when it is used. What is written in place stays out
// of the file. Nobody may shorten the file meanwhile. A copy where it is not aligned to its elements, is bool, goes
// to a device, or the system cannot do it.
TCDEF tc_tensor tc_safetensors_borrow_at(tc_safetensors *s, const char *name,
                                         const char *file, int line);

// Writes n tensors under their names, and n_metadata pairs of texts: metadata[0] a key, [1] its value, and so on. The
// file takes the place of another one when it is whole, and on the disk; until then that one is as it was. Equal
// tensors give equal bytes, in the order of the Python package: dtypes by their size, the largest first, then names.
// TC_E_ARG: a name or key twice, "__metadata__" as a name, or one that is no UTF-8; TC_E_NULL.
// Reads the tensors (a graph break in a region).
TCDEF tc_status tc_safetensors_save_at(tc_ctx *tc, const char *path,
                                       const char *const *names, const tc_tensor *tensors,
                                       int n, const char *const *metadata, int n_metadata,
                                       const char *file, int line);
