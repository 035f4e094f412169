package x

import (
	_ "example.net/team/widget-controller/y"
	_ "folder.test/z"
)
