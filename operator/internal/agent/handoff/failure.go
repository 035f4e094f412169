package handoff

import "fmt"

// Reasons of a Failure.
const (
	OldUnreachable = "OldUnreachable" // no connection to the old memcached, or it stopped answering
	NewUnreachable = "NewUnreachable" // the same of the new one
	OldTooOld      = "OldTooOld"      // it cannot report deletions: older than 1.6.20
	NewTooOld      = "NewTooOld"      // the same of the new one
	DumpForbidden  = "DumpForbidden"  // memcached runs with -X, -W or without the LRU crawler
	CrawlerBusy    = "CrawlerBusy"    // the LRU crawler of the old memcached was busy all the time
	LogLinesLost   = "LogLinesLost"   // memcached dropped lines of its log, so some changes are unknown
	TooManyChanges = "TooManyChanges" // more keys change than the copy can follow
	OldEnded       = "OldEnded"       // the old memcached ended before everything was copied, or without an announcement
	Internal       = "Internal"       // memcached answered what it never should
)

// Failure is why a handoff could not be finished. Items that may be older than those of the other memcached were
// removed, unless NotEmptied.
type Failure struct {
	// Reason is one short word in CamelCase, such as OldUnreachable.
	Reason string
	Err    error

	// AfterCopied is whether clients may use the new memcached already.
	AfterCopied bool

	// NotEmptied is whether a memcached still holds items that may be outdated.
	NotEmptied bool
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }
