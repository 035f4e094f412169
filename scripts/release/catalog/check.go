package catalog

import (
	"errors"
	"fmt"
	"slices"
)

// Check reports what breaks upgrades. Add keeps these rules; whoever edits the file may break them.
func (c *Catalog) Check() error {
	var errs []error
	for _, ch := range c.Channels {
		for _, e := range ch.Entries {
			if c.Bundle(e.Name) == nil {
				errs = append(errs, fmt.Errorf("channel %s has %s, which the catalog does not hold", ch.Name, e.Name))
			}
		}
		errs = append(errs, ch.checkUpgrades())
	}
	if !slices.ContainsFunc(c.Channels, func(ch *Channel) bool { return ch.Name == c.Package.DefaultChannel }) {
		errs = append(errs, fmt.Errorf("the default channel %q does not exist", c.Package.DefaultChannel))
	}
	return errors.Join(errs...)
}

// checkUpgrades follows what each version replaces and skips, from the head to the oldest version, as OLM v0 does.
func (ch *Channel) checkUpgrades() error {
	replaced, entries := map[string]bool{}, map[string]Entry{}
	for _, e := range ch.Entries {
		entries[e.Name] = e
		for _, name := range append(slices.Clone(e.Skips), e.Replaces) {
			replaced[name] = true
		}
	}
	heads := slices.DeleteFunc(slices.Clone(ch.Entries), func(e Entry) bool { return replaced[e.Name] })
	if len(heads) != 1 {
		return fmt.Errorf("channel %s has %d versions that nothing replaces, want 1", ch.Name, len(heads))
	}
	upgrades := map[string]bool{}
	for e, more := heads[0], true; more && len(upgrades) <= len(entries); e, more = entries[e.Replaces] {
		for _, name := range append(slices.Clone(e.Skips), e.Name) {
			upgrades[name] = true
		}
	}
	for _, e := range ch.Entries {
		if !upgrades[e.Name] {
			return fmt.Errorf("channel %s: no upgrade leads from %s to %s", ch.Name, e.Name, heads[0].Name)
		}
	}
	return nil
}
