package autoscale

// The record of a number of Pods that was too little.

import "time"

// remembered is how long a memory that was too little counts as such. Later, the load may be different.
const remembered = 28 * day

// TooLittle is a memory with which items were evicted too early, although it is enough according to the curve.
// According to the curve, a load may just fit into some number of Pods, although the evictions show that it does not.
// If this were not remembered, the cache would lose a Pod and get it back each day instead of each month.
type TooLittle struct {
	// Memory is the memory that the Pods had, in bytes. Needed is the memory that they needed at that time, according
	// to the curve; 0 if that was unknown.
	Memory, Needed int64

	// Since is when the memory was found to be too little.
	Since time.Time
}

// tooLittle returns the memory that still counts as too little. It counts for four weeks, unless the need falls by a
// fifth.
func (in Input) tooLittle(s signals) TooLittle {
	known, ago := in.State.TooLittle, in.Now.Sub(in.State.TooLittle.Since)
	switch {
	case in.Policy.Pod == 0 || known.Memory <= 0 || known.Memory >= in.State.Memory:
		return TooLittle{}
	case ago >= remembered || ago < -skewed:
		return TooLittle{}
	case s.needed == 0:
		return known
	case known.Needed <= 0:
		known.Needed = s.needed
	case s.needed <= known.Needed/5*4:
		return TooLittle{}
	}
	return known
}

// suffices returns the least memory of whole Pods that is not known to be too little; 0 if any memory may be enough.
func (in Input) suffices() int64 {
	if in.State.TooLittle.Memory == 0 {
		return 0
	}
	return (in.State.TooLittle.Memory/in.Policy.Pod + 1) * in.Policy.Pod
}
