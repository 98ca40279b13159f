"""Arrays of other libraries over the same memory: NumPy's, and whatever speaks DLPack."""

import numpy

import gradus


def main() -> None:
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    shared = gradus.from_numpy(array)
    shared += 1
    print(array.tolist())

    again = gradus.from_dlpack(array)
    assert again.data_ptr() == shared.data_ptr()
    back = numpy.from_dlpack(shared.T)
    back[0, 0] = 10
    print(shared.tolist())
    print((shared @ shared.T).numpy().sum())


if __name__ == "__main__":
    main()
