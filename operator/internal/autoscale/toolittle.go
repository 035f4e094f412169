package autoscale

// What is remembered of a number of Pods that was too little.

import "time"

// remembered is for how long it counts that a memory was too little: the load may be another one by then.
const remembered = 28 * day

// TooLittle is a memory in which items were evicted too early, however little the curve says that they need. A load
// that just fits into some Pods by the curve, and not by what memcached evicts, would else lose a Pod and get it back
// each day, and not each month.
type TooLittle struct {
	// Memory is what the Pods had, in bytes, and Needed what they needed as of then, by the curve; 0 while it is unknown.
	Memory, Needed int64

	// Since is when it was found.
	Since time.Time
}

// tooLittle returns the memory that is still known to be too little: for four weeks, unless a fifth less is needed.
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

// suffices returns the least memory of whole Pods that is not known to be too little; 0 if all may suffice.
func (in Input) suffices() int64 {
	if in.State.TooLittle.Memory == 0 {
		return 0
	}
	return (in.State.TooLittle.Memory/in.Policy.Pod + 1) * in.Policy.Pod
}
