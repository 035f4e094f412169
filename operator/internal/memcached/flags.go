package memcached

// The arguments that users may add.

import (
	"fmt"
	"strings"
)

// option is an option of memcached's command line.
type option struct {
	letter     byte
	name       string
	takesValue bool

	// managed is why users cannot set the option, and what to do instead; empty means that they can.
	managed string
}

const (
	managedPort     = "the operator sets where memcached listens"
	managedSecurity = "the operator manages encryption and authentication"
	managedProcess  = "the kubelet runs memcached, in the foreground"
	printsAndExits  = "memcached would print something and exit"
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
	{'h', "help", false, printsAndExits},
	{'i', "license", false, printsAndExits},
	{'V', "version", false, printsAndExits},
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

// endOfOptions stands for "--".
var endOfOptions = option{letter: '-'}

// setting is an option that an argument sets.
type setting struct {
	option

	argument, value string
}

// KeepsMemory returns the first argument that keeps memcached from getting another amount of memory while it runs, or
// from releasing memory; empty if there is no such argument.
func KeepsMemory(arguments []string) string {
	for _, s := range parse(arguments) {
		switch s.name {
		case "enable-largepages", "disable-dumping":
			return s.argument
		case "extended":
			for _, name := range extendedNames(s.value) {
				if name == "no_slab_reassign" || name == "no_lru_crawler" {
					return name
				}
			}
		}
	}
	return ""
}

// CheckArguments returns an error for the first argument that the operator manages itself.
func CheckArguments(arguments []string) error {
	for _, s := range parse(arguments) {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

func (s setting) check() error {
	switch {
	case s.option == endOfOptions:
		return fmt.Errorf("%q ends memcached's options: remove it", s.argument)
	case s.managed != "":
		return fmt.Errorf("%q sets memcached's --%s: %s", s.argument, s.name, s.managed)
	case s.name == "protocol" && s.value != "ascii":
		return fmt.Errorf("%q sets memcached's --protocol to %q: "+
			"the agent and clients that log in use the text protocol; remove it", s.argument, s.value)
	case s.name == "extended":
		return checkExtended(s.argument, s.value)
	}
	return nil
}

// parse reads arguments as getopt_long does: letters may be combined, values joined, and names abbreviated.
func parse(arguments []string) []setting {
	var settings []setting
	for i := 0; i < len(arguments); i++ {
		argument, next := arguments[i], at(arguments, i+1)
		var found []setting
		var takesNext bool
		switch {
		case argument == "--":
			return append(settings, setting{endOfOptions, argument, ""})
		case strings.HasPrefix(argument, "--"):
			found, takesNext = parseName(argument, next)
		case strings.HasPrefix(argument, "-"):
			found, takesNext = parseLetters(argument, next)
		}
		settings = append(settings, found...)
		if takesNext {
			i++
		}
	}
	return settings
}

func parseName(argument, next string) (found []setting, takesNext bool) {
	name, value, joined := strings.Cut(argument[2:], "=")
	known, ok := byName(name)
	if !ok {
		return nil, false
	}
	if known.takesValue && !joined {
		takesNext, value = true, next
	}
	return []setting{{known, argument, value}}, takesNext
}

// parseLetters reads combined letters. The first one with a value takes the rest, or the next argument if there is no
// rest.
func parseLetters(argument, next string) (found []setting, takesNext bool) {
	for j := 1; j < len(argument); j++ {
		known, ok := byLetter(argument[j])
		switch {
		case !ok:
			return found, false
		case !known.takesValue:
			found = append(found, setting{known, argument, ""})
		case j+1 < len(argument):
			return append(found, setting{known, argument, argument[j+1:]}), false
		default:
			return append(found, setting{known, argument, next}), true
		}
	}
	return found, false
}

// byName finds an option by its name or a prefix of it. If the prefix is ambiguous, it returns a managed option.
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
