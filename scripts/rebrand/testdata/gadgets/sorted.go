package x

import (
	_ "folder.test/z"
	_ "gadgets.test/gadget/y"
)

var m = map[string]int{
	"my-widget-controller": 1, // one
	"x":                    2, // two
}
