package memcached

// The arguments that a cache with slots cannot have.

import "fmt"

// slotless are the options that a cache with slots cannot have.
var slotless = []struct {
	name   string // of an option, or of an extended option
	reason string
	copies bool // it only prevents the copy of keys
}{
	{"disable-flush-all", "a Pod whose keys may be outdated could not be emptied", false},
	{"disable-dumping", "the keys could not be copied", true},
	{"no_lru_crawler", "the keys could not be copied", true},
	{"disable-watch", "what changes while keys are copied would be unknown", true},
	{"idle_timeout", "memcached would end the connections of a handoff", true},
}

// CheckSlots returns an error for the first argument that a cache with slots cannot have; with handoff, an argument
// that prevents a copy of the keys is an error, too. Call CheckArguments before it.
func CheckSlots(arguments []string, handoff bool) error {
	for _, s := range parse(arguments) {
		names := []string{s.name}
		if s.name == "extended" {
			names = extendedNames(s.value)
		}
		for _, name := range names {
			if err := checkSlotless(s.argument, name, handoff); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSlotless(argument, name string, handoff bool) error {
	for _, refused := range slotless {
		if refused.name != name || refused.copies && !handoff {
			continue
		}
		instead := "remove spec.slots"
		if refused.copies {
			instead = "set spec.slots.handoff.mode to Never"
		}
		return fmt.Errorf("%q sets %s, and %s: remove it, or %s", argument, name, refused.reason, instead)
	}
	return nil
}
