# Makes tests/unit/safetensors_python.h: the bytes that the Python package safetensors writes for the tensors of
# tests/unit/safetensors.c, one of each dtype.
import ctypes
import safetensors
from safetensors import TensorSpec, serialize

# name, dtype, sizes, bytes of an element: byte i of all is i, of bool i % 2
ROWS = [
    ("b.weight", "float32", [2, 3], 4),
    ("a.weight", "float32", [2], 4),
    ("scalar", "float64", [], 8),
    ("whole", "int64", [1, 2], 8),
    ("half", "float16", [3], 2),
    ("brain", "bfloat16", [1], 2),
    ("i32", "int32", [1], 4),
    ("i16", "int16", [2], 2),
    ("i8", "int8", [3], 1),
    ("u8", "uint8", [5], 1),
    ("flag", "bool", [4], 1),
    ("nothing", "float32", [0, 3], 4),
    ("gr\u00fc\u00df \"e\" \\", "uint8", [1], 1),
]


def data(dtype, sizes, size):
    n = size
    for s in sizes:
        n *= s
    return bytes(i % 2 if dtype == "bool" else i for i in range(n))


# The same of f8, and what it is sorted between.
BYTES = [
    ("e4m3", "float8_e4m3fn", [3], 1),
    ("e5m2", "float8_e5m2", [2], 1),
    ("i16", "int16", [1], 2),
    ("i8", "int8", [1], 1),
]


def show(called, rows, metadata):
    kept = {name: ctypes.create_string_buffer(data(dtype, sizes, size) or b"x")
            for name, dtype, sizes, size in rows}
    tensors = {name: TensorSpec(dtype=dtype, shape=sizes, data_ptr=ctypes.addressof(kept[name]),
                                data_len=len(data(dtype, sizes, size)))
               for name, dtype, sizes, size in rows}
    made = bytes(serialize(tensors, metadata))
    print("static const unsigned char %s[%d] = {" % (called, len(made)))
    for i in range(0, len(made), 16):
        print("    %s," % ", ".join("0x%02x" % b for b in made[i:i + 16]))
    print("};")


print("// Made by tests/tools/safetensors_python.py with safetensors %s." % safetensors.__version__)
show("python_file", ROWS, {"format": "pt \u2713"})
show("python_f8", BYTES, None)
