package handoff

// Checks whether clients place the keys on the servers that Move says, or by another hash.

import "fmt"

const (
	// fewUses is a number of keys: with fewer keys, the session does not judge where clients look for them.
	fewUses = 200

	// maxElsewhere is a share: of this many keys, clients may look for up to one at another server than Move says, because
	// some clients may still have an older list.
	maxElsewhere = 5

	// mostMisplaced is a percentage. If at least this part of the keys is at other servers than Move says, clients must
	// have placed them by another hash: with three servers, another hash places two thirds of the keys on other servers.
	mostMisplaced = 60
)

// checkUses returns an error if clients do not look for keys where Move says.
func (s *session) checkUses() error {
	here, elsewhere := s.here.Load(), s.elsewhere.Load()
	if s.move.whole || here+elsewhere < fewUses || elsewhere < (here+elsewhere)/maxElsewhere {
		return nil
	}
	return &Failure{Reason: OtherHash, Err: fmt.Errorf(
		"clients looked for %d of %d keys at another server than clientHash says", elsewhere, here+elsewhere)}
}

// checkPlaces returns an error if most keys are at another server than Move says. Some keys are always at another
// server if clients had a list of another length before.
func (s *session) checkPlaces() error {
	listed, misplaced := s.listed.Load(), s.misplaced.Load()
	if !s.move.external || listed < fewUses || misplaced < listed*mostMisplaced/100 {
		return nil
	}
	return &Failure{Reason: OtherHash, Err: fmt.Errorf(
		"%d of %d keys are at another server than clientHash says: "+
			"check the hash, and that the list has all servers that clients use, in the order in which clients list them",
		misplaced, listed)}
}
