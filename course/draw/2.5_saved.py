"""The picture of task 2.5: two tensors share a storage, and a saved tensor has noted its version."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(680, 270)
picture.box(240, 96, 224, 84, "", GREY)
picture.text(250, 118, "Storage", bold=True)
picture.box(356, 102, 98, 24, "version 2", ORANGE)
picture.cells(250, 136, [[1, 2, 3, 9, 9, 9]], lambda i, j: BLUE if j > 2 else None)
picture.box(20, 96, 150, 84, "Tensor matrix\nsizes (2, 3)\noffset 0")
picture.arrow(170, 138, 238, 138)
picture.box(240, 16, 224, 42, "Tensor row: sizes (3), offset 3", BLUE, size=13)
picture.arrow(352, 58, 352, 94)
picture.box(520, 96, 140, 84, "Saved\nof the row\nnoted: version 1", GREEN)
picture.arrow(520, 138, 466, 138)
picture.text(20, 216, "matrix.write() changed the row's elements too, and the version of the storage from 1 to 2.")
picture.text(20, 240, "get(): 2 is not 1, so the elements are not those that were saved. It throws.")
picture.save("2.5")
