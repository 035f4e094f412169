package memcached

import (
	"fmt"
	"strings"
)

// option is an option of memcached's command line.
type option struct {
	letter     byte
	name       string
	takesValue bool

	// managed is why the option cannot be set, and what to do instead; empty means that it can.
	managed string
}

const (
	managedPort     = "the operator sets where memcached listens"
	managedSecurity = "the operator manages encryption and authentication"
	managedProcess  = "the kubelet runs memcached, in the foreground"
	endsAtOnce      = "memcached would print something and exit"
)

// options are the options of memcached 1.6 (memcached.c, main).
var options = []option{
	{'a', "unix-mask", true, managedPort},
	{'A', "enable-shutdown", false, "any client could stop memcached"},
	{'Z', "enable-ssl", false, managedSecurity},
	{'p', "port", true, managedPort},
	{'s', "unix-socket", true, managedPort},
	{'U', "udp-port", true, managedPort},
	{'m', "memory-limit", true, "set spec.memory instead"},
	{'M', "disable-evictions", false, ""},
	{'c', "conn-limit", true, "set spec.maxConnections instead"},
	{'k', "lock-memory", false, "it needs a capability that the restricted Pod Security Standard forbids"},
	{'h', "help", false, endsAtOnce},
	{'i', "license", false, endsAtOnce},
	{'V', "version", false, endsAtOnce},
	{'r', "enable-coredumps", false, managedProcess},
	{'v', "verbose", false, ""},
	{'d', "daemon", false, managedProcess},
	{'l', "listen", true, managedPort},
	{'u', "user", true, managedProcess},
	{'P', "pidfile", true, managedProcess},
	{'f', "slab-growth-factor", true, ""},
	{'n', "slab-min-size", true, ""},
	{'t', "threads", true, "set spec.threads instead"},
	{'D', "", true, ""},
	{'L', "enable-largepages", false, ""},
	{'R', "max-reqs-per-event", true, ""},
	{'C', "disable-cas", false, ""},
	{'b', "listen-backlog", true, ""},
	{'B', "protocol", true, ""},
	{'I', "max-item-size", true, "set spec.maxItemSize instead"},
	{'S', "enable-sasl", false, managedSecurity},
	{'F', "disable-flush-all", false, ""},
	{'X', "disable-dumping", false, ""},
	{'W', "disable-watch", false, ""},
	{'Y', "auth-file", true, managedSecurity},
	{'e', "memory-file", true, "the container's file system is read-only"},
	{'N', "napi-ids", true, ""},
	{'o', "extended", true, ""},
}

// CheckArguments returns an error for the first argument that the operator manages itself. It parses them as
// getopt_long does: letters may be combined, values joined, and names abbreviated.
func CheckArguments(arguments []string) error {
	for i := 0; i < len(arguments); i++ {
		takesNext, err := checkArgument(arguments[i], at(arguments, i+1))
		if err != nil {
			return err
		}
		if takesNext {
			i++
		}
	}
	return nil
}

// checkArgument also reports whether the argument takes the next one as its value.
func checkArgument(argument, next string) (takesNext bool, err error) {
	switch {
	case argument == "--":
		return false, fmt.Errorf("%q ends memcached's options: remove it", argument)
	case strings.HasPrefix(argument, "--"):
		return checkName(argument, next)
	case strings.HasPrefix(argument, "-"):
		return checkLetters(argument, next)
	}
	return false, nil
}

func checkName(argument, next string) (takesNext bool, err error) {
	name, value, joined := strings.Cut(argument[2:], "=")
	known, ok := byName(name)
	if ok && known.takesValue && !joined {
		takesNext, value = true, next
	}
	return takesNext, check(known, argument, value)
}

// checkLetters checks combined letters. The first one with a value takes the rest, or the next argument if there is
// no rest.
func checkLetters(argument, next string) (takesNext bool, err error) {
	for j := 1; j < len(argument); j++ {
		known, ok := byLetter(argument[j])
		if !ok {
			return false, nil
		}
		value := ""
		if known.takesValue {
			value = argument[j+1:]
			if value == "" {
				takesNext, value = true, next
			}
		}
		if err := check(known, argument, value); err != nil {
			return false, err
		}
		if known.takesValue {
			return takesNext, nil
		}
	}
	return false, nil
}

func check(known option, argument, value string) error {
	if known.managed != "" {
		return fmt.Errorf("%q sets memcached's --%s: %s", argument, known.name, known.managed)
	}
	switch {
	case known.name == "protocol" && value != "ascii":
		return fmt.Errorf("%q sets memcached's --protocol to %q: the agent and clients that log in use the text protocol; "+
			"remove it", argument, value)
	case known.name == "extended":
		return checkExtended(argument, value)
	}
	return nil
}

// byName finds an option by its name or a prefix of it. If the prefix is ambiguous, a managed option wins.
func byName(name string) (option, bool) {
	var found option
	for _, known := range options {
		if known.name == name {
			return known, true
		}
		if name != "" && strings.HasPrefix(known.name, name) && (found.name == "" || known.managed != "") {
			found = known
		}
	}
	return found, found.name != ""
}

func byLetter(letter byte) (option, bool) {
	for _, known := range options {
		if known.letter == letter {
			return known, true
		}
	}
	return option{}, false
}

func at(arguments []string, i int) string {
	if i < len(arguments) {
		return arguments[i]
	}
	return ""
}
