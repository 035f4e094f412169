package x

import (
	_ "example.net/team/widget-controller/y"
	_ "folder.test/z"
)

var m = map[string]int{
	"widget-controller": 1, // one
	"x":                 2, // two
}
