package x

import (
	_ "folder.test/z"
	_ "gadgets.test/gadget/y"
)
