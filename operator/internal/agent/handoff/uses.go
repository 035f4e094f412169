package handoff

// Checks whether keys are where Move says, or clients place them by another hash.

import "fmt"

const (
	// fewUses are too few keys to judge where clients look for them.
	fewUses = 200

	// maxElsewhere limits the keys that clients may look for at another server than Move says, to one of this many
	// keys: some clients may still have an older list.
	maxElsewhere = 5

	// mostMisplaced is the percentage of keys at other servers than Move says from which on clients must have placed
	// them with another hash. With another hash and three servers, two thirds of the keys are at other servers.
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

// checkPlaces returns an error if most keys are at another server than Move says. Some keys always are, if clients had
// a list of another length before.
func (s *session) checkPlaces() error {
	listed, misplaced := s.listed.Load(), s.misplaced.Load()
	if !s.move.external || listed < fewUses || misplaced < listed*mostMisplaced/100 {
		return nil
	}
	return &Failure{Reason: OtherHash, Err: fmt.Errorf(
		"%d of %d keys are at another server than clientHash says, with these servers in this order", misplaced, listed)}
}
