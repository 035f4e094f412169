package handoff

import (
	"errors"
	"fmt"
)

// Reasons of a Failure.
const (
	OldUnreachable  = "OldUnreachable"  // no connection to the old memcached, or it stopped answering
	NewUnreachable  = "NewUnreachable"  // no connection to the new memcached, or it stopped answering
	OldTooOld       = "OldTooOld"       // the old memcached cannot report deletions: older than 1.6.20
	NewTooOld       = "NewTooOld"       // the new memcached cannot report deletions: older than 1.6.20
	OldEnded        = "OldEnded"        // the old memcached ended before everything was copied, or without an announcement
	NewEnded        = "NewEnded"        // the new memcached ended
	DumpForbidden   = "DumpForbidden"   // memcached runs with -X, -W or without the LRU crawler
	FlushForbidden  = "FlushForbidden"  // memcached runs with -F, so that outdated items could not be removed
	NoTemporaryFile = "NoTemporaryFile" // the list of the keys could not be written: the folder for it is full, or missing
	CrawlerBusy     = "CrawlerBusy"     // the LRU crawler of the old memcached was busy all the time
	LogLinesLost    = "LogLinesLost"    // memcached dropped lines of its log, so some changes are unknown
	TooManyChanges  = "TooManyChanges"  // more keys change than the copy can follow
	Flushed         = "Flushed"         // a client emptied a memcached while it was copied
	AgentRestarted  = "AgentRestarted"  // the agent restarted during the drain, so it does not know what changed
	SameServer      = "SameServer"      // a memcached is both a source and a target, so the copy would remove its keys
	OtherAgent      = "OtherAgent"      // another agent copies keys to, or from, the new memcached
	OtherHash       = "OtherHash"       // clients look for keys at other servers than the hash says
	Internal        = "Internal"        // memcached gave an answer that it should never give
)

// Failure is why a handoff could not be finished. The copied keys were removed from the new memcached, unless
// NotEmptied is true. If AfterCopied is true, they were also removed from the old one, if it could be reached.
type Failure struct {
	// Reason is one short word in CamelCase, such as OldUnreachable.
	Reason string
	Err    error

	// Server is the name of the memcached that the failure is about, if it has one.
	Server string

	// AfterCopied is whether clients have used the new memcached after all keys were copied.
	AfterCopied bool

	// NotEmptied is whether the new memcached still holds items that may be outdated.
	NotEmptied bool
}

// Endings of reasons that exist for both memcacheds. Such a reason begins with the name of the side.
const (
	unreachable = "Unreachable"
	tooOld      = "TooOld"
	ended       = "Ended"
)

func (f *Failure) Error() string { return f.Reason + ": " + f.Text() }

// Text returns what happened, and at which server, without the reason.
func (f *Failure) Text() string {
	if f.Server == "" {
		return fmt.Sprint(f.Err)
	}
	return fmt.Sprintf("%s: %v", f.Server, f.Err)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// failure returns the error itself if it is a Failure, and otherwise a Failure with this reason and this error.
func failure(reason string, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Reason: reason, Err: err}
}

// failure returns an error of a member as a Failure.
func (m Member) failure(err error) error {
	f := failure(m.Side+unreachable, err)
	if f.Reason == tooOld {
		f.Reason = m.Side + tooOld
	}
	if f.Reason == m.Side+unreachable && m.Name == "" {
		f.Err = fmt.Errorf("the %s memcached: %w", m.Side, f.Err)
	}
	return m.named(f)
}

// named returns an error of a member as an error that names the member.
func (m Member) named(err error) error {
	if f, ok := errors.AsType[*Failure](err); ok {
		if f.Server == "" {
			f.Server = m.Name
		}
		return f
	}
	if err == nil || m.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", m.Name, err)
}
