package variants

// Hurry returns the edits that make an operator follow the use of a cache within seconds, because a run does not take
// hours: the least time between two steps is a hundredth of the time in the spec, and evictions count half a second
// after a step.
func Hurry() []Edit {
	const decisions = "operator/internal/autoscale/autoscale.go"
	return []Edit{
		{
			File: "operator/internal/plan/autoscaling.go", Old: "time.Duration(wanted.CooldownSeconds) * time.Second",
			New: "time.Duration(wanted.CooldownSeconds) * time.Second / 100",
		},
		{File: decisions, Old: "window = 5 * time.Minute", New: "window = time.Second / 2"},
		{File: decisions, Old: "resizeTime = 2 * time.Minute", New: "resizeTime = 6 * time.Second"},
	}
}
