package catalog

import (
	"errors"
	"fmt"
	"slices"
)

// Check reports what breaks upgrades. Add keeps these rules; whoever edits the file may break them.
func (c *Catalog) Check() error {
	var errs []error
	for _, d := range c.documents {
		switch d.Schema {
		case packageSchema:
			if c.find(channelSchema, d.DefaultChannel) == nil {
				errs = append(errs, fmt.Errorf("the default channel %q does not exist", d.DefaultChannel))
			}
		case channelSchema:
			for _, e := range d.Entries {
				if c.Bundle(e.Name) == nil {
					errs = append(errs, fmt.Errorf("channel %s has %s, which the catalog does not hold", d.Name, e.Name))
				}
			}
			errs = append(errs, checkUpgrades(d.Name, d.Entries))
		}
	}
	return errors.Join(errs...)
}

// checkUpgrades follows what each version replaces and skips, from the head to the oldest version, as OLM v0 does.
func checkUpgrades(channel string, entries []Entry) error {
	replaced, byName := map[string]bool{}, map[string]Entry{}
	for _, e := range entries {
		byName[e.Name] = e
		for _, name := range append(slices.Clone(e.Skips), e.Replaces) {
			replaced[name] = true
		}
	}
	heads := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return replaced[e.Name] })
	if len(heads) != 1 {
		return fmt.Errorf("channel %s has %d versions that nothing replaces, want 1", channel, len(heads))
	}
	upgrades := map[string]bool{}
	for e, more := heads[0], true; more && len(upgrades) <= len(entries); e, more = byName[e.Replaces] {
		for _, name := range append(slices.Clone(e.Skips), e.Name) {
			upgrades[name] = true
		}
	}
	for _, e := range entries {
		if !upgrades[e.Name] {
			return fmt.Errorf("channel %s: no upgrade leads from %s to %s", channel, e.Name, heads[0].Name)
		}
	}
	return nil
}
